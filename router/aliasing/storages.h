// Storages of two devices over the same memory.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>

namespace torch_cuda::aliasing {

/// How storages go from the near side, whose tensors a program has, to the far
/// side, whose kernels serve them, and back. One object serves one call of an
/// operator: storages that it has taken across come back as they were.
class Storages {
 public:
  virtual ~Storages() = default;

  /// The far storage over the memory of a near one, which the kernel writes to
  /// if `written`. A storage of another device is given back as it is. The
  /// kernel gets at what a tensor like `reached_by` reaches; null: at all.
  virtual c10::Storage far(
      const c10::Storage& near,
      bool written,
      const c10::TensorImpl* reached_by) = 0;

  /// The near storage over the memory of a far one: the one that it belongs
  /// to, else a new one.
  virtual c10::Storage near(const c10::Storage& far) = 0;

  /// A kernel gave a tensor that it writes to, over the far storage of `near`,
  /// the geometry of `now`.
  virtual void resized(
      const c10::Storage& /*near*/,
      const c10::TensorImpl& /*now*/) {}

  /// Takes over what a kernel did to far storages besides writing to their
  /// memory: other memory, other sizes.
  virtual void take_over() = 0;

  /// The far device of a near one.
  virtual c10::Device far(c10::Device near) const = 0;

  /// The near device of a far one.
  virtual c10::Device near(c10::Device far) const = 0;
};

} // namespace torch_cuda::aliasing

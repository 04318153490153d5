// Tensors of one device as another device's kernels see them, over the same
// memory, and the results of these as the first device's.
#pragma once

#include "router/aliasing/storages.h"

#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/util/SmallVector.h>

namespace torch_cuda::aliasing {

/// The aliases of one call of an operator. An alias is a tensor of the far
/// device over the same memory, which it keeps alive, of the same sizes,
/// strides, type and layout; tensors that share a storage have aliases that
/// share one.
class Aliases {
 public:
  /// The tensors' devices are of type `near`; the kernels' of type `far`.
  Aliases(Storages& storages, c10::DeviceType near, c10::DeviceType far);

  c10::DeviceType near() const {
    return near_.type;
  }

  /// The alias of `tensor`, which the kernel writes to if `written`: then the
  /// two have one version counter. What is not on a near device is given back
  /// as it is. A tensor that was taken across before has the alias that it had:
  /// kernels ask whether two arguments are one.
  at::Tensor far(const at::Tensor& tensor, bool written);

  /// The alias of a storage.
  c10::Storage far(const c10::Storage& storage, bool written) {
    return storages_.far(storage, written, nullptr);
  }

  /// The near device's tensor for a result of the kernel: the one that it is
  /// the alias of, else a tensor over the same memory.
  at::Tensor near(at::Tensor result);

  /// Throws PyTorch's error for a tensor that is read as well as written, and
  /// whose alias the kernel gave other sizes.
  void check_kept_sizes() const;

  /// Takes over what the kernel did to tensors that it writes to besides
  /// writing to their memory: sizes, strides, other or larger storages.
  void take_over();

 private:
  struct Pair {
    at::Tensor near;
    at::Tensor far;
    bool written;
    bool read; // given once more, as what the kernel reads
  };
  struct Side {
    explicit Side(c10::DeviceType type);
    c10::DeviceType type;
    c10::DispatchKeySet dense;
  };

  at::Tensor make_far(const at::Tensor& tensor, bool written);
  at::Tensor make_near(at::Tensor result);
  void note_written(const at::Tensor& tensor);
  void take_over(const Pair& pair);

  Storages& storages_;
  Side near_;
  Side far_;
  c10::SmallVector<Pair, 4> tensors_;
};

} // namespace torch_cuda::aliasing

// Storages of the CPU that stand for a CUDA device's while one of the CPU's
// kernels serves an operator.
#pragma once

#include "router/aliasing/storages.h"

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>

#include <cstddef>

namespace torch_cuda::operators {

/// The pairs of storages of one call. What is in the CPU's is the business of
/// who derives from it.
class HostStorages : public aliasing::Storages {
 public:
  c10::Storage far(
      const c10::Storage& near,
      bool written,
      const c10::TensorImpl* reached_by) final;
  c10::Storage near(const c10::Storage& far) final;
  void take_over() final;
  c10::Device far(c10::Device near) const final;
  c10::Device near(c10::Device far) const final;

 protected:
  /// `device` is the current one, where results belong.
  explicit HostStorages(c10::Device device) : device_(device) {}

  struct Pair {
    c10::intrusive_ptr<c10::StorageImpl> device;
    c10::intrusive_ptr<c10::StorageImpl> host;
    const void* given; // the host's data before the kernel runs
    bool written;
  };

  /// The data of the host's storage that stands for `storage`.
  virtual c10::DataPtr host_data(c10::StorageImpl& storage, bool written) = 0;

  /// The device's storage for one that a kernel of the host allocated.
  virtual c10::Storage device_storage(const c10::Storage& host) = 0;

  /// Called for each tensor of a pair before the kernel runs.
  virtual void reach(
      const Pair& pair,
      bool written,
      const c10::TensorImpl* reached_by) = 0;

  /// Takes over what the kernel wrote where it gave the storage no other data.
  virtual void take_over_written(const Pair& pair) = 0;

  /// The device's data where the kernel gave the storage other data.
  virtual c10::DataPtr take_over_data(const Pair& pair) = 0;

  /// Makes a storage of the host one of the device, with these data.
  static void relabel(c10::StorageImpl& host, c10::DataPtr&& data);

  /// Data that keep `storage` alive, on the CPU.
  static c10::DataPtr share(c10::StorageImpl& storage, void* data);

  c10::Device device() const {
    return device_;
  }

 private:
  void make_writable(Pair& pair);

  c10::Device device_;
  c10::SmallVector<Pair, 4> pairs_;
};

} // namespace torch_cuda::operators

// Tensors of a CUDA device as the CPU's kernels see them, and their results as
// the device's.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/SmallVector.h>

#include <cstdint>

namespace torch_cuda::operators {

/// What is behind an alias.
enum class Behind : uint8_t {
  Memory, // the tensor's memory, which the alias keeps alive
  BorrowedMemory, // the tensor's memory, whose life is somebody else's business
  StandIn, // memory of the host, of which only the geometry is of interest
};

/// The aliases of one call of an operator. An alias is a tensor of the CPU over
/// the same memory, of the same sizes, strides, type and layout; tensors that
/// share a storage have aliases that share one.
class Aliases {
 public:
  /// `device` is where results belong; its memory is visible to the host.
  /// `integers` is what stand-ins of integers and flags hold; those of other
  /// numbers hold ones.
  explicit Aliases(
      c10::Device device,
      Behind behind = Behind::Memory,
      int integers = 0)
      : device_(device), behind_(behind), integers_(integers) {}

  /// The alias of `tensor`, which the kernel writes to if `written`. What is
  /// not on a CUDA device is given back as it is.
  at::Tensor host(const at::Tensor& tensor, bool written);

  /// The alias of a storage.
  c10::Storage host(const c10::Storage& storage, bool written);

  /// The device's tensor for a result of the kernel: the one that it is the
  /// alias of, else a tensor over the same memory, or, of stand-ins, over new
  /// memory of the device with nothing in it.
  at::Tensor device(at::Tensor result);

  /// Visits the devices of the tensors that have an alias here.
  template <class Visit>
  void each_device(const Visit& visit) const {
    for (const auto& pair : tensors_) {
      visit(pair.device.device());
    }
  }

  /// Takes over what the kernel did to tensors that it writes to besides
  /// writing to their memory: sizes, strides, other or larger storages.
  void take_over();

 private:
  struct Storages {
    c10::intrusive_ptr<c10::StorageImpl> device;
    c10::intrusive_ptr<c10::StorageImpl> host;
  };
  struct Tensors {
    at::Tensor device;
    at::Tensor host;
    bool written;
  };

  c10::Storage host_storage(const c10::Storage& storage, bool written);
  c10::Storage device_storage(const c10::Storage& storage);
  at::Tensor make_host(const at::Tensor& tensor, bool written);
  at::Tensor make_device(at::Tensor result);
  void take_over(const Tensors& tensors);
  c10::DataPtr host_data(c10::StorageImpl& storage, bool written) const;
  c10::DataPtr device_data(c10::DataPtr&& data, size_t bytes) const;
  bool is_unchanged(const Storages& pair) const;

  c10::Device device_;
  Behind behind_;
  int integers_;
  c10::SmallVector<Storages, 4> storages_;
  c10::SmallVector<Tensors, 4> tensors_;
};

} // namespace torch_cuda::operators

// The memory of a device under the CPU's kernels.
#pragma once

#include "accelerator/operators/tensors/host_storages.h"

#include <cstdint>

namespace torch_cuda::operators {

/// Storages of the CPU over the memory of the device's, where the host sees it;
/// else over copies of what the kernel's tensors reach.
///
/// Copies are made on the device's current stream: of all that is read when a
/// storage goes across, of what was written when it is taken over.
class Memory : public HostStorages {
 public:
  /// For a call that is made at once. Nothing may be under way on the current
  /// stream of `device`.
  explicit Memory(c10::Device device);

 protected:
  c10::DataPtr host_data(c10::StorageImpl& storage, bool written) override;

  /// Whether the host sees the memory of a storage.
  bool is_seen(const c10::StorageImpl& storage) const;

  /// Called when copies that are read from were put into the stream.
  virtual void wait_for_copies();

 private:
  c10::Storage device_storage(const c10::Storage& host) final;
  void reach(const Pair& pair, bool written, const c10::TensorImpl* reached_by)
      final;
  void take_over_written(const Pair& pair) final;
  c10::DataPtr take_over_data(const Pair& pair) final;

  // In the order of the current stream.
  void copy(void* to, const void* from, std::size_t bytes) const;

  // Bytes of a storage, from `begin` to before `end`.
  struct Part {
    const c10::StorageImpl* storage;
    std::size_t begin;
    std::size_t end;
  };
  bool seen_; // the memory of device()
  c10::SmallVector<Part, 2> written_; // of storages that are not seen
};

/// For a call that becomes part of the graph that the current stream is
/// captured into: the life of the device's memory is the program's business.
/// What take_over() copies goes into the graph, as what is read does.
class CapturedMemory final : public Memory {
 public:
  using Memory::Memory;

 private:
  c10::DataPtr host_data(c10::StorageImpl& storage, bool written) override;
  void wait_for_copies() override;
};

} // namespace torch_cuda::operators

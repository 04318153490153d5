// The memory of a device under the CPU's kernels.
#pragma once

#include "router/operators/tensors/host_storages.h"
#include "router/operators/tensors/write_back.h"

#include <vector>

namespace torch_cuda::operators {

/// Storages of the CPU over the memory of the device's, where the host sees it;
/// else over copies of what the kernel's tensors reach.
///
/// Copies are made on the device's current stream: of all that is read when a
/// storage goes across, of what was written, and of nothing else, when it is
/// taken over.
class Memory : public HostStorages {
 public:
  /// For a call that is made at once. Nothing may be under way on the current
  /// stream of `device`. `writes` is what the kernel does.
  explicit Memory(c10::Device device, Writes writes = Writes::Some);

 protected:
  c10::DataPtr host_data(c10::StorageImpl& storage, bool written) override;

  /// All of its elements are written: those that it had, and those that it got.
  void resized(const c10::Storage& near, const c10::TensorImpl& now) final;

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

  // Copies rows of one copy of a storage to the same place in another.
  void copy(void* to, const void* from, const Rows& rows) const;

  // What a storage that is not seen held before the kernel ran, where it is
  // written to.
  struct Before {
    const c10::StorageImpl* storage;
    c10::DataPtr data;
  };
  char* before(const c10::StorageImpl& storage) const;

  // Bytes of a storage, from `begin` to before `end`.
  struct Part {
    const c10::StorageImpl* storage;
    std::size_t begin;
    std::size_t end;
    std::size_t item; // bytes of an element
    std::vector<Rows> rows; // what is written, where that is all
    bool all;
  };
  std::vector<Rows> written_rows(const Part& part, const char* host) const;
  void remember(const Part& part, const char* data, bool written);

  bool seen_; // the memory of device()
  Writes writes_;
  c10::SmallVector<Part, 2> written_; // of storages that are not seen
  c10::SmallVector<Before, 2> before_;
};

/// For a call that becomes part of the graph that the current stream is
/// captured into: the life of the device's memory is the program's business.
/// What take_over() copies goes into the graph, as what is read does.
/// What goes back is in the graph: of a kernel that writes some elements, too,
/// all that its tensors reach.
class CapturedMemory final : public Memory {
 public:
  explicit CapturedMemory(c10::Device device) : Memory(device, Writes::All) {}

 private:
  c10::DataPtr host_data(c10::StorageImpl& storage, bool written) override;
  void wait_for_copies() override;
};

} // namespace torch_cuda::operators

// Memory of the device for what the CPU's kernels allocate.
//
// A kernel of the CPU allocates its results, and what it computes them with,
// from c10's CPU allocator. While a DeviceMemory lives on a thread, that
// allocator hands out memory of the current CUDA device instead: results are
// where a CUDA tensor's data has to be, and c10's statistics count them,
// without a copy.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/StorageImpl.h>

#include <cstddef>

namespace torch_cuda::operators {

/// Puts the allocator that DeviceMemory switches before c10's own. Once a
/// process, before the first DeviceMemory.
void install_host_allocator();

/// The allocator that DeviceMemory switches; for storages of aliases.
c10::Allocator* host_allocator();

/// Memory of the host, whatever lives on this thread.
c10::DataPtr allocate_on_host(std::size_t bytes);

/// While one lives, this thread's CPU allocations come from the current device,
/// which is `device`, if the host sees its memory.
class DeviceMemory {
 public:
  explicit DeviceMemory(c10::Device device);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

 private:
  bool before_;
};

/// Makes data that a kernel of the CPU returned into data of `device`:
/// relabelled where it was allocated under a DeviceMemory, else copied. Nothing
/// may be under way on the current stream of `device`, which is the current
/// device, and whose memory the host sees.
c10::DataPtr on_device(c10::DataPtr&& data, size_t bytes, c10::Device device);

} // namespace torch_cuda::operators

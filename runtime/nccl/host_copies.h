// Copies of buffers on the host, for operations of devices whose memory the
// host does not see.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace accelerator::nccl {

class HostCopies {
 public:
  HostCopies() = default;
  HostCopies(const HostCopies&) = delete;
  HostCopies& operator=(const HostCopies&) = delete;
  ~HostCopies();

  /// A copy of what is in a buffer. The calls are for the current device, and
  /// wait for their copies only, not for other work of the device.
  /// @throws Error.
  const void* of(const void* buffer, std::size_t bytes);

  /// Memory for a result, which write_results() puts into the buffer.
  void* for_result(void* buffer, std::size_t bytes);

  /// @throws Error.
  void write_results();

  /// Forgets all copies.
  void clear();

 private:
  void copy(void* to, const void* from, std::size_t bytes);
  unsigned char* allocate(std::size_t bytes);

  struct Result {
    void* to;
    const void* from;
    std::size_t bytes;
  };
  cudaStream_t stream_ = nullptr; // made with the first copy
  std::vector<std::unique_ptr<unsigned char[]>> copies_;
  std::vector<Result> results_;
};

} // namespace accelerator::nccl

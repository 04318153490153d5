#include "runtime/nccl/host_copies.h"

#include "runtime/nccl/error.h"

namespace accelerator::nccl {

HostCopies::~HostCopies() {
  if (stream_ != nullptr) {
    cudaStreamDestroy(stream_);
  }
}

const void* HostCopies::of(const void* buffer, std::size_t bytes) {
  unsigned char* const to = allocate(bytes);
  copy(to, buffer, bytes);
  return to;
}

void* HostCopies::for_result(void* buffer, std::size_t bytes) {
  unsigned char* const from = allocate(bytes);
  results_.push_back({buffer, from, bytes});
  return from;
}

void HostCopies::write_results() {
  for (const Result& result : results_) {
    copy(result.to, result.from, result.bytes);
  }
}

void HostCopies::clear() {
  results_.clear();
  copies_.clear();
}

void HostCopies::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) {
    return;
  }
  if (stream_ == nullptr) {
    // The stream of the operation waits for it.
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
  check(cudaStreamSynchronize(stream_));
}

unsigned char* HostCopies::allocate(std::size_t bytes) {
  copies_.emplace_back(new unsigned char[bytes]);
  return copies_.back().get();
}

} // namespace accelerator::nccl

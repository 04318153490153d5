// TensorPipe's API for CUDA, as far as torch's RPC uses it. A TensorPipe that
// is built without CUDA, as Debian's is, has no such header and none of the
// functions; those here are torch_cuda's own (distributed/tensorpipe).
// Source: TensorPipe of 2022-05-13, for the names.
#pragma once

#include <cuda_runtime_api.h>
#include <tensorpipe/channel/context.h>
#include <tensorpipe/common/device.h>

#include <memory>

namespace tensorpipe {

/// Memory of a CUDA device, for use in the order of a stream.
struct CudaBuffer {
  void* ptr{nullptr};
  cudaStream_t stream{cudaStreamDefault};

  /// The device that the memory is on; for a null pointer, which a tensor
  /// without elements has, that of the stream.
  Device getDevice() const;
};

namespace channel {

namespace cuda_basic {
/// Sends memory of CUDA devices through memory of the host.
/// @param host channels for that.
std::shared_ptr<Context> create(std::shared_ptr<Context> host);
} // namespace cuda_basic

namespace cuda_xth {
/// A context that says that it cannot be used: cuda_basic serves what other
/// channels of TensorPipe do quicker.
std::shared_ptr<Context> create();
} // namespace cuda_xth

} // namespace channel
} // namespace tensorpipe

// Waiting for a stream: a question when it is idle.
#include "router/operators/tensors/order.h"

#include "router/operators/dispatch/runtime.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

namespace torch_cuda::operators {
namespace {

// NVIDIA's runtime: what another thread captures is no business of this stream.
int synchronize(void* stream) {
  const c10::cuda::CUDAStreamCaptureModeGuard relaxed(
      cudaStreamCaptureModeRelaxed);
  return cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
}

} // namespace

void wait_for_current_stream(c10::DeviceIndex device) {
  using Wait = int (*)(void* stream);
  static const auto wait = [] {
    void* const function = runtime_function("accelerator_stream_wait");
    return function == nullptr ? &synchronize
                               : reinterpret_cast<Wait>(function);
  }();
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(device).stream();
  C10_CUDA_CHECK(static_cast<cudaError_t>(wait(stream)));
}

} // namespace torch_cuda::operators

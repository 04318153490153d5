// Waiting for a stream: a question when it is idle.
#include "accelerator/operators/order.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

namespace torch_cuda::operators {
namespace {

bool is_captured(cudaStream_t stream) {
  // The legacy stream cannot be captured.
  if (stream == nullptr) {
    return false;
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

} // namespace

void wait_for_current_stream(
    c10::DeviceIndex device,
    const c10::OperatorName& op) {
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(device).stream();
  // A query of a captured stream would end the capture.
  TORCH_CHECK(
      !is_captured(stream),
      op,
      " cannot be captured into a CUDA graph: device cuda:",
      static_cast<int>(device),
      " runs no CUDA code, so the operator runs on the host when it is called. "
      "Run the model without torch.cuda.graph on this device.");
  const cudaError_t status = cudaStreamQuery(stream);
  if (C10_LIKELY(status == cudaSuccess)) {
    return;
  }
  if (status != cudaErrorNotReady) {
    C10_CUDA_CHECK(status);
  }
  (void)cudaGetLastError();
  C10_CUDA_CHECK(cudaStreamSynchronize(stream));
}

} // namespace torch_cuda::operators

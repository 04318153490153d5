// Waiting for a stream: a question when it is idle.
#include "accelerator/operators/tensors/order.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

namespace torch_cuda::operators {

void wait_for_current_stream(c10::DeviceIndex device) {
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(device).stream();
  // What another thread captures is no business of this stream.
  const c10::cuda::CUDAStreamCaptureModeGuard relaxed(
      cudaStreamCaptureModeRelaxed);
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

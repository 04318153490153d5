// Host nodes and the objects that they need.
#include "router/operators/capture/stream_capture.h"

#include "router/operators/dispatch/profiled_kernel.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

namespace torch_cuda::operators {

bool is_captured(c10::DeviceIndex device) {
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(device).stream();
  // The legacy stream cannot be captured.
  if (stream == nullptr) {
    return false;
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  C10_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

cudaGraph_t captured_graph(cudaStream_t stream) {
  // The legacy stream cannot be captured.
  if (stream == nullptr) {
    return nullptr;
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
  C10_CUDA_CHECK(cudaStreamGetCaptureInfo(
      stream, &status, nullptr, &graph, nullptr, nullptr, nullptr));
#else
  C10_CUDA_CHECK(cudaStreamGetCaptureInfo_v2(
      stream, &status, nullptr, &graph, nullptr, nullptr));
#endif
  return status == cudaStreamCaptureStatusActive ? graph : nullptr;
}

void put_into_graph(
    c10::DeviceIndex device,
    std::unique_ptr<GraphWork> work,
    const std::string& name) {
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(device).stream();
  const cudaGraph_t graph = captured_graph(stream);
  if (graph == nullptr) {
    C10_CUDA_CHECK(cudaErrorStreamCaptureInvalidated);
  }
  cudaUserObject_t object = nullptr;
  C10_CUDA_CHECK(cudaUserObjectCreate(
      &object,
      work.get(),
      [](void* data) { delete static_cast<GraphWork*>(data); },
      1,
      cudaUserObjectNoDestructorSync));
  auto* owned = work.release();
  const cudaError_t retained =
      cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  if (retained != cudaSuccess) {
    C10_CUDA_IGNORE_ERROR(cudaUserObjectRelease(object, 1));
    C10_CUDA_CHECK(retained);
  }
  C10_CUDA_CHECK(launch_profiled(
      stream,
      [](void* data) { static_cast<GraphWork*>(data)->run(); },
      owned,
      name));
}

} // namespace torch_cuda::operators

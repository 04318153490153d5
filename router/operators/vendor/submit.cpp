// A closure's way through a stream: called once and let go, or kept by a graph.
#include "router/operators/vendor/submit.h"

#include "device/abi/device_api.h"
#include "router/operators/capture/stream_capture.h"
#include "router/operators/dispatch/runtime.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

namespace torch_cuda::operators::vendor {
namespace {

using torch_cuda::vendor::Work;

// runtime/core/streams/work/submit_api.h
using Submit = cudaError_t (*)(
    cudaStream_t stream,
    accel_status (*function)(void* native_stream, void* data),
    void* data);

accel_status run(void* native_stream, void* data) {
  try {
    (*static_cast<Work*>(data))(native_stream);
    return ACCEL_OK;
  } catch (const std::exception& error) {
    // Nobody waits for this call; the fault is what the program sees.
    std::fprintf(
        stderr, "torch_cuda: a vendor's kernel failed: %s\n", error.what());
    return ACCEL_LAUNCH_FAILURE;
  }
}

accel_status run_once(void* native_stream, void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  return run(native_stream, data);
}

void let_go(void* data) {
  delete static_cast<Work*>(data);
}

} // namespace

void submit(c10::DeviceIndex device, Work work) {
  static const auto put =
      reinterpret_cast<Submit>(runtime_function("accelerator_stream_submit"));
  TORCH_INTERNAL_ASSERT(put != nullptr);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(device).stream();
  auto owned = std::make_unique<Work>(std::move(work));
  const cudaGraph_t graph = captured_graph(stream);
  if (graph == nullptr) {
    C10_CUDA_CHECK(put(stream, run_once, owned.get()));
    (void)owned.release();
    return;
  }
  C10_CUDA_CHECK(put(stream, run, owned.get()));
  cudaUserObject_t object = nullptr;
  C10_CUDA_CHECK(cudaUserObjectCreate(
      &object, owned.get(), let_go, 1, cudaUserObjectNoDestructorSync));
  (void)owned.release();
  C10_CUDA_CHECK(
      cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
}

} // namespace torch_cuda::operators::vendor

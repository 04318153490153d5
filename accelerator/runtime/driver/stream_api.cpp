// Streams, events and graphs: the runtime's objects under the driver's names.
// Source: CUDA driver API, stream, event and graph management.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/driver/call.h"
#include "accelerator/runtime/driver/runtime_call.h"

using accelerator::driver::runtime;

namespace {

bool is_there(CUdeviceptr address) {
  const auto piece = accelerator::runtime::machine().addresses().find(address);
  return piece && address + sizeof(cuuint32_t) <= piece->end;
}

// Looks again and again, as the device does.
cudaError_t wait_for_value(
    CUdeviceptr address,
    cuuint32_t value,
    unsigned flags) {
  const auto reached = [&] {
    const cuuint32_t found = __atomic_load_n(
        reinterpret_cast<const cuuint32_t*>(address), __ATOMIC_ACQUIRE);
    switch (flags) {
      case CU_STREAM_WAIT_VALUE_GEQ:
        return static_cast<std::int32_t>(found - value) >= 0;
      case CU_STREAM_WAIT_VALUE_EQ:
        return found == value;
      case CU_STREAM_WAIT_VALUE_AND:
        return (found & value) != 0;
      default: // CU_STREAM_WAIT_VALUE_NOR
        return ~(found | value) != 0;
    }
  };
  while (is_there(address)) {
    if (reached()) {
      return cudaSuccess;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return cudaErrorIllegalAddress;
}

} // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return runtime()(cudaStreamCreateWithFlags, stream, flags);
}

CUresult cuStreamCreateWithPriority(
    CUstream* stream,
    unsigned flags,
    int priority) {
  return runtime()(cudaStreamCreateWithPriority, stream, flags, priority);
}

CUresult cuStreamDestroy(CUstream stream) {
  return runtime()(cudaStreamDestroy, stream);
}

CUresult cuStreamSynchronize(CUstream stream) {
  return runtime()(cudaStreamSynchronize, stream);
}

CUresult cuStreamQuery(CUstream stream) {
  return runtime()(cudaStreamQuery, stream);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return runtime()(cudaStreamWaitEvent, stream, event, flags);
}

CUresult cuStreamAddCallback(
    CUstream stream,
    CUstreamCallback callback,
    void* data,
    unsigned flags) {
  // Statuses have the same numbers in both, those that callbacks are told of.
  return runtime()(
      cudaStreamAddCallback,
      stream,
      reinterpret_cast<cudaStreamCallback_t>(callback),
      data,
      flags);
}

CUresult cuStreamWaitValue32(
    CUstream stream,
    CUdeviceptr address,
    cuuint32_t value,
    unsigned flags) {
  return accelerator::driver::call([&] {
    using namespace accelerator::runtime;
    require(address % sizeof(value) == 0 && is_there(address));
    require((flags & ~3u) == 0);
    const auto where = resolve_stream(stream);
    require_not_capturing(*where);
    where->enqueue(
        [address, value, flags] {
          return wait_for_value(address, value, flags);
        },
        false);
  });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return runtime()(cudaStreamGetPriority, stream, priority);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return runtime()(cudaStreamGetFlags, stream, flags);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return runtime()(cudaStreamGetId, stream, id);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  using namespace accelerator::runtime;
  return accelerator::driver::call([&] {
    accelerator::driver::store(
        context,
        reinterpret_cast<CUcontext>(&resolve_stream(stream)->device()));
  });
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return runtime()(
      cudaStreamBeginCapture, stream, static_cast<cudaStreamCaptureMode>(mode));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return runtime()(cudaStreamEndCapture, stream, graph);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return runtime()(
      cudaStreamIsCapturing,
      stream,
      reinterpret_cast<cudaStreamCaptureStatus*>(status));
}

CUresult cuStreamGetCaptureInfo(
    CUstream stream,
    CUstreamCaptureStatus* status,
    cuuint64_t* id,
    CUgraph* graph,
    const CUgraphNode** dependencies,
    size_t* count) {
  return runtime()(
      cudaStreamGetCaptureInfo_v2,
      stream,
      reinterpret_cast<cudaStreamCaptureStatus*>(status),
      reinterpret_cast<unsigned long long*>(id),
      graph,
      dependencies,
      count);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return runtime()(
      cudaThreadExchangeStreamCaptureMode,
      reinterpret_cast<cudaStreamCaptureMode*>(mode));
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return runtime()(
      [](CUevent* place, unsigned how) {
        return cudaEventCreateWithFlags(place, how);
      },
      event,
      flags);
}

CUresult cuEventDestroy(CUevent event) {
  return runtime()(cudaEventDestroy, event);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return runtime()(
      [](CUevent which, CUstream where) {
        return cudaEventRecord(which, where);
      },
      event,
      stream);
}

CUresult cuEventRecordWithFlags(
    CUevent event,
    CUstream stream,
    unsigned flags) {
  return runtime()(cudaEventRecordWithFlags, event, stream, flags);
}

CUresult cuEventQuery(CUevent event) {
  return runtime()(cudaEventQuery, event);
}

CUresult cuEventSynchronize(CUevent event) {
  return runtime()(cudaEventSynchronize, event);
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return runtime()(cudaEventElapsedTime, milliseconds, start, end);
}

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return runtime()(cudaGraphCreate, graph, flags);
}

CUresult cuGraphDestroy(CUgraph graph) {
  return runtime()(cudaGraphDestroy, graph);
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  return runtime()(cudaGraphClone, clone, original);
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* list, size_t* count) {
  return runtime()(cudaGraphGetNodes, graph, list, count);
}

CUresult cuGraphInstantiateWithFlags(
    CUgraphExec* exec,
    CUgraph graph,
    unsigned long long flags) {
  return runtime()(cudaGraphInstantiateWithFlags, exec, graph, flags);
}

CUresult cuGraphInstantiateWithParams(
    CUgraphExec* exec,
    CUgraph graph,
    CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  static_assert(
      sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) ==
      sizeof(cudaGraphInstantiateParams)); // the same fields
  return runtime()(
      cudaGraphInstantiateWithParams,
      exec,
      graph,
      reinterpret_cast<cudaGraphInstantiateParams*>(parameters));
}

CUresult cuGraphExecUpdate_v2(
    CUgraphExec exec,
    CUgraph graph,
    CUgraphExecUpdateResultInfo* result) {
  static_assert(
      sizeof(CUgraphExecUpdateResultInfo) ==
      sizeof(cudaGraphExecUpdateResultInfo)); // the same fields
  return runtime()(
      cudaGraphExecUpdate,
      exec,
      graph,
      reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result));
}

// What programs for CUDA 11 call.
#undef cuGraphExecUpdate
CUresult cuGraphExecUpdate(
    CUgraphExec exec,
    CUgraph graph,
    CUgraphNode* error_node,
    CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo told{};
  const CUresult status = cuGraphExecUpdate_v2(exec, graph, &told);
  if (error_node != nullptr) {
    *error_node = told.errorNode;
  }
  if (result != nullptr) {
    *result = told.result;
  }
  return status;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return runtime()(cudaGraphExecDestroy, exec);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return runtime()(cudaGraphLaunch, exec, stream);
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return runtime()(cudaGraphUpload, exec, stream);
}

CUresult cuUserObjectCreate(
    CUuserObject* object,
    void* pointer,
    CUhostFn destroy,
    unsigned references,
    unsigned flags) {
  return runtime()(
      cudaUserObjectCreate, object, pointer, destroy, references, flags);
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return runtime()(cudaUserObjectRetain, object, count);
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return runtime()(cudaUserObjectRelease, object, count);
}

CUresult cuGraphRetainUserObject(
    CUgraph graph,
    CUuserObject object,
    unsigned count,
    unsigned flags) {
  return runtime()(cudaGraphRetainUserObject, graph, object, count, flags);
}

CUresult cuGraphReleaseUserObject(
    CUgraph graph,
    CUuserObject object,
    unsigned count) {
  return runtime()(cudaGraphReleaseUserObject, graph, object, count);
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return runtime()(cudaGraphDebugDotPrint, graph, path, flags);
}

} // extern "C"

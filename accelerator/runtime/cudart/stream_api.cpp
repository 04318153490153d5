// Streams, capture of streams, and host functions in them.
// Source: CUDA runtime API, stream management.
#include <algorithm>
#include <memory>
#include <utility>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/graphs/graph.h"
#include "accelerator/runtime/core/graphs/submit.h"
#include "accelerator/runtime/core/graphs/work.h"
#include "accelerator/runtime/cudart/call.h"

using namespace accelerator::runtime;
using accelerator::cudart::call;
using accelerator::cudart::store;

namespace {

cudaStream_t handle_of(const Stream& stream) {
  return reinterpret_cast<cudaStream_t>(const_cast<Stream*>(&stream));
}

cudaGraphNode_t handle_of(Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(node);
}

std::vector<Node*> nodes_of(const cudaGraphNode_t* handles, std::size_t count) {
  require(handles != nullptr || count == 0);
  std::vector<Node*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(&resolve_node(handles[i]));
  }
  return nodes;
}

// The graph of a capture gets its handle when someone asks for it; from then on
// the table keeps it as long as the capture's graph would be kept by its owner.
cudaGraph_t handle_of(const std::shared_ptr<Graph>& graph) {
  if (graph == nullptr) {
    return nullptr;
  }
  if (!machine().graphs().contains(graph.get())) {
    machine().graphs().add(graph);
  }
  return reinterpret_cast<cudaGraph_t>(graph.get());
}

} // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(
    cudaStream_t* stream,
    unsigned flags,
    int priority) {
  return call([&] {
    require((flags & ~cudaStreamNonBlocking) == 0);
    int least = 0;
    int greatest = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    priority = std::clamp(priority, greatest, least);
    store(stream, handle_of(*current_device().create_stream(flags, priority)));
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call([&] {
    const auto stream = machine().streams().get(handle);
    leave_capture(*stream);
    machine().streams().remove(handle);
    stream->device().remove_stream(*stream);
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call([&] {
    const auto stream = resolve_stream(handle);
    require_no_unsafe_capture();
    require_not_capturing(*stream);
    const tracing::Wait traced(
        tracing::WaitRecord::Kind::kStream,
        stream->device().ordinal(),
        stream->id());
    stream->synchronize_in_order();
    stream->device().require_health();
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call([&] {
    const auto stream = resolve_stream(handle);
    require_no_unsafe_capture();
    require_not_capturing(*stream);
    require(stream->idle(), cudaErrorNotReady);
    stream->device().require_health();
  });
}

cudaError_t cudaStreamWaitEvent(
    cudaStream_t stream,
    cudaEvent_t event,
    unsigned flags) {
  return call([&] {
    require((flags & ~cudaEventWaitExternal) == 0);
    auto target = machine().events().get(event);
    const auto waiting = resolve_stream(stream);
    const tracing::Wait traced(
        tracing::WaitRecord::Kind::kStreamForEvent,
        waiting->device().ordinal(),
        waiting->id(),
        target->id());
    wait_event(
        *waiting, std::move(target), (flags & cudaEventWaitExternal) != 0);
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call([&] { store(priority, resolve_stream(stream)->priority()); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call([&] { store(flags, resolve_stream(stream)->flags()); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return call([&] { store(id, resolve_stream(stream)->id()); });
}

cudaError_t cudaStreamGetAttribute(
    cudaStream_t stream,
    cudaLaunchAttributeID id,
    cudaLaunchAttributeValue* value) {
  return call([&] {
    require(value != nullptr);
    const auto target = resolve_stream(stream);
    *value = {};
    if (id == cudaLaunchAttributeSynchronizationPolicy) {
      value->syncPolicy = static_cast<cudaSynchronizationPolicy>(
          target->synchronization_policy);
    } else if (id == cudaLaunchAttributePriority) {
      value->priority = target->priority();
    } else {
      require(id == cudaLaunchAttributeAccessPolicyWindow);
    }
  });
}

cudaError_t cudaStreamSetAttribute(
    cudaStream_t stream,
    cudaLaunchAttributeID id,
    const cudaLaunchAttributeValue* value) {
  return call([&] {
    require(value != nullptr);
    const auto target = resolve_stream(stream);
    if (id == cudaLaunchAttributeSynchronizationPolicy) {
      target->synchronization_policy = value->syncPolicy;
    } else {
      // A window for the L2 cache, which no device here has, is only a hint.
      require(id == cudaLaunchAttributeAccessPolicyWindow);
    }
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call([&] {
    resolve_stream(to)->synchronization_policy =
        resolve_stream(from)->synchronization_policy;
  });
}

cudaError_t cudaLaunchHostFunc(
    cudaStream_t stream,
    cudaHostFn_t function,
    void* data) {
  return call([&] {
    require(function != nullptr);
    submit(*resolve_stream(stream), HostWork{function, data});
  });
}

cudaError_t cudaStreamAddCallback(
    cudaStream_t handle,
    cudaStreamCallback_t function,
    void* data,
    unsigned flags) {
  return call([&] {
    require(function != nullptr && flags == 0);
    const auto stream = resolve_stream(handle);
    require_not_capturing(*stream);
    Device& device = stream->device();
    // Unlike a host function, a callback is told of errors.
    stream->enqueue(
        [&device, function, data, handle] {
          function(handle, device.fault(), data);
          return cudaSuccess;
        },
        true);
  });
}

cudaError_t cudaStreamBeginCapture(
    cudaStream_t stream,
    cudaStreamCaptureMode mode) {
  return call([&] { begin_capture(*resolve_stream(stream), mode); });
}

cudaError_t cudaStreamBeginCaptureToGraph(
    cudaStream_t stream,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* edges,
    size_t count,
    cudaStreamCaptureMode mode) {
  return call([&] {
    require(edges == nullptr, cudaErrorNotSupported);
    begin_capture(
        *resolve_stream(stream),
        mode,
        machine().graphs().get(graph, cudaErrorInvalidValue),
        nodes_of(dependencies, count));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&] {
    store(graph, nullptr);
    *graph = handle_of(end_capture(*resolve_stream(stream)));
  });
}

cudaError_t cudaStreamIsCapturing(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status) {
  return call([&] {
    store(status, capture_info(*resolve_stream(stream), false).status);
  });
}

cudaError_t cudaStreamGetCaptureInfo_v3(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    const cudaGraphEdgeData** edges,
    size_t* count) {
  return call([&] {
    // What is returned by pointer is valid until the thread's next such call.
    static thread_local std::vector<cudaGraphNode_t> nodes;
    const CaptureInfo info = capture_info(*resolve_stream(stream), false);
    store(status, info.status);
    if (id != nullptr) {
      *id = info.id;
    }
    if (info.status != cudaStreamCaptureStatusActive) {
      return;
    }
    if (graph != nullptr) {
      *graph = handle_of(info.graph);
    }
    nodes.clear();
    for (Node* node : info.dependencies) {
      nodes.push_back(handle_of(node));
    }
    if (dependencies != nullptr) {
      *dependencies = nodes.data();
    }
    if (edges != nullptr) {
      *edges = nullptr;
    }
    if (count != nullptr) {
      *count = nodes.size();
    }
  });
}

cudaError_t cudaStreamGetCaptureInfo_v2(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    size_t* count) {
  return cudaStreamGetCaptureInfo_v3(
      stream, status, id, graph, dependencies, nullptr, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(
    cudaStream_t stream,
    cudaGraphNode_t* dependencies,
    size_t count,
    unsigned flags) {
  return call([&] {
    require(flags <= cudaStreamSetCaptureDependencies);
    update_capture_dependencies(
        *resolve_stream(stream),
        nodes_of(dependencies, count),
        flags == cudaStreamSetCaptureDependencies);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&] {
    require(
        mode != nullptr && *mode >= cudaStreamCaptureModeGlobal &&
        *mode <= cudaStreamCaptureModeRelaxed);
    std::swap(*mode, thread_state().capture_mode);
  });
}

} // extern "C"

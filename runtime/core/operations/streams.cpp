#include "runtime/core/operations/streams.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/core/graphs/capture.h"
#include "runtime/core/graphs/graph.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/machine/thread_state.h"
#include "runtime/core/operations/devices.h"
#include "runtime/core/operations/graph_handles.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/streams/work/submit.h"
#include "runtime/core/tracing/tracing.h"

namespace accelerator::runtime::operations {
namespace {

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

void stream_create_with_flags(cudaStream_t* stream, unsigned flags) {
  stream_create_with_priority(stream, flags, kLeastPriority);
}

void stream_create_with_priority(
    cudaStream_t* stream,
    unsigned flags,
    int priority) {
  require((flags & ~cudaStreamNonBlocking) == 0);
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  store(
      stream,
      reinterpret_cast<cudaStream_t>(
          current_device().create_stream(flags, priority).get()));
  contexts().note(Contexts::Kind::kStream, *stream);
}

void stream_destroy(cudaStream_t handle) {
  const auto stream = machine().streams().get(handle);
  leave_capture(*stream);
  contexts().forget(Contexts::Kind::kStream, handle);
  machine().streams().remove(handle);
  stream->device().remove_stream(*stream);
}

void stream_synchronize(cudaStream_t handle) {
  const auto stream = resolve_stream(handle);
  require_no_unsafe_capture();
  require_not_capturing(*stream);
  const tracing::Wait traced(
      tracing::WaitRecord::Kind::kStream,
      stream->device().ordinal(),
      stream->id());
  stream->synchronize_in_order();
  stream->device().require_health();
}

void stream_query(cudaStream_t handle) {
  const auto stream = resolve_stream(handle);
  require_no_unsafe_capture();
  require_not_capturing(*stream);
  require(stream->idle(), cudaErrorNotReady);
  stream->device().require_health();
}

void stream_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  require((flags & ~cudaEventWaitExternal) == 0);
  auto target = machine().events().get(event);
  const auto waiting = resolve_stream(stream);
  const tracing::Wait traced(
      tracing::WaitRecord::Kind::kStreamForEvent,
      waiting->device().ordinal(),
      waiting->id(),
      target->id());
  wait_event(*waiting, std::move(target), (flags & cudaEventWaitExternal) != 0);
}

void stream_add_callback(
    cudaStream_t handle,
    StreamCallback function,
    void* data,
    unsigned flags) {
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
}

void launch_host_func(cudaStream_t stream, cudaHostFn_t function, void* data) {
  require(function != nullptr);
  submit(*resolve_stream(stream), HostWork{function, data});
}

void stream_get_priority(cudaStream_t stream, int* priority) {
  store(priority, resolve_stream(stream)->priority());
}

void stream_get_flags(cudaStream_t stream, unsigned* flags) {
  store(flags, resolve_stream(stream)->flags());
}

void stream_get_id(cudaStream_t stream, unsigned long long* id) {
  store(id, resolve_stream(stream)->id());
}

void stream_get_attribute(
    cudaStream_t stream,
    cudaLaunchAttributeID id,
    cudaLaunchAttributeValue* value) {
  require(value != nullptr);
  const auto target = resolve_stream(stream);
  *value = {};
  if (id == cudaLaunchAttributeSynchronizationPolicy) {
    value->syncPolicy =
        static_cast<cudaSynchronizationPolicy>(target->synchronization_policy);
  } else if (id == cudaLaunchAttributePriority) {
    value->priority = target->priority();
  } else {
    require(id == cudaLaunchAttributeAccessPolicyWindow);
  }
}

void stream_set_attribute(
    cudaStream_t stream,
    cudaLaunchAttributeID id,
    const cudaLaunchAttributeValue* value) {
  require(value != nullptr);
  const auto target = resolve_stream(stream);
  if (id == cudaLaunchAttributeSynchronizationPolicy) {
    target->synchronization_policy = value->syncPolicy;
  } else if (id == cudaLaunchAttributePriority) {
    target->set_priority(
        std::clamp(value->priority, kGreatestPriority, kLeastPriority));
  } else {
    // A window for the L2 cache, which no device here has, is only a hint.
    require(id == cudaLaunchAttributeAccessPolicyWindow);
  }
}

void stream_copy_attributes(cudaStream_t to, cudaStream_t from) {
  const auto target = resolve_stream(to);
  const auto source = resolve_stream(from);
  target->synchronization_policy = source->synchronization_policy;
  target->set_priority(source->priority());
}

void stream_get_device(cudaStream_t stream, int* device) {
  store(device, resolve_stream(stream)->device().ordinal());
}

void stream_begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  begin_capture(*resolve_stream(stream), mode);
}

void stream_end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  if (graph != nullptr) {
    *graph = nullptr;
  }
  const auto captured = end_capture(*resolve_stream(stream));
  if (graph != nullptr) {
    *graph = handle_of(captured);
  }
}

void stream_is_capturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  store(status, capture_info(*resolve_stream(stream), false).status);
}

void stream_get_capture_info_v2(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    size_t* count) {
  stream_get_capture_info_v3(
      stream, status, id, graph, dependencies, nullptr, count);
}

void stream_get_capture_info_v3(
    cudaStream_t stream,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies,
    const cudaGraphEdgeData** edges,
    size_t* count) {
  // What is returned by pointer is valid until the thread's next such call.
  static thread_local std::vector<cudaGraphNode_t> nodes;
  static thread_local std::vector<cudaGraphEdgeData> ordinary;
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
    nodes.push_back(reinterpret_cast<cudaGraphNode_t>(node));
  }
  if (dependencies != nullptr) {
    *dependencies = nodes.data();
  }
  if (edges != nullptr) {
    ordinary.assign(nodes.size(), {});
    *edges = ordinary.data();
  }
  if (count != nullptr) {
    *count = nodes.size();
  }
}

void stream_begin_capture_to_graph(
    cudaStream_t stream,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* edges,
    size_t count,
    cudaStreamCaptureMode mode) {
  require_ordinary(edges, count);
  begin_capture(
      *resolve_stream(stream),
      mode,
      resolve_graph(graph),
      nodes_of(dependencies, count));
}

void stream_update_capture_dependencies(
    cudaStream_t stream,
    cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* edges,
    size_t count,
    unsigned flags) {
  require(flags <= cudaStreamSetCaptureDependencies);
  require_ordinary(edges, count);
  update_capture_dependencies(
      *resolve_stream(stream),
      nodes_of(dependencies, count),
      flags == cudaStreamSetCaptureDependencies);
}

void thread_exchange_stream_capture_mode(cudaStreamCaptureMode* mode) {
  require(
      mode != nullptr && *mode >= cudaStreamCaptureModeGlobal &&
      *mode <= cudaStreamCaptureModeRelaxed);
  std::swap(*mode, thread_state().capture_mode);
}

} // namespace accelerator::runtime::operations

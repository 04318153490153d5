#include "accelerator/runtime/core/operations/graphs.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/graphs/user_object.h"
#include "accelerator/runtime/core/operations/graph_handles.h"
#include "accelerator/runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {
namespace {

cudaGraph_t enter(std::shared_ptr<Graph> graph) {
  return reinterpret_cast<cudaGraph_t>(
      machine().graphs().add(std::move(graph)));
}

} // namespace

void hand_out(
    const std::vector<Node*>& nodes,
    cudaGraphNode_t* list,
    size_t* count) {
  require(count != nullptr);
  if (list != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) {
      list[i] = i < nodes.size() ? handle_of(nodes[i]) : nullptr;
    }
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
}

void graph_create(cudaGraph_t* graph, unsigned flags) {
  require(flags == 0);
  store(graph, enter(std::make_shared<Graph>()));
}

void graph_destroy(cudaGraph_t graph) {
  require_not_captured_into(*resolve_graph(graph));
  machine().graphs().remove(graph, cudaErrorInvalidValue);
}

void graph_clone(cudaGraph_t* clone, cudaGraph_t original) {
  store(clone, enter(resolve_graph(original)->clone()));
}

void graph_get_nodes(cudaGraph_t graph, cudaGraphNode_t* list, size_t* count) {
  std::vector<Node*> nodes;
  const auto target = resolve_graph(graph);
  for (const auto& node : target->nodes()) {
    nodes.push_back(node.get());
  }
  hand_out(nodes, list, count);
}

void graph_instantiate_with_flags(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    unsigned long long flags) {
  require(
      (flags & cudaGraphInstantiateFlagDeviceLaunch) == 0,
      cudaErrorNotSupported);
  auto made = std::make_shared<GraphExec>(*resolve_graph(graph), flags);
  store(
      exec,
      reinterpret_cast<cudaGraphExec_t>(
          machine().graph_execs().add(std::move(made))));
}

void graph_instantiate_with_params(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    cudaGraphInstantiateParams* parameters) {
  require(parameters != nullptr);
  parameters->errNode_out = nullptr;
  parameters->result_out = cudaGraphInstantiateError;
  graph_instantiate_with_flags(exec, graph, parameters->flags);
  parameters->result_out = cudaGraphInstantiateSuccess;
}

void graph_exec_update(
    cudaGraphExec_t exec,
    cudaGraph_t graph,
    cudaGraphExecUpdateResultInfo* result) {
  require(result != nullptr);
  *result = {};
  const auto source = resolve_graph(graph);
  const UpdateProblem problem = resolve_exec(exec)->update(*source);
  result->result = problem.result;
  result->errorNode = handle_of(source->find(problem.node_id));
  result->errorFromNode = handle_of(source->find(problem.from_node_id));
  require(
      result->result == cudaGraphExecUpdateSuccess,
      cudaErrorGraphExecUpdateFailure);
}

void graph_exec_destroy(cudaGraphExec_t exec) {
  machine().graph_execs().remove(exec, cudaErrorInvalidValue);
}

void graph_launch(cudaGraphExec_t exec, cudaStream_t handle) {
  const auto stream = resolve_stream(handle);
  if (capture_info(*stream).status != cudaStreamCaptureStatusNone) {
    throw Failure(
        cudaErrorNotSupported,
        "cudaGraphLaunch into a stream that is being captured");
  }
  resolve_exec(exec)->launch(*stream);
}

void graph_upload(cudaGraphExec_t exec, cudaStream_t stream) {
  resolve_exec(exec);
  resolve_stream(stream);
}

void user_object_create(
    cudaUserObject_t* handle,
    void* object,
    cudaHostFn_t destroy,
    unsigned references,
    unsigned flags) {
  require(
      handle != nullptr && destroy != nullptr && references > 0 &&
      flags == cudaUserObjectNoDestructorSync);
  *handle = reinterpret_cast<cudaUserObject_t>(
      make_user_object(object, destroy, references));
}

void user_object_retain(cudaUserObject_t object, unsigned count) {
  require(count > 0);
  resolve_user_object(object)->retain(count);
}

void user_object_release(cudaUserObject_t object, unsigned count) {
  require(count > 0);
  resolve_user_object(object)->release(count);
}

void graph_retain_user_object(
    cudaGraph_t graph,
    cudaUserObject_t handle,
    unsigned count,
    unsigned flags) {
  require(count > 0 && (flags & ~cudaGraphUserObjectMove) == 0);
  const auto object = resolve_user_object(handle);
  resolve_graph(graph)->retain(object, count);
  if ((flags & cudaGraphUserObjectMove) != 0) {
    object->release(count); // the caller's references become the graph's
  }
}

void graph_release_user_object(
    cudaGraph_t graph,
    cudaUserObject_t handle,
    unsigned count) {
  resolve_graph(graph)->release(*resolve_user_object(handle), count);
}

void graph_debug_dot_print(cudaGraph_t graph, const char* path, unsigned) {
  require(path != nullptr);
  std::ofstream file(path);
  file << resolve_graph(graph)->dot();
  require(static_cast<bool>(file), cudaErrorOperatingSystem);
}

} // namespace accelerator::runtime::operations

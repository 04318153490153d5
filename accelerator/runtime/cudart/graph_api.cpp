// Graphs: dependencies, instantiation and launch. What nodes do is in
// node_parameters_api.cpp.
// Source: CUDA runtime API, graph management.
#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/graphs/user_object.h"
#include "accelerator/runtime/cudart/call.h"
#include "accelerator/runtime/cudart/graph_handles.h"

using namespace accelerator::runtime;
using namespace accelerator::cudart;

namespace {

cudaGraph_t enter(std::shared_ptr<Graph> graph) {
  return reinterpret_cast<cudaGraph_t>(
      machine().graphs().add(std::move(graph)));
}

void change_edges(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    std::size_t count,
    void (Graph::*change)(Node& from, Node& to)) {
  const auto target = resolve_graph(graph);
  const auto before = nodes_of(from, count);
  const auto after = nodes_of(to, count);
  for (std::size_t i = 0; i < count; ++i) {
    ((*target).*change)(*before[i], *after[i]);
  }
}

// The two-step way of CUDA to hand out a list: its length, then its elements;
// what is beyond the end is null.
void hand_out(
    const std::vector<Node*>& nodes,
    cudaGraphNode_t* list,
    std::size_t* count) {
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

cudaGraphExec_t instantiate(cudaGraph_t graph, unsigned long long flags) {
  require(
      (flags & cudaGraphInstantiateFlagDeviceLaunch) == 0,
      cudaErrorNotSupported);
  auto exec = std::make_shared<GraphExec>(*resolve_graph(graph), flags);
  return reinterpret_cast<cudaGraphExec_t>(
      machine().graph_execs().add(std::move(exec)));
}

} // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call([&] {
    require(flags == 0);
    store(graph, enter(std::make_shared<Graph>()));
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&] {
    require_not_captured_into(*resolve_graph(graph));
    machine().graphs().remove(graph, cudaErrorInvalidValue);
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return call([&] { store(clone, enter(resolve_graph(original)->clone())); });
}

cudaError_t cudaGraphNodeFindInClone(
    cudaGraphNode_t* node,
    cudaGraphNode_t original,
    cudaGraph_t clone) {
  return call([&] {
    const Node* found =
        resolve_graph(clone)->find_clone(resolve_node(original));
    require(found != nullptr);
    store(node, handle_of(found));
  });
}

cudaError_t cudaGraphAddDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    size_t count) {
  return call(
      [&] { change_edges(graph, from, to, count, &Graph::add_dependency); });
}

cudaError_t cudaGraphRemoveDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    size_t count) {
  return call(
      [&] { change_edges(graph, from, to, count, &Graph::remove_dependency); });
}

cudaError_t cudaGraphGetNodes(
    cudaGraph_t graph,
    cudaGraphNode_t* list,
    size_t* count) {
  return call([&] {
    std::vector<Node*> nodes;
    const auto target = resolve_graph(graph);
    for (const auto& node : target->nodes()) {
      nodes.push_back(node.get());
    }
    hand_out(nodes, list, count);
  });
}

cudaError_t cudaGraphGetRootNodes(
    cudaGraph_t graph,
    cudaGraphNode_t* list,
    size_t* count) {
  return call([&] { hand_out(resolve_graph(graph)->roots(), list, count); });
}

cudaError_t cudaGraphGetEdges(
    cudaGraph_t graph,
    cudaGraphNode_t* from,
    cudaGraphNode_t* to,
    size_t* count) {
  return call([&] {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    std::vector<Node*> before;
    std::vector<Node*> after;
    for (const auto& [first, second] : resolve_graph(graph)->edges()) {
      before.push_back(first);
      after.push_back(second);
    }
    std::size_t again = *count;
    hand_out(before, from, count);
    hand_out(after, to, &again);
  });
}

cudaError_t cudaGraphNodeGetType(
    cudaGraphNode_t node,
    cudaGraphNodeType* type) {
  return call([&] { store(type, type_of(resolve_node(node).work())); });
}

cudaError_t cudaGraphNodeGetDependencies(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    size_t* count) {
  return call(
      [&] { hand_out(resolve_node(node).dependencies(), list, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(
    cudaGraphNode_t handle,
    cudaGraphNode_t* list,
    size_t* count) {
  return call([&] {
    const Node& node = resolve_node(handle);
    hand_out(node.graph().dependents(node), list, count);
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return call([&] {
    Node& node = resolve_node(handle);
    require_not_captured_into(node.graph());
    node.graph().remove(node);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    unsigned long long flags) {
  return call([&] { store(exec, instantiate(graph, flags)); });
}

cudaError_t cudaGraphInstantiate(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    cudaGraphInstantiateParams* parameters) {
  return call([&] {
    require(parameters != nullptr);
    parameters->errNode_out = nullptr;
    parameters->result_out = cudaGraphInstantiateError;
    store(exec, instantiate(graph, parameters->flags));
    parameters->result_out = cudaGraphInstantiateSuccess;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call(
      [&] { machine().graph_execs().remove(exec, cudaErrorInvalidValue); });
}

cudaError_t cudaGraphExecGetFlags(
    cudaGraphExec_t exec,
    unsigned long long* flags) {
  return call([&] { store(flags, resolve_exec(exec)->flags()); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return call([&] {
    resolve_exec(exec);
    resolve_stream(stream);
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  return call([&] {
    const auto stream = resolve_stream(handle);
    if (capture_info(*stream).status != cudaStreamCaptureStatusNone) {
      throw Failure(
          cudaErrorNotSupported,
          "cudaGraphLaunch into a stream that is being captured");
    }
    resolve_exec(exec)->launch(*stream);
  });
}

cudaError_t cudaGraphExecUpdate(
    cudaGraphExec_t exec,
    cudaGraph_t graph,
    cudaGraphExecUpdateResultInfo* result) {
  return call([&] {
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
  });
}

cudaError_t cudaGraphNodeSetEnabled(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    unsigned enabled) {
  return call([&] {
    resolve_exec(exec)->set_enabled(resolve_node(node), enabled != 0);
  });
}

cudaError_t cudaGraphNodeGetEnabled(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    unsigned* enabled) {
  return call([&] {
    store(enabled, resolve_exec(exec)->enabled(resolve_node(node)) ? 1u : 0u);
  });
}

cudaError_t cudaGraphDebugDotPrint(
    cudaGraph_t graph,
    const char* path,
    unsigned) {
  return call([&] {
    require(path != nullptr);
    std::ofstream file(path);
    file << resolve_graph(graph)->dot();
    require(static_cast<bool>(file), cudaErrorOperatingSystem);
  });
}

cudaError_t cudaUserObjectCreate(
    cudaUserObject_t* handle,
    void* object,
    cudaHostFn_t destroy,
    unsigned references,
    unsigned flags) {
  return call([&] {
    require(
        handle != nullptr && destroy != nullptr && references > 0 &&
        flags == cudaUserObjectNoDestructorSync);
    *handle = reinterpret_cast<cudaUserObject_t>(
        make_user_object(object, destroy, references));
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return call([&] {
    require(count > 0);
    resolve_user_object(object)->retain(count);
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return call([&] {
    require(count > 0);
    resolve_user_object(object)->release(count);
  });
}

cudaError_t cudaGraphRetainUserObject(
    cudaGraph_t graph,
    cudaUserObject_t handle,
    unsigned count,
    unsigned flags) {
  return call([&] {
    require(count > 0 && (flags & ~cudaGraphUserObjectMove) == 0);
    const auto object = resolve_user_object(handle);
    resolve_graph(graph)->retain(object, count);
    if ((flags & cudaGraphUserObjectMove) != 0) {
      object->release(count); // the caller's references become the graph's
    }
  });
}

cudaError_t cudaGraphReleaseUserObject(
    cudaGraph_t graph,
    cudaUserObject_t handle,
    unsigned count) {
  return call([&] {
    resolve_graph(graph)->release(*resolve_user_object(handle), count);
  });
}

} // extern "C"

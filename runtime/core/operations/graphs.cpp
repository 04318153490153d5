#include "runtime/core/operations/graphs.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/core/graphs/capture.h"
#include "runtime/core/graphs/instances/plan.h"
#include "runtime/core/graphs/user_object.h"
#include "runtime/core/operations/graph_handles.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {
namespace {

// CUDA 12.4's header lacks it.
constexpr auto kConditionalHandleUnused =
    static_cast<cudaGraphInstantiateResult>(5);

cudaGraph_t enter(std::shared_ptr<Graph> graph) {
  return reinterpret_cast<cudaGraph_t>(
      machine().graphs().add(std::move(graph)));
}

// The two-step way of CUDA to hand out a list: its length, then its elements;
// what is beyond the end is null.
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

// @param edges what is said of the edge of each node.
void hand_out(
    const std::vector<Node*>& nodes,
    const std::vector<cudaGraphEdgeData>& edges,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    size_t* count) {
  require(count != nullptr && (data == nullptr || list != nullptr));
  // Who asks for edges without their data would take them for ordinary ones.
  require(
      list == nullptr || data != nullptr ||
          std::all_of(edges.begin(), edges.end(), is_ordinary),
      cudaErrorLossyQuery);
  for (std::size_t i = 0; data != nullptr && i < *count; ++i) {
    data[i] = i < edges.size() ? edges[i] : cudaGraphEdgeData{};
  }
  hand_out(nodes, list, count);
}

void change_edges(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    std::size_t count,
    void (
        *change)(Graph& graph, Node& from, Node& to, cudaGraphEdgeData data)) {
  const auto target = resolve_graph(graph);
  const auto before = nodes_of(from, count);
  const auto after = nodes_of(to, count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto edge = data != nullptr ? data[i] : cudaGraphEdgeData{};
    require_edge(edge, before[i]->work(), after[i]->work());
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto edge = data != nullptr ? data[i] : cudaGraphEdgeData{};
    change(*target, *before[i], *after[i], edge);
  }
}

} // namespace

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

void graph_get_id(cudaGraph_t graph, unsigned* id) {
  store(id, resolve_graph(graph)->id());
}

void graph_get_root_nodes(
    cudaGraph_t graph,
    cudaGraphNode_t* list,
    size_t* count) {
  hand_out(resolve_graph(graph)->roots(), list, count);
}

void graph_node_find_in_clone(
    cudaGraphNode_t* node,
    cudaGraphNode_t original,
    cudaGraph_t clone) {
  const Node* found = resolve_graph(clone)->find_clone(resolve_node(original));
  require(found != nullptr);
  store(node, handle_of(found));
}

void graph_node_get_type(cudaGraphNode_t node, cudaGraphNodeType* type) {
  store(type, type_of(resolve_node(node).work()));
}

void graph_node_get_containing_graph(cudaGraphNode_t node, cudaGraph_t* graph) {
  store(graph, reinterpret_cast<cudaGraph_t>(&resolve_node(node).graph()));
}

void graph_node_get_local_id(cudaGraphNode_t node, unsigned* id) {
  store(id, resolve_node(node).local_id());
}

void graph_node_get_tools_id(cudaGraphNode_t node, unsigned long long* id) {
  store(id, resolve_node(node).id());
}

void graph_destroy_node(cudaGraphNode_t handle) {
  Node& node = resolve_node(handle);
  require_not_captured_into(node.graph());
  node.graph().remove(node);
}

void graph_add_dependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    size_t count) {
  change_edges(
      graph,
      from,
      to,
      data,
      count,
      [](Graph& target, Node& before, Node& after, cudaGraphEdgeData edge) {
        target.add_dependency(before, after);
        target.describe_dependency(before, after, edge);
      });
}

void graph_remove_dependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    size_t count) {
  change_edges(
      graph,
      from,
      to,
      data,
      count,
      [](Graph& target, Node& before, Node& after, cudaGraphEdgeData edge) {
        const auto there = after.edge_from(before);
        require(std::memcmp(&there, &edge, sizeof(edge)) == 0);
        target.remove_dependency(before, after);
      });
}

void graph_get_edges(
    cudaGraph_t graph,
    cudaGraphNode_t* from,
    cudaGraphNode_t* to,
    cudaGraphEdgeData* data,
    size_t* count) {
  require(count != nullptr && (from == nullptr) == (to == nullptr));
  std::vector<Node*> before;
  std::vector<Node*> after;
  std::vector<cudaGraphEdgeData> edges;
  for (const auto& [first, second] : resolve_graph(graph)->edges()) {
    before.push_back(first);
    after.push_back(second);
    edges.push_back(second->edge_from(*first));
  }
  std::size_t again = *count;
  hand_out(before, edges, from, data, count);
  hand_out(after, to, &again);
}

void graph_node_get_dependencies(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    size_t* count) {
  const Node& after = resolve_node(node);
  std::vector<cudaGraphEdgeData> edges;
  for (const Node* dependency : after.dependencies()) {
    edges.push_back(after.edge_from(*dependency));
  }
  hand_out(after.dependencies(), edges, list, data, count);
}

void graph_node_get_dependent_nodes(
    cudaGraphNode_t handle,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    size_t* count) {
  const Node& node = resolve_node(handle);
  const auto dependents = node.graph().dependents(node);
  std::vector<cudaGraphEdgeData> edges;
  for (const Node* after : dependents) {
    edges.push_back(after->edge_from(node));
  }
  hand_out(dependents, edges, list, data, count);
}

void graph_conditional_handle_create(
    cudaGraphConditionalHandle* handle,
    cudaGraph_t graph,
    int device,
    unsigned initial,
    unsigned flags) {
  require(handle != nullptr && (flags & ~cudaGraphCondAssignDefault) == 0);
  *handle = make_condition(
      *resolve_graph(graph),
      machine().device(device),
      initial,
      (flags & cudaGraphCondAssignDefault) != 0);
}

void graph_instantiate_with_flags(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    unsigned long long flags) {
  const auto source = resolve_graph(graph);
  // The host launches such graphs as all others. Kernels that launch them are
  // refused themselves.
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    require((flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) == 0);
    require(
        check_device_launch(*source) == cudaGraphInstantiateSuccess,
        cudaErrorNotSupported);
  }
  auto made = std::make_shared<GraphExec>(*source, flags);
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
  try {
    resolve_graph(graph)->require_conditions_used();
  } catch (const Failure&) {
    parameters->result_out = kConditionalHandleUnused;
    throw;
  }
  try {
    graph_instantiate_with_flags(exec, graph, parameters->flags);
  } catch (const Failure& failure) {
    if (failure.status() == cudaErrorInvalidValue) {
      parameters->result_out = cudaGraphInstantiateInvalidStructure;
    } else if (failure.status() == cudaErrorNotSupported) {
      parameters->result_out = check_device_launch(*resolve_graph(graph));
    }
    throw;
  }
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

void graph_exec_get_id(cudaGraphExec_t exec, unsigned* id) {
  store(id, resolve_exec(exec)->id());
}

void graph_exec_get_flags(cudaGraphExec_t exec, unsigned long long* flags) {
  store(flags, resolve_exec(exec)->flags());
}

void graph_node_set_enabled(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    unsigned enabled) {
  resolve_exec(exec)->set_enabled(resolve_node(node), enabled != 0);
}

void graph_node_get_enabled(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    unsigned* enabled) {
  store(enabled, resolve_exec(exec)->enabled(resolve_node(node)) ? 1u : 0u);
}

void graph_launch(cudaGraphExec_t exec, cudaStream_t handle) {
  const auto stream = resolve_stream(handle);
  const auto instance = resolve_exec(exec);
  if (capture_info(*stream).status != cudaStreamCaptureStatusNone) {
    capture_node(*stream, ChildGraphWork{instance->to_graph()});
  } else {
    instance->launch(*stream);
  }
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

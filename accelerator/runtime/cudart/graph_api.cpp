// Graphs: nodes, dependencies, instantiation and launch.
// Source: CUDA runtime API, graph management.
#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/graphs/graph.h"
#include "accelerator/runtime/core/graphs/instances/graph_exec.h"
#include "accelerator/runtime/core/graphs/user_object.h"
#include "accelerator/runtime/core/memory/memory_pool.h"
#include "accelerator/runtime/cudart/call.h"
#include "accelerator/runtime/cudart/node_parameters.h"

using namespace accelerator::runtime;
using namespace accelerator::cudart;

namespace {

std::shared_ptr<Graph> resolve_graph(cudaGraph_t handle) {
  return machine().graphs().get(handle, cudaErrorInvalidValue);
}

std::shared_ptr<GraphExec> resolve_exec(cudaGraphExec_t handle) {
  return machine().graph_execs().get(handle, cudaErrorInvalidValue);
}

cudaGraphNode_t handle_of(const Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node));
}

cudaGraph_t enter(std::shared_ptr<Graph> graph) {
  return reinterpret_cast<cudaGraph_t>(
      machine().graphs().add(std::move(graph)));
}

std::vector<Node*> nodes_of(const cudaGraphNode_t* handles, std::size_t count) {
  require(handles != nullptr || count == 0);
  std::vector<Node*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(&resolve_node(handles[i]));
  }
  return nodes;
}

void add(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    std::size_t count,
    Work work) {
  require(node != nullptr);
  *node = handle_of(&resolve_graph(graph)->add(
      std::move(work), current_device(), nodes_of(dependencies, count)));
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

cudaError_t cudaGraphAddKernelNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    const cudaKernelNodeParams* parameters) {
  return call(
      [&] { add(node, graph, dependencies, count, kernel_work(parameters)); });
}

cudaError_t cudaGraphAddMemcpyNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    const cudaMemcpy3DParms* parameters) {
  return call(
      [&] { add(node, graph, dependencies, count, copy_work(parameters)); });
}

cudaError_t cudaGraphAddMemcpyNode1D(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind) {
  return call([&] {
    add(node, graph, dependencies, count, copy_work(to, from, bytes, kind));
  });
}

cudaError_t cudaGraphAddMemsetNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    const cudaMemsetParams* parameters) {
  return call(
      [&] { add(node, graph, dependencies, count, fill_work(parameters)); });
}

cudaError_t cudaGraphAddHostNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    const cudaHostNodeParams* parameters) {
  return call(
      [&] { add(node, graph, dependencies, count, host_work(parameters)); });
}

cudaError_t cudaGraphAddEmptyNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count) {
  return call([&] { add(node, graph, dependencies, count, EmptyWork{}); });
}

cudaError_t cudaGraphAddChildGraphNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaGraph_t child) {
  return call([&] {
    add(node,
        graph,
        dependencies,
        count,
        ChildGraphWork{resolve_graph(child)->clone()});
  });
}

cudaError_t cudaGraphAddEventRecordNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaEvent_t event) {
  return call([&] {
    add(node,
        graph,
        dependencies,
        count,
        EventRecordWork{machine().events().get(event)});
  });
}

cudaError_t cudaGraphAddEventWaitNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaEvent_t event) {
  return call([&] {
    add(node,
        graph,
        dependencies,
        count,
        EventWaitWork{machine().events().get(event)});
  });
}

cudaError_t cudaGraphAddMemAllocNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaMemAllocNodeParams* parameters) {
  return call([&] {
    require(parameters != nullptr && parameters->bytesize > 0);
    auto pool =
        machine().device(parameters->poolProps.location.id).default_pool;
    auto memory =
        std::make_shared<GraphMemory>(std::move(pool), parameters->bytesize);
    parameters->dptr = memory->address();
    add(node, graph, dependencies, count, AllocationWork{std::move(memory)});
  });
}

cudaError_t cudaGraphAddMemFreeNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    void* memory) {
  return call([&] {
    require(memory != nullptr);
    add(node, graph, dependencies, count, FreeWork{memory});
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(
    cudaGraphNode_t node,
    cudaMemAllocNodeParams* parameters) {
  return call([&] {
    require(parameters != nullptr);
    const auto& memory = *parts<AllocationWork>(resolve_node(node)).memory;
    *parameters = {};
    parameters->poolProps.allocType = cudaMemAllocationTypePinned;
    parameters->poolProps.location = {
        cudaMemLocationTypeDevice, memory.pool().device().ordinal()};
    parameters->bytesize = memory.bytes();
    parameters->dptr = memory.address();
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* memory) {
  return call([&] {
    require(memory != nullptr);
    *static_cast<void**>(memory) = parts<FreeWork>(resolve_node(node)).memory;
  });
}

cudaError_t cudaGraphAddDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    size_t count) {
  return call([&] {
    const auto target = resolve_graph(graph);
    const auto before = nodes_of(from, count);
    const auto after = nodes_of(to, count);
    for (std::size_t i = 0; i < count; ++i) {
      target->add_dependency(*before[i], *after[i]);
    }
  });
}

cudaError_t cudaGraphRemoveDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    size_t count) {
  return call([&] {
    const auto target = resolve_graph(graph);
    const auto before = nodes_of(from, count);
    const auto after = nodes_of(to, count);
    for (std::size_t i = 0; i < count; ++i) {
      target->remove_dependency(*before[i], *after[i]);
    }
  });
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

cudaError_t cudaGraphChildGraphNodeGetGraph(
    cudaGraphNode_t node,
    cudaGraph_t* graph) {
  return call([&] {
    const auto& child = parts<ChildGraphWork>(resolve_node(node)).graph;
    if (!machine().graphs().contains(child.get())) {
      machine().graphs().add(child);
    }
    store(graph, reinterpret_cast<cudaGraph_t>(child.get()));
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(
    cudaGraphNode_t node,
    cudaEvent_t* event) {
  return call([&] {
    const auto& held = parts<EventRecordWork>(resolve_node(node)).event;
    store(event, reinterpret_cast<cudaEvent_t>(held.get()));
  });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(
    cudaGraphNode_t node,
    cudaEvent_t* event) {
  return call([&] {
    const auto& held = parts<EventWaitWork>(resolve_node(node)).event;
    store(event, reinterpret_cast<cudaEvent_t>(held.get()));
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

cudaError_t cudaGraphExecChildGraphNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaGraph_t child) {
  return call([&] {
    resolve_exec(exec)->set_work(
        resolve_node(node), ChildGraphWork{resolve_graph(child)->clone()});
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaKernelNodeParams* parameters) {
  return call([&] {
    const auto target = resolve_exec(exec);
    Node& changed = resolve_node(node);
    const auto* before = std::get_if<KernelWork>(&target->work(changed));
    require(before != nullptr);
    target->set_work(changed, kernel_work(parameters, before->cooperative));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaMemcpy3DParms* parameters) {
  return call([&] {
    resolve_exec(exec)->set_work(resolve_node(node), copy_work(parameters));
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind) {
  return call([&] {
    resolve_exec(exec)->set_work(
        resolve_node(node), copy_work(to, from, bytes, kind));
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaMemsetParams* parameters) {
  return call([&] {
    resolve_exec(exec)->set_work(resolve_node(node), fill_work(parameters));
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaHostNodeParams* parameters) {
  return call([&] {
    resolve_exec(exec)->set_work(resolve_node(node), host_work(parameters));
  });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaEvent_t event) {
  return call([&] {
    resolve_exec(exec)->set_work(
        resolve_node(node), EventRecordWork{machine().events().get(event)});
  });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaEvent_t event) {
  return call([&] {
    resolve_exec(exec)->set_work(
        resolve_node(node), EventWaitWork{machine().events().get(event)});
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

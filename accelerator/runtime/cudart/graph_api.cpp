// Graphs: instantiation and launch. What nodes do is in
// node_parameters_api.cpp, dependencies are in graph_edges_api.cpp.
// Source: CUDA runtime API, graph management.
#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/operations/graph_handles.h"
#include "accelerator/runtime/core/operations/graphs.h"
#include "accelerator/runtime/cudart/call.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using namespace accelerator::cudart;

API_FUNCTION(2, cudaGraphCreate, graph_create)
API_FUNCTION(1, cudaGraphDestroy, graph_destroy)
API_FUNCTION(2, cudaGraphClone, graph_clone)
API_FUNCTION(3, cudaGraphGetNodes, graph_get_nodes)
API_FUNCTION(3, cudaGraphInstantiateWithFlags, graph_instantiate_with_flags)
API_FUNCTION(3, cudaGraphInstantiate, graph_instantiate_with_flags)
API_FUNCTION(3, cudaGraphInstantiateWithParams, graph_instantiate_with_params)
API_FUNCTION(3, cudaGraphExecUpdate, graph_exec_update)
API_FUNCTION(1, cudaGraphExecDestroy, graph_exec_destroy)
API_FUNCTION(2, cudaGraphLaunch, graph_launch)
API_FUNCTION(2, cudaGraphUpload, graph_upload)
API_FUNCTION(5, cudaUserObjectCreate, user_object_create)
API_FUNCTION(2, cudaUserObjectRetain, user_object_retain)
API_FUNCTION(2, cudaUserObjectRelease, user_object_release)
API_FUNCTION(4, cudaGraphRetainUserObject, graph_retain_user_object)
API_FUNCTION(3, cudaGraphReleaseUserObject, graph_release_user_object)
API_FUNCTION(3, cudaGraphDebugDotPrint, graph_debug_dot_print)

extern "C" {

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

cudaError_t cudaGraphGetRootNodes(
    cudaGraph_t graph,
    cudaGraphNode_t* list,
    size_t* count) {
  return call([&] { hand_out(resolve_graph(graph)->roots(), list, count); });
}

cudaError_t cudaGraphNodeGetType(
    cudaGraphNode_t node,
    cudaGraphNodeType* type) {
  return call([&] { store(type, type_of(resolve_node(node).work())); });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return call([&] {
    Node& node = resolve_node(handle);
    require_not_captured_into(node.graph());
    node.graph().remove(node);
  });
}

cudaError_t cudaGraphExecGetFlags(
    cudaGraphExec_t exec,
    unsigned long long* flags) {
  return call([&] { store(flags, resolve_exec(exec)->flags()); });
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

} // extern "C"

// Graphs: their nodes and dependencies, instantiation and launch. What nodes do
// is in node_parameters_api.cpp.
// Source: CUDA runtime API, graph management.
#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/versions.h"
#include "runtime/core/operations/graphs.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using namespace accelerator::cudart;

API_FUNCTION(2, cudaGraphCreate, graph_create)
API_FUNCTION(1, cudaGraphDestroy, graph_destroy)
API_FUNCTION(2, cudaGraphClone, graph_clone)
API_FUNCTION(3, cudaGraphNodeFindInClone, graph_node_find_in_clone)
API_FUNCTION(3, cudaGraphGetNodes, graph_get_nodes)
API_FUNCTION(3, cudaGraphGetRootNodes, graph_get_root_nodes)
API_FUNCTION(2, cudaGraphNodeGetType, graph_node_get_type)
API_FUNCTION(1, cudaGraphDestroyNode, graph_destroy_node)
API_FUNCTION(3, cudaGraphInstantiateWithFlags, graph_instantiate_with_flags)
API_FUNCTION(3, cudaGraphInstantiate, graph_instantiate_with_flags)
API_FUNCTION(3, cudaGraphInstantiateWithParams, graph_instantiate_with_params)
API_FUNCTION(3, cudaGraphExecUpdate, graph_exec_update)
API_FUNCTION(1, cudaGraphExecDestroy, graph_exec_destroy)
API_FUNCTION(2, cudaGraphExecGetFlags, graph_exec_get_flags)
API_FUNCTION(3, cudaGraphNodeSetEnabled, graph_node_set_enabled)
API_FUNCTION(3, cudaGraphNodeGetEnabled, graph_node_get_enabled)
API_FUNCTION(2, cudaGraphLaunch, graph_launch)
API_FUNCTION(2, cudaGraphUpload, graph_upload)
API_FUNCTION(5, cudaUserObjectCreate, user_object_create)
API_FUNCTION(2, cudaUserObjectRetain, user_object_retain)
API_FUNCTION(2, cudaUserObjectRelease, user_object_release)
API_FUNCTION(4, cudaGraphRetainUserObject, graph_retain_user_object)
API_FUNCTION(3, cudaGraphReleaseUserObject, graph_release_user_object)
API_FUNCTION(3, cudaGraphDebugDotPrint, graph_debug_dot_print)

API_FUNCTION(5, ACCEL_SECOND(cudaGraphAddDependencies), graph_add_dependencies)
API_FUNCTION(
    5,
    ACCEL_SECOND(cudaGraphRemoveDependencies),
    graph_remove_dependencies)
API_FUNCTION(5, ACCEL_SECOND(cudaGraphGetEdges), graph_get_edges)
API_FUNCTION(
    4,
    ACCEL_SECOND(cudaGraphNodeGetDependencies),
    graph_node_get_dependencies)
API_FUNCTION(
    4,
    ACCEL_SECOND(cudaGraphNodeGetDependentNodes),
    graph_node_get_dependent_nodes)

#if CUDART_VERSION >= 13000
API_FUNCTION(2, cudaGraphGetId, graph_get_id)
API_FUNCTION(2, cudaGraphExecGetId, graph_exec_get_id)
API_FUNCTION(
    2,
    cudaGraphNodeGetContainingGraph,
    graph_node_get_containing_graph)
API_FUNCTION(2, cudaGraphNodeGetLocalId, graph_node_get_local_id)
API_FUNCTION(2, cudaGraphNodeGetToolsId, graph_node_get_tools_id)
#endif

extern "C" {

cudaError_t cudaGraphConditionalHandleCreate(
    cudaGraphConditionalHandle* handle,
    cudaGraph_t graph,
    unsigned initial,
    unsigned flags) {
  return call([&] {
    graph_conditional_handle_create(
        handle, graph, current_device().ordinal(), initial, flags);
  });
}

#if CUDART_VERSION >= 13000

// There are no contexts but the devices' own here.
cudaError_t cudaGraphConditionalHandleCreate_v2(
    cudaGraphConditionalHandle* handle,
    cudaGraph_t graph,
    cudaExecutionContext_t context,
    unsigned initial,
    unsigned flags) {
  return call([&] {
    require(context == nullptr, cudaErrorNotSupported);
    graph_conditional_handle_create(
        handle, graph, current_device().ordinal(), initial, flags);
  });
}

#else // the forms without edge data

cudaError_t cudaGraphAddDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    size_t count) {
  return call([&] { graph_add_dependencies(graph, from, to, nullptr, count); });
}

cudaError_t cudaGraphRemoveDependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    size_t count) {
  return call(
      [&] { graph_remove_dependencies(graph, from, to, nullptr, count); });
}

cudaError_t cudaGraphGetEdges(
    cudaGraph_t graph,
    cudaGraphNode_t* from,
    cudaGraphNode_t* to,
    size_t* count) {
  return call([&] { graph_get_edges(graph, from, to, nullptr, count); });
}

cudaError_t cudaGraphNodeGetDependencies(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    size_t* count) {
  return call([&] { graph_node_get_dependencies(node, list, nullptr, count); });
}

cudaError_t cudaGraphNodeGetDependentNodes(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    size_t* count) {
  return call(
      [&] { graph_node_get_dependent_nodes(node, list, nullptr, count); });
}

#endif

} // extern "C"

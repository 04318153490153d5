// Graphs: their nodes and dependencies, capture into them, instantiation and
// launch. What nodes do is in graph_nodes_api.cpp.
// Source: CUDA driver API, graph management.
#include "runtime/core/operations/graphs.h"

#include "runtime/api/driver/graph_node_work.h"
#include "runtime/api/driver/perform.h"
#include "runtime/core/operations/pools.h"
#include "runtime/core/operations/streams.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::driver::call;
using accelerator::driver::perform;

API_FUNCTION(2, cuGraphCreate, graph_create)
API_FUNCTION(1, cuGraphDestroy, graph_destroy)
API_FUNCTION(2, cuGraphClone, graph_clone)
API_FUNCTION(3, cuGraphNodeFindInClone, graph_node_find_in_clone)
API_FUNCTION(3, cuGraphGetNodes, graph_get_nodes)
API_FUNCTION(3, cuGraphGetRootNodes, graph_get_root_nodes)
API_FUNCTION(2, cuGraphNodeGetType, graph_node_get_type)
API_FUNCTION(1, cuGraphDestroyNode, graph_destroy_node)
API_FUNCTION(3, cuGraphDebugDotPrint, graph_debug_dot_print)
API_FUNCTION(3, cuGraphInstantiateWithFlags, graph_instantiate_with_flags)
API_FUNCTION(3, cuGraphInstantiateWithParams, graph_instantiate_with_params)
API_FUNCTION(3, cuGraphExecUpdate, graph_exec_update)
API_FUNCTION(1, cuGraphExecDestroy, graph_exec_destroy)
API_FUNCTION(2, cuGraphExecGetFlags, graph_exec_get_flags)
API_FUNCTION(3, cuGraphNodeSetEnabled, graph_node_set_enabled)
API_FUNCTION(3, cuGraphNodeGetEnabled, graph_node_get_enabled)
API_FUNCTION(2, cuGraphLaunch, graph_launch)
API_FUNCTION(2, cuGraphUpload, graph_upload)
API_FUNCTION(5, cuUserObjectCreate, user_object_create)
API_FUNCTION(2, cuUserObjectRetain, user_object_retain)
API_FUNCTION(2, cuUserObjectRelease, user_object_release)
API_FUNCTION(4, cuGraphRetainUserObject, graph_retain_user_object)
API_FUNCTION(3, cuGraphReleaseUserObject, graph_release_user_object)

API_FUNCTION(5, cuGraphAddDependencies_v2, graph_add_dependencies)
API_FUNCTION(5, cuGraphRemoveDependencies_v2, graph_remove_dependencies)
API_FUNCTION(5, cuGraphGetEdges_v2, graph_get_edges)
API_FUNCTION(4, cuGraphNodeGetDependencies_v2, graph_node_get_dependencies)
API_FUNCTION(4, cuGraphNodeGetDependentNodes_v2, graph_node_get_dependent_nodes)
API_FUNCTION(6, cuStreamBeginCaptureToGraph, stream_begin_capture_to_graph)
API_FUNCTION(
    5,
    cuStreamUpdateCaptureDependencies_v2,
    stream_update_capture_dependencies)

API_FUNCTION(3, cuDeviceGetGraphMemAttribute, device_get_graph_mem_attribute)
API_FUNCTION(3, cuDeviceSetGraphMemAttribute, device_set_graph_mem_attribute)
API_FUNCTION(1, cuDeviceGraphMemTrim, device_graph_mem_trim)

extern "C" {

CUresult cuGraphConditionalHandleCreate(
    CUgraphConditionalHandle* handle,
    CUgraph graph,
    CUcontext context,
    unsigned initial,
    unsigned flags) {
  return call([&] {
    unsigned long long made = 0;
    graph_conditional_handle_create(
        &made,
        graph,
        accelerator::driver::device_for(context).ordinal(),
        initial,
        flags);
    store(handle, made);
  });
}

// The forms without edge data, which CUDA 13's header no longer has.

CUresult cuGraphAddDependencies(
    CUgraph graph,
    const CUgraphNode* from,
    const CUgraphNode* to,
    size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphRemoveDependencies(
    CUgraph graph,
    const CUgraphNode* from,
    const CUgraphNode* to,
    size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphGetEdges(
    CUgraph graph,
    CUgraphNode* from,
    CUgraphNode* to,
    size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphNodeGetDependencies(
    CUgraphNode node,
    CUgraphNode* list,
    size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, list, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes(
    CUgraphNode node,
    CUgraphNode* list,
    size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, list, nullptr, count);
}

CUresult cuStreamUpdateCaptureDependencies(
    CUstream stream,
    CUgraphNode* dependencies,
    size_t count,
    unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(
      stream, dependencies, nullptr, count, flags);
}

// What came with CUDA 13, which the header does not declare.

CUresult cuGraphGetId(CUgraph graph, unsigned* id) {
  return perform(__func__, graph_get_id, graph, id);
}

CUresult cuGraphExecGetId(CUgraphExec exec, unsigned* id) {
  return perform(__func__, graph_exec_get_id, exec, id);
}

CUresult cuGraphNodeGetContainingGraph(CUgraphNode node, CUgraph* graph) {
  return perform(__func__, graph_node_get_containing_graph, node, graph);
}

CUresult cuGraphNodeGetLocalId(CUgraphNode node, unsigned* id) {
  return perform(__func__, graph_node_get_local_id, node, id);
}

CUresult cuGraphNodeGetToolsId(CUgraphNode node, unsigned long long* id) {
  return perform(__func__, graph_node_get_tools_id, node, id);
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

CUresult cuGraphInstantiate_v2(
    CUgraphExec* exec,
    CUgraph graph,
    CUgraphNode* error_node,
    char* log,
    size_t log_size) {
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  const CUresult status =
      cuGraphInstantiateWithParams(exec, graph, &parameters);
  if (error_node != nullptr) {
    *error_node = parameters.hErrNode_out;
  }
  if (log != nullptr && log_size > 0) {
    *log = '\0';
  }
  return status;
}

#undef cuGraphInstantiate
CUresult cuGraphInstantiate(
    CUgraphExec* exec,
    CUgraph graph,
    CUgraphNode* error_node,
    char* log,
    size_t log_size) {
  return cuGraphInstantiate_v2(exec, graph, error_node, log, log_size);
}

} // extern "C"

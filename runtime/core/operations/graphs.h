// Graphs, what is launched of them, and what they keep alive. Each function is
// what the ones of that name in CUDA's runtime and driver do; it throws a
// Failure with the status that they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace accelerator::runtime::operations {

void graph_create(cudaGraph_t* graph, unsigned flags);
void graph_destroy(cudaGraph_t graph);
void graph_clone(cudaGraph_t* clone, cudaGraph_t original);
void graph_get_id(cudaGraph_t graph, unsigned* id);
void graph_get_nodes(cudaGraph_t graph, cudaGraphNode_t* list, size_t* count);
void graph_get_root_nodes(
    cudaGraph_t graph,
    cudaGraphNode_t* list,
    size_t* count);
void graph_node_find_in_clone(
    cudaGraphNode_t* node,
    cudaGraphNode_t original,
    cudaGraph_t clone);
void graph_node_get_type(cudaGraphNode_t node, cudaGraphNodeType* type);
void graph_node_get_containing_graph(cudaGraphNode_t node, cudaGraph_t* graph);
void graph_node_get_local_id(cudaGraphNode_t node, unsigned* id);
void graph_node_get_tools_id(cudaGraphNode_t node, unsigned long long* id);
void graph_destroy_node(cudaGraphNode_t node);

/// Dependencies, with edge data, which may be null.
void graph_add_dependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    size_t count);
void graph_remove_dependencies(
    cudaGraph_t graph,
    const cudaGraphNode_t* from,
    const cudaGraphNode_t* to,
    const cudaGraphEdgeData* data,
    size_t count);
void graph_get_edges(
    cudaGraph_t graph,
    cudaGraphNode_t* from,
    cudaGraphNode_t* to,
    cudaGraphEdgeData* data,
    size_t* count);
void graph_node_get_dependencies(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    size_t* count);
void graph_node_get_dependent_nodes(
    cudaGraphNode_t node,
    cudaGraphNode_t* list,
    cudaGraphEdgeData* data,
    size_t* count);

void graph_conditional_handle_create(
    cudaGraphConditionalHandle* handle,
    cudaGraph_t graph,
    int device,
    unsigned initial,
    unsigned flags);

void graph_instantiate_with_flags(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    unsigned long long flags);
void graph_instantiate_with_params(
    cudaGraphExec_t* exec,
    cudaGraph_t graph,
    cudaGraphInstantiateParams* parameters);
void graph_exec_update(
    cudaGraphExec_t exec,
    cudaGraph_t graph,
    cudaGraphExecUpdateResultInfo* result);
void graph_exec_destroy(cudaGraphExec_t exec);
void graph_exec_get_id(cudaGraphExec_t exec, unsigned* id);
void graph_exec_get_flags(cudaGraphExec_t exec, unsigned long long* flags);
void graph_node_set_enabled(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    unsigned enabled);
void graph_node_get_enabled(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    unsigned* enabled);
void graph_launch(cudaGraphExec_t exec, cudaStream_t handle);
void graph_upload(cudaGraphExec_t exec, cudaStream_t stream);
void user_object_create(
    cudaUserObject_t* handle,
    void* object,
    cudaHostFn_t destroy,
    unsigned references,
    unsigned flags);
void user_object_retain(cudaUserObject_t object, unsigned count);
void user_object_release(cudaUserObject_t object, unsigned count);
void graph_retain_user_object(
    cudaGraph_t graph,
    cudaUserObject_t handle,
    unsigned count,
    unsigned flags);
void graph_release_user_object(
    cudaGraph_t graph,
    cudaUserObject_t handle,
    unsigned count);
void graph_debug_dot_print(cudaGraph_t graph, const char* path, unsigned);

} // namespace accelerator::runtime::operations

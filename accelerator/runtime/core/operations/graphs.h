// Graphs, what is launched of them, and what they keep alive. Each function is
// what the ones of that name in CUDA's runtime and driver do; it throws a
// Failure with the status that they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <vector>

namespace accelerator::runtime {

class Node;

} // namespace accelerator::runtime

namespace accelerator::runtime::operations {

/// The two-step way of CUDA to hand out a list: its length, then its elements;
/// what is beyond the end is null.
void hand_out(
    const std::vector<Node*>& nodes,
    cudaGraphNode_t* list,
    size_t* count);

void graph_create(cudaGraph_t* graph, unsigned flags);
void graph_destroy(cudaGraph_t graph);
void graph_clone(cudaGraph_t* clone, cudaGraph_t original);
void graph_get_nodes(cudaGraph_t graph, cudaGraphNode_t* list, size_t* count);
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

// Nodes of graphs: added, and what they do, read and changed. Each function is
// what the ones of that name in CUDA's runtime and driver do; it throws a
// Failure with the status that they answer. Where the two give a node's
// parameters in forms of their own, they make its work of them first.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <memory>

#include "runtime/core/graphs/work.h"

namespace accelerator::runtime {

class Device;

} // namespace accelerator::runtime

namespace accelerator::runtime::operations {

/// The work of a kernel node.
/// @param work with the kernel, its grid and what it is named by.
/// @throws Failure: what a launch with these parameters would answer.
KernelWork kernel_work(
    Device& device,
    KernelWork work,
    void** arguments,
    void** extra);
/// The work of a copy that has been described.
CopyWork copy_work(CopyWork work);
FillWork fill_work(const cudaMemsetParams* parameters);
HostWork host_work(const cudaHostNodeParams* parameters);
ChildGraphWork child_graph_work(cudaGraph_t child);
/// @param ownership whether the graph is cloned (0) or becomes the node's (1).
ChildGraphWork child_graph_work(cudaGraph_t child, int ownership);
EventRecordWork event_record_work(cudaEvent_t event);
EventWaitWork event_wait_work(cudaEvent_t event);
/// @param parameters are told the address.
AllocationWork allocation_work(cudaMemAllocNodeParams* parameters);
FreeWork free_work(void* memory);
/// @param bodies is told where the graphs of the bodies are.
ConditionalWork conditional_work(
    cudaGraphConditionalHandle handle,
    cudaGraphConditionalNodeType type,
    unsigned size,
    cudaGraph_t** bodies);

/// Adds a node.
/// @param device that it runs on; null: what the work brings with it, or the
/// thread's.
/// @param data of the edges from the dependencies; null: they are ordinary.
void add_work(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    Work work,
    Device* device = nullptr,
    const cudaGraphEdgeData* data = nullptr);
/// Gives a node, or the one that was made of it, other work of its kind. The
/// attributes of a kernel node stay.
void set_work(cudaGraphNode_t node, Work work);
void set_exec_work(cudaGraphExec_t exec, cudaGraphNode_t node, Work work);

void graph_add_empty_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count);
void graph_add_host_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    const cudaHostNodeParams* parameters);
void graph_add_child_graph_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaGraph_t child);
void graph_add_event_record_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaEvent_t event);
void graph_add_event_wait_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaEvent_t event);
void graph_add_mem_alloc_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaMemAllocNodeParams* parameters);
void graph_add_mem_free_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    void* memory);

void graph_memset_node_set_params(
    cudaGraphNode_t node,
    const cudaMemsetParams* parameters);
void graph_host_node_set_params(
    cudaGraphNode_t node,
    const cudaHostNodeParams* parameters);
void graph_event_record_node_set_event(cudaGraphNode_t node, cudaEvent_t event);
void graph_event_wait_node_set_event(cudaGraphNode_t node, cudaEvent_t event);
void graph_exec_host_node_set_params(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaHostNodeParams* parameters);
void graph_exec_child_graph_node_set_params(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaGraph_t child);
void graph_exec_event_record_node_set_event(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaEvent_t event);
void graph_exec_event_wait_node_set_event(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaEvent_t event);

void graph_memset_node_get_params(
    cudaGraphNode_t node,
    cudaMemsetParams* parameters);
void graph_host_node_get_params(
    cudaGraphNode_t node,
    cudaHostNodeParams* parameters);
void graph_child_graph_node_get_graph(cudaGraphNode_t node, cudaGraph_t* graph);
void graph_event_record_node_get_event(
    cudaGraphNode_t node,
    cudaEvent_t* event);
void graph_event_wait_node_get_event(cudaGraphNode_t node, cudaEvent_t* event);
void graph_mem_alloc_node_get_params(
    cudaGraphNode_t node,
    cudaMemAllocNodeParams* parameters);
void graph_mem_free_node_get_params(cudaGraphNode_t node, void* memory);

void graph_kernel_node_copy_attributes(
    cudaGraphNode_t to,
    cudaGraphNode_t from);
void graph_kernel_node_get_attribute(
    cudaGraphNode_t node,
    cudaLaunchAttributeID id,
    cudaLaunchAttributeValue* value);
void graph_kernel_node_set_attribute(
    cudaGraphNode_t node,
    cudaLaunchAttributeID id,
    const cudaLaunchAttributeValue* value);

} // namespace accelerator::runtime::operations

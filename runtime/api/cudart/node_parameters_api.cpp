// Nodes of graphs: added, and their parameters, read and changed, with
// functions for each kind of node.
// Source: CUDA runtime API, graph management.
#include <cuda_runtime_api.h>

#include <utility>
#include <variant>

#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/node_work.h"
#include "runtime/api/cudart/registry.h"
#include "runtime/api/cudart/versions.h"
#include "runtime/core/arrays/array_copy.h"
#include "runtime/core/operations/graph_handles.h"
#include "runtime/core/operations/graph_nodes.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;

namespace accelerator::cudart {

KernelWork kernel_work(Device& device, const cudaKernelNodeParams* parameters) {
  require(parameters != nullptr);
  KernelWork work;
  work.function = find_function(parameters->func);
  work.grid = {
      parameters->gridDim.x, parameters->gridDim.y, parameters->gridDim.z};
  work.block = {
      parameters->blockDim.x, parameters->blockDim.y, parameters->blockDim.z};
  work.shared_bytes = parameters->sharedMemBytes;
  work.symbol = parameters->func;
  return operations::kernel_work(
      device, std::move(work), parameters->kernelParams, parameters->extra);
}

CopyWork copy_work(const cudaMemcpy3DParms* parameters) {
  require(parameters != nullptr);
  return operations::copy_work(box_copy(*parameters));
}

cudaKernelNodeParams kernel_parameters(cudaGraphNode_t node) {
  const KernelWork& work = parts<KernelWork>(resolve_node(node));
  cudaKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(work.symbol);
  parameters.gridDim = dim3(work.grid.x, work.grid.y, work.grid.z);
  parameters.blockDim = dim3(work.block.x, work.block.y, work.block.z);
  parameters.sharedMemBytes = static_cast<unsigned>(work.shared_bytes);
  parameters.kernelParams = resolve_node(node).parameter_pointers();
  return parameters;
}

cudaMemcpy3DParms copy_of(cudaGraphNode_t node) {
  return parameters_of(parts<CopyWork>(resolve_node(node)));
}

namespace {

CopyWork linear(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind) {
  return operations::copy_work(linear_copy(to, from, bytes, kind));
}

// A part of a variable.
char* part_of(const void* symbol, std::size_t bytes, std::size_t offset) {
  const Symbol& variable = find_variable(symbol);
  require(offset <= variable.size && bytes <= variable.size - offset);
  return reinterpret_cast<char*>(variable.address) + offset;
}

} // namespace
} // namespace accelerator::cudart

using namespace accelerator::cudart;

API_FUNCTION(4, cudaGraphAddEmptyNode, graph_add_empty_node)
API_FUNCTION(5, cudaGraphAddHostNode, graph_add_host_node)
API_FUNCTION(5, cudaGraphAddChildGraphNode, graph_add_child_graph_node)
API_FUNCTION(5, cudaGraphAddEventRecordNode, graph_add_event_record_node)
API_FUNCTION(5, cudaGraphAddEventWaitNode, graph_add_event_wait_node)
API_FUNCTION(5, cudaGraphAddMemAllocNode, graph_add_mem_alloc_node)
API_FUNCTION(5, cudaGraphAddMemFreeNode, graph_add_mem_free_node)

API_FUNCTION(2, cudaGraphMemsetNodeSetParams, graph_memset_node_set_params)
API_FUNCTION(2, cudaGraphHostNodeSetParams, graph_host_node_set_params)
API_FUNCTION(
    2,
    cudaGraphEventRecordNodeSetEvent,
    graph_event_record_node_set_event)
API_FUNCTION(2, cudaGraphEventWaitNodeSetEvent, graph_event_wait_node_set_event)
API_FUNCTION(3, cudaGraphExecHostNodeSetParams, graph_exec_host_node_set_params)
API_FUNCTION(
    3,
    cudaGraphExecChildGraphNodeSetParams,
    graph_exec_child_graph_node_set_params)
API_FUNCTION(
    3,
    cudaGraphExecEventRecordNodeSetEvent,
    graph_exec_event_record_node_set_event)
API_FUNCTION(
    3,
    cudaGraphExecEventWaitNodeSetEvent,
    graph_exec_event_wait_node_set_event)

API_FUNCTION(2, cudaGraphMemsetNodeGetParams, graph_memset_node_get_params)
API_FUNCTION(2, cudaGraphHostNodeGetParams, graph_host_node_get_params)
API_FUNCTION(
    2,
    cudaGraphChildGraphNodeGetGraph,
    graph_child_graph_node_get_graph)
API_FUNCTION(
    2,
    cudaGraphEventRecordNodeGetEvent,
    graph_event_record_node_get_event)
API_FUNCTION(2, cudaGraphEventWaitNodeGetEvent, graph_event_wait_node_get_event)
API_FUNCTION(2, cudaGraphMemAllocNodeGetParams, graph_mem_alloc_node_get_params)
API_FUNCTION(2, cudaGraphMemFreeNodeGetParams, graph_mem_free_node_get_params)
API_FUNCTION(
    3,
    cudaGraphKernelNodeGetAttribute,
    graph_kernel_node_get_attribute)
API_FUNCTION(
    3,
    cudaGraphKernelNodeSetAttribute,
    graph_kernel_node_set_attribute)
#if CUDART_VERSION >= 13000
API_FUNCTION(
    2,
    cudaGraphKernelNodeCopyAttributes,
    graph_kernel_node_copy_attributes)
#endif

extern "C" {

// Nodes whose parameters the driver takes in another form. What all functions
// need of a node's place comes first.
#define ACCEL_PLACE                         \
  cudaGraphNode_t *node, cudaGraph_t graph, \
      const cudaGraphNode_t *dependencies, size_t count

cudaError_t cudaGraphAddMemsetNode(
    ACCEL_PLACE,
    const cudaMemsetParams* parameters) {
  return call([&] {
    add_work(
        node,
        graph,
        dependencies,
        count,
        fill_work(parameters),
        &current_device());
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaMemsetParams* parameters) {
  return call([&] { set_exec_work(exec, node, fill_work(parameters)); });
}

cudaError_t cudaGraphAddKernelNode(
    ACCEL_PLACE,
    const cudaKernelNodeParams* parameters) {
  return call([&] {
    Device& device = current_device();
    add_work(
        node,
        graph,
        dependencies,
        count,
        kernel_work(device, parameters),
        &device);
  });
}

cudaError_t cudaGraphKernelNodeSetParams(
    cudaGraphNode_t node,
    const cudaKernelNodeParams* parameters) {
  return call([&] {
    set_work(node, kernel_work(resolve_node(node).device(), parameters));
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaKernelNodeParams* parameters) {
  return call([&] {
    set_exec_work(
        exec, node, kernel_work(resolve_node(node).device(), parameters));
  });
}

// Copies are described in several ways.
//   suffix: how the functions end.
//   work: what the node does, from the parameters, which come last.
#define ACCEL_COPIES(suffix, work, ...)                                    \
  cudaError_t cudaGraphAddMemcpyNode##suffix(ACCEL_PLACE, __VA_ARGS__) {   \
    return call([&] {                                                      \
      add_work(node, graph, dependencies, count, work, &current_device()); \
    });                                                                    \
  }                                                                        \
  cudaError_t cudaGraphMemcpyNodeSetParams##suffix(                        \
      cudaGraphNode_t node, __VA_ARGS__) {                                 \
    return call([&] { set_work(node, work); });                            \
  }                                                                        \
  cudaError_t cudaGraphExecMemcpyNodeSetParams##suffix(                    \
      cudaGraphExec_t exec, cudaGraphNode_t node, __VA_ARGS__) {           \
    return call([&] { set_exec_work(exec, node, work); });                 \
  }

ACCEL_COPIES(, copy_work(parameters), const cudaMemcpy3DParms* parameters)
ACCEL_COPIES(
    1D,
    linear(to, from, bytes, kind),
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind)
ACCEL_COPIES(
    FromSymbol,
    linear(to, part_of(symbol, bytes, offset), bytes, kind),
    void* to,
    const void* symbol,
    size_t bytes,
    size_t offset,
    cudaMemcpyKind kind)
ACCEL_COPIES(
    ToSymbol,
    linear(part_of(symbol, bytes, offset), from, bytes, kind),
    const void* symbol,
    const void* from,
    size_t bytes,
    size_t offset,
    cudaMemcpyKind kind)

#undef ACCEL_COPIES
#undef ACCEL_PLACE

cudaError_t cudaGraphKernelNodeGetParams(
    cudaGraphNode_t node,
    cudaKernelNodeParams* parameters) {
  return call([&] { store(parameters, kernel_parameters(node)); });
}

cudaError_t cudaGraphMemcpyNodeGetParams(
    cudaGraphNode_t node,
    cudaMemcpy3DParms* parameters) {
  return call([&] { store(parameters, copy_of(node)); });
}

#if CUDART_VERSION < 13000
// CUDA 13 has its parameters the other way round.
cudaError_t cudaGraphKernelNodeCopyAttributes(
    cudaGraphNode_t from,
    cudaGraphNode_t to) {
  return call([&] { graph_kernel_node_copy_attributes(to, from); });
}
#endif

} // extern "C"

// Adding a node of any kind with one function: each kind is added by its own.
// Nodes on conditions and with external semaphores are refused.
// Source: CUDA runtime API, graph management.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "accelerator/runtime/core/operations/graph_handles.h"
#include "accelerator/runtime/cudart/call.h"
#include "accelerator/runtime/cudart/graph_edges.h"
#include "accelerator/runtime/cudart/versions.h"

using namespace accelerator::runtime;
using namespace accelerator::cudart;

namespace {

/// Where the node is to be, as the functions of all kinds take it.
struct Place {
  cudaGraphNode_t* node;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  std::size_t count;
};

cudaError_t add_kernel(
    const Place& place,
    const cudaKernelNodeParamsV2& wanted) {
  cudaKernelNodeParams parameters{};
  parameters.func = wanted.func;
  parameters.gridDim = wanted.gridDim;
  parameters.blockDim = wanted.blockDim;
  parameters.sharedMemBytes = wanted.sharedMemBytes;
  parameters.kernelParams = wanted.kernelParams;
  parameters.extra = wanted.extra;
  return cudaGraphAddKernelNode(
      place.node, place.graph, place.dependencies, place.count, &parameters);
}

cudaError_t add_copy(const Place& place, const cudaMemcpyNodeParams& wanted) {
  require(wanted.flags == 0);
  return cudaGraphAddMemcpyNode(
      place.node,
      place.graph,
      place.dependencies,
      place.count,
      &wanted.copyParams);
}

cudaError_t add_fill(const Place& place, const cudaMemsetParamsV2& wanted) {
  const cudaMemsetParams parameters{
      wanted.dst,
      wanted.pitch,
      wanted.value,
      wanted.elementSize,
      wanted.width,
      wanted.height};
  return cudaGraphAddMemsetNode(
      place.node, place.graph, place.dependencies, place.count, &parameters);
}

cudaError_t add_host(const Place& place, const cudaHostNodeParamsV2& wanted) {
  const cudaHostNodeParams parameters{wanted.fn, wanted.userData};
  return cudaGraphAddHostNode(
      place.node, place.graph, place.dependencies, place.count, &parameters);
}

// A child is cloned. Since CUDA 12.9 it may be given away instead, which
// nothing here does: the word behind it says so.
cudaError_t add_child(const Place& place, const cudaGraphNodeParams& wanted) {
  require(wanted.reserved1[1] == 0, cudaErrorNotSupported);
  return cudaGraphAddChildGraphNode(
      place.node,
      place.graph,
      place.dependencies,
      place.count,
      wanted.graph.graph);
}

cudaError_t add_allocation(
    const Place& place,
    cudaMemAllocNodeParamsV2& wanted) {
  cudaMemAllocNodeParams parameters{};
  parameters.poolProps = wanted.poolProps;
  parameters.accessDescs = wanted.accessDescs;
  parameters.accessDescCount = wanted.accessDescCount;
  parameters.bytesize = wanted.bytesize;
  const cudaError_t status = cudaGraphAddMemAllocNode(
      place.node, place.graph, place.dependencies, place.count, &parameters);
  wanted.dptr = parameters.dptr;
  return status;
}

cudaError_t add(const Place& place, cudaGraphNodeParams& wanted) {
  const auto& [node, graph, dependencies, count] = place;
  switch (wanted.type) {
    case cudaGraphNodeTypeKernel:
      return add_kernel(place, wanted.kernel);
    case cudaGraphNodeTypeMemcpy:
      return add_copy(place, wanted.memcpy);
    case cudaGraphNodeTypeMemset:
      return add_fill(place, wanted.memset);
    case cudaGraphNodeTypeHost:
      return add_host(place, wanted.host);
    case cudaGraphNodeTypeGraph:
      return add_child(place, wanted);
    case cudaGraphNodeTypeEmpty:
      return cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphAddEventWaitNode(
          node, graph, dependencies, count, wanted.eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(
          node, graph, dependencies, count, wanted.eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
      return add_allocation(place, wanted.alloc);
    case cudaGraphNodeTypeMemFree:
      return cudaGraphAddMemFreeNode(
          node, graph, dependencies, count, wanted.free.dptr);
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
    case cudaGraphNodeTypeConditional:
      return cudaErrorNotSupported;
    default:
      return cudaErrorInvalidValue;
  }
}

void add_any(
    const Place& place,
    const cudaGraphEdgeData* data,
    cudaGraphNodeParams* wanted) {
  require(wanted != nullptr && wanted->reserved2 == 0);
  require(std::all_of(
      std::begin(wanted->reserved0), std::end(wanted->reserved0), [](int word) {
        return word == 0;
      }));
  require_ordinary(data, place.count);
  const cudaError_t status = add(place, *wanted);
  require(status == cudaSuccess, status);
}

} // namespace

extern "C" {

cudaError_t ACCEL_SECOND(cudaGraphAddNode)(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* data,
    size_t count,
    cudaGraphNodeParams* wanted) {
  return call(
      [&] { add_any({node, graph, dependencies, count}, data, wanted); });
}

#if CUDART_VERSION < 13000
cudaError_t cudaGraphAddNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaGraphNodeParams* wanted) {
  return call(
      [&] { add_any({node, graph, dependencies, count}, nullptr, wanted); });
}
#endif

} // extern "C"

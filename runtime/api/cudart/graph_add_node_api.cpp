// Nodes of any kind with one function: added, and their parameters, read and
// changed. Nodes with external semaphores are refused.
// Source: CUDA runtime API, graph management.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/node_work.h"
#include "runtime/api/cudart/versions.h"
#include "runtime/core/operations/graph_handles.h"
#include "runtime/core/operations/graph_nodes.h"
#include "runtime/core/operations/graphs.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using namespace accelerator::cudart;

namespace {

KernelWork kernel_work_of(
    Device& device,
    const cudaKernelNodeParamsV2& wanted) {
  cudaKernelNodeParams parameters{};
  parameters.func = wanted.func;
  parameters.gridDim = wanted.gridDim;
  parameters.blockDim = wanted.blockDim;
  parameters.sharedMemBytes = wanted.sharedMemBytes;
  parameters.kernelParams = wanted.kernelParams;
  parameters.extra = wanted.extra;
  return accelerator::cudart::kernel_work(device, &parameters);
}

FillWork fill_work_of(const cudaMemsetParamsV2& wanted) {
  const cudaMemsetParams parameters{
      wanted.dst,
      wanted.pitch,
      wanted.value,
      wanted.elementSize,
      wanted.width,
      wanted.height};
  return fill_work(&parameters);
}

HostWork host_work_of(const cudaHostNodeParamsV2& wanted) {
  const cudaHostNodeParams parameters{wanted.fn, wanted.userData};
  return host_work(&parameters);
}

AllocationWork allocation_work_of(cudaMemAllocNodeParamsV2& wanted) {
  cudaMemAllocNodeParams parameters{};
  parameters.poolProps = wanted.poolProps;
  parameters.accessDescs = wanted.accessDescs;
  parameters.accessDescCount = wanted.accessDescCount;
  parameters.bytesize = wanted.bytesize;
  AllocationWork work = allocation_work(&parameters);
  wanted.dptr = parameters.dptr;
  return work;
}

// Since CUDA 12.9 a child graph may be given away instead of being cloned,
// which the word behind it says.
int ownership(const cudaGraphNodeParams& parameters) {
  return static_cast<int>(parameters.reserved1[1]);
}

Work work_of(Device& device, cudaGraphNodeParams& wanted) {
  switch (wanted.type) {
    case cudaGraphNodeTypeKernel:
      return kernel_work_of(device, wanted.kernel);
    case cudaGraphNodeTypeMemcpy:
      require(wanted.memcpy.flags == 0);
      return accelerator::cudart::copy_work(&wanted.memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
      return fill_work_of(wanted.memset);
    case cudaGraphNodeTypeHost:
      return host_work_of(wanted.host);
    case cudaGraphNodeTypeGraph:
      return child_graph_work(wanted.graph.graph, ownership(wanted));
    case cudaGraphNodeTypeEmpty:
      return EmptyWork{};
    case cudaGraphNodeTypeWaitEvent:
      return event_wait_work(wanted.eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return event_record_work(wanted.eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
      return allocation_work_of(wanted.alloc);
    case cudaGraphNodeTypeMemFree:
      return free_work(wanted.free.dptr);
    case cudaGraphNodeTypeConditional:
      return conditional_work(
          wanted.conditional.handle,
          wanted.conditional.type,
          wanted.conditional.size,
          &wanted.conditional.phGraph_out);
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
      throw Failure(cudaErrorNotSupported);
    default:
      throw Failure(cudaErrorInvalidValue);
  }
}

void require_in_order(const cudaGraphNodeParams* wanted) {
  require(wanted != nullptr && wanted->reserved2 == 0);
  require(std::all_of(
      std::begin(wanted->reserved0), std::end(wanted->reserved0), [](int word) {
        return word == 0;
      }));
}

void add_any(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* data,
    std::size_t count,
    cudaGraphNodeParams* wanted) {
  require_in_order(wanted);
  Device& device = current_device();
  const bool here = wanted->type == cudaGraphNodeTypeKernel ||
      wanted->type == cudaGraphNodeTypeMemcpy ||
      wanted->type == cudaGraphNodeTypeMemset;
  add_work(
      node,
      graph,
      dependencies,
      count,
      work_of(device, *wanted),
      here ? &device : nullptr,
      data);
}

// What a node has for good cannot be given again.
Work other_work(cudaGraphNode_t node, cudaGraphNodeParams* wanted) {
  require_in_order(wanted);
  require(
      wanted->type != cudaGraphNodeTypeMemAlloc &&
          wanted->type != cudaGraphNodeTypeMemFree &&
          wanted->type != cudaGraphNodeTypeConditional,
      cudaErrorNotSupported);
  return work_of(resolve_node(node).device(), *wanted);
}

#if CUDART_VERSION >= 13000

// Of a node, as far as there is more to tell than its type.
void describe(cudaGraphNode_t node, cudaGraphNodeParams& told) {
  switch (told.type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams parameters = kernel_parameters(node);
      told.kernel.func = parameters.func;
      told.kernel.gridDim = parameters.gridDim;
      told.kernel.blockDim = parameters.blockDim;
      told.kernel.sharedMemBytes = parameters.sharedMemBytes;
      told.kernel.kernelParams = parameters.kernelParams;
      return;
    }
    case cudaGraphNodeTypeMemcpy:
      told.memcpy.copyParams = copy_of(node);
      return;
    case cudaGraphNodeTypeMemset: {
      cudaMemsetParams parameters{};
      graph_memset_node_get_params(node, &parameters);
      told.memset.dst = parameters.dst;
      told.memset.pitch = parameters.pitch;
      told.memset.value = parameters.value;
      told.memset.elementSize = parameters.elementSize;
      told.memset.width = parameters.width;
      told.memset.height = parameters.height;
      return;
    }
    case cudaGraphNodeTypeHost: {
      cudaHostNodeParams parameters{};
      graph_host_node_get_params(node, &parameters);
      told.host.fn = parameters.fn;
      told.host.userData = parameters.userData;
      return;
    }
    case cudaGraphNodeTypeGraph:
      graph_child_graph_node_get_graph(node, &told.graph.graph);
      return;
    case cudaGraphNodeTypeWaitEvent:
      graph_event_wait_node_get_event(node, &told.eventWait.event);
      return;
    case cudaGraphNodeTypeEventRecord:
      graph_event_record_node_get_event(node, &told.eventRecord.event);
      return;
    case cudaGraphNodeTypeMemAlloc: {
      cudaMemAllocNodeParams parameters{};
      graph_mem_alloc_node_get_params(node, &parameters);
      told.alloc.poolProps = parameters.poolProps;
      told.alloc.bytesize = parameters.bytesize;
      told.alloc.dptr = parameters.dptr;
      return;
    }
    case cudaGraphNodeTypeMemFree:
      graph_mem_free_node_get_params(node, &told.free.dptr);
      return;
    case cudaGraphNodeTypeConditional: {
      const auto& work = parts<ConditionalWork>(resolve_node(node));
      told.conditional.handle = reinterpret_cast<cudaGraphConditionalHandle>(
          work.condition->address());
      told.conditional.type = work.type;
      told.conditional.size =
          static_cast<unsigned>(work.bodies->handles.size());
      told.conditional.phGraph_out = work.bodies->handles.data();
      return;
    }
    default:
      return; // an empty node
  }
}

#endif

} // namespace

extern "C" {

cudaError_t ACCEL_SECOND(cudaGraphAddNode)(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData* data,
    size_t count,
    cudaGraphNodeParams* wanted) {
  return call([&] { add_any(node, graph, dependencies, data, count, wanted); });
}

#if CUDART_VERSION < 13000
cudaError_t cudaGraphAddNode(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaGraphNodeParams* wanted) {
  return call(
      [&] { add_any(node, graph, dependencies, nullptr, count, wanted); });
}
#endif

cudaError_t cudaGraphNodeSetParams(
    cudaGraphNode_t node,
    cudaGraphNodeParams* wanted) {
  return call([&] { set_work(node, other_work(node, wanted)); });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphNodeGetParams(
    cudaGraphNode_t node,
    cudaGraphNodeParams* told) {
  return call([&] {
    cudaGraphNodeParams found{};
    graph_node_get_type(node, &found.type);
    describe(node, found);
    store(told, found);
  });
}
#endif

cudaError_t cudaGraphExecNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaGraphNodeParams* wanted) {
  return call([&] { set_exec_work(exec, node, other_work(node, wanted)); });
}

} // extern "C"

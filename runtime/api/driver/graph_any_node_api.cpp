// Nodes of any kind with one function: added, and their parameters, read and
// changed. Nodes with external semaphores and with operations on memory are
// refused.
// Source: CUDA driver API, graph management.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "runtime/api/driver/graph_node_work.h"
#include "runtime/api/driver/perform.h"
#include "runtime/core/operations/graph_handles.h"
#include "runtime/core/operations/graph_nodes.h"
#include "runtime/core/operations/graphs.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using namespace accelerator::driver;

namespace {

// The older forms of parameters are how the newer ones begin.
template <typename Older, typename Newer>
Older beginning(const Newer& newer) {
  static_assert(sizeof(Older) <= sizeof(Newer));
  Older older{};
  std::memcpy(&older, &newer, sizeof(older));
  return older;
}

// Since CUDA 12.9 a child graph may be given away instead of being cloned,
// which the word behind it says.
int child_ownership(const CUgraphNodeParams& parameters) {
  return static_cast<int>(parameters.reserved1[1]);
}

// How the context of a kernel node is read that is given beside a function:
// since CUDA 13.4 it counts.
enum class FunctionContext : std::uint8_t { kIgnored, kTaken };

// Where the node is to be; null: where its work brings it.
Device* device_of(
    const CUgraphNodeParams& wanted,
    FunctionContext context = FunctionContext::kIgnored) {
  switch (wanted.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return &device_for(
          wanted.kernel.func == nullptr || context == FunctionContext::kTaken
              ? wanted.kernel.ctx
              : nullptr);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return &device_for(wanted.memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return &device_for(wanted.memset.ctx);
    default:
      return nullptr;
  }
}

Work allocation(CUDA_MEM_ALLOC_NODE_PARAMS_v2& wanted) {
  auto parameters = beginning<cudaMemAllocNodeParams>(wanted);
  AllocationWork work = allocation_work(&parameters);
  wanted.dptr = reinterpret_cast<CUdeviceptr>(parameters.dptr);
  return work;
}

Work conditional(CUDA_CONDITIONAL_NODE_PARAMS& wanted) {
  return conditional_work(
      wanted.handle,
      static_cast<cudaGraphConditionalNodeType>(wanted.type),
      wanted.size,
      &wanted.phGraph_out);
}

// @param device of kernels; others do not need it.
Work work_of(Device* device, CUgraphNodeParams& wanted) {
  switch (wanted.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const auto parameters =
          beginning<CUDA_KERNEL_NODE_PARAMS_v2>(wanted.kernel);
      return accelerator::driver::kernel_work(*device, &parameters);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      require(wanted.memcpy.flags == 0);
      return accelerator::driver::copy_work(&wanted.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto parameters = beginning<CUDA_MEMSET_NODE_PARAMS>(wanted.memset);
      return accelerator::driver::fill_work(&parameters);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const auto parameters = beginning<cudaHostNodeParams>(wanted.host);
      return host_work(&parameters);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return child_graph_work(wanted.graph.graph, child_ownership(wanted));
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return EmptyWork{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return event_wait_work(wanted.eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_record_work(wanted.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return allocation(wanted.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return free_work(pointer(wanted.free.dptr));
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return conditional(wanted.conditional);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      throw Failure(
          cudaErrorNotSupported,
          "graph nodes of type " + std::to_string(wanted.type) +
              " are not supported");
    default:
      throw Failure(cudaErrorInvalidValue);
  }
}

void require_in_order(const CUgraphNodeParams* wanted) {
  require(wanted != nullptr && wanted->reserved2 == 0);
  require(std::all_of(
      std::begin(wanted->reserved0), std::end(wanted->reserved0), [](int word) {
        return word == 0;
      }));
}

void add_any(
    CUgraphNode* node,
    CUgraph graph,
    const CUgraphNode* dependencies,
    const CUgraphEdgeData* data,
    std::size_t count,
    CUgraphNodeParams* wanted,
    FunctionContext context = FunctionContext::kIgnored) {
  require_in_order(wanted);
  Device* device = device_of(*wanted, context);
  add_work(
      node,
      graph,
      dependencies,
      count,
      work_of(device, *wanted),
      device,
      argument<const cudaGraphEdgeData*>(data));
}

// What a node has for good cannot be given again.
Work other_work(
    CUgraphNode node,
    CUgraphNodeParams* wanted,
    FunctionContext context = FunctionContext::kIgnored) {
  require_in_order(wanted);
  require(
      wanted->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
          wanted->type != CU_GRAPH_NODE_TYPE_MEM_FREE &&
          wanted->type != CU_GRAPH_NODE_TYPE_CONDITIONAL,
      cudaErrorNotSupported);
  Device& device = resolve_node(node).device();
  if (wanted->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
      wanted->type == CU_GRAPH_NODE_TYPE_MEMSET) {
    require(device_of(*wanted) == &device);
  } else if (
      wanted->type == CU_GRAPH_NODE_TYPE_KERNEL &&
      context == FunctionContext::kTaken && wanted->kernel.ctx != nullptr) {
    require(
        &resolve_context(wanted->kernel.ctx) == &device,
        cudaErrorDeviceUninitialized); // CUDA_ERROR_INVALID_CONTEXT
  }
  return work_of(&device, *wanted);
}

// Of a node, as far as there is more to tell than its type.
void describe(CUgraphNode handle, CUgraphNodeParams& told) {
  Node& node = resolve_node(handle);
  const auto context = reinterpret_cast<CUcontext>(&node.device());
  switch (told.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      told.kernel =
          beginning<CUDA_KERNEL_NODE_PARAMS_v3>(kernel_parameters(handle));
      return;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      told.memcpy.copyCtx = context;
      told.memcpy.copyParams = copy_parameters(handle);
      return;
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      cudaMemsetParams parameters{};
      graph_memset_node_get_params(handle, &parameters);
      std::memcpy(&told.memset, &parameters, sizeof(parameters));
      told.memset.ctx = context;
      return;
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const auto& work = parts<HostWork>(node);
      told.host.fn = work.function;
      told.host.userData = work.data;
      return;
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      graph_child_graph_node_get_graph(handle, &told.graph.graph);
      return;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      graph_event_wait_node_get_event(handle, &told.eventWait.event);
      return;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      graph_event_record_node_get_event(handle, &told.eventRecord.event);
      return;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      cudaMemAllocNodeParams parameters{};
      graph_mem_alloc_node_get_params(handle, &parameters);
      std::memcpy(&told.alloc, &parameters, sizeof(parameters));
      return;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      graph_mem_free_node_get_params(handle, &told.free.dptr);
      return;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
      const auto& work = parts<ConditionalWork>(node);
      told.conditional.handle =
          reinterpret_cast<CUgraphConditionalHandle>(work.condition->address());
      told.conditional.type =
          static_cast<CUgraphConditionalNodeType>(work.type);
      told.conditional.size =
          static_cast<unsigned>(work.bodies->handles.size());
      told.conditional.phGraph_out = work.bodies->handles.data();
      told.conditional.ctx = context;
      return;
    }
    default:
      return; // an empty node
  }
}

} // namespace

extern "C" {

CUresult cuGraphAddNode_v2(
    CUgraphNode* node,
    CUgraph graph,
    const CUgraphNode* dependencies,
    const CUgraphEdgeData* data,
    size_t count,
    CUgraphNodeParams* wanted) {
  return call([&] { add_any(node, graph, dependencies, data, count, wanted); });
}

CUresult cuGraphAddNode(
    CUgraphNode* node,
    CUgraph graph,
    const CUgraphNode* dependencies,
    size_t count,
    CUgraphNodeParams* wanted) {
  return call(
      [&] { add_any(node, graph, dependencies, nullptr, count, wanted); });
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* wanted) {
  return call([&] { set_work(node, other_work(node, wanted)); });
}

CUresult cuGraphExecNodeSetParams(
    CUgraphExec exec,
    CUgraphNode node,
    CUgraphNodeParams* wanted) {
  return call([&] { set_exec_work(exec, node, other_work(node, wanted)); });
}

// CUDA 13's, which the header does not declare.

CUresult cuGraphAddNode_v3(
    CUgraphNode* node,
    CUgraph graph,
    const CUgraphNode* dependencies,
    const CUgraphEdgeData* data,
    size_t count,
    CUgraphNodeParams* wanted) {
  return call([&] {
    add_any(
        node,
        graph,
        dependencies,
        data,
        count,
        wanted,
        FunctionContext::kTaken);
  });
}

CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams* wanted) {
  return call([&] {
    set_work(node, other_work(node, wanted, FunctionContext::kTaken));
  });
}

CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams* told) {
  return call([&] {
    cudaGraphNodeType type{};
    graph_node_get_type(node, &type);
    CUgraphNodeParams found{};
    found.type = static_cast<CUgraphNodeType>(type);
    describe(node, found);
    store(told, found);
  });
}

} // extern "C"

// Nodes of graphs: added, and their parameters, read and changed.
// Source: CUDA runtime API, graph management.
#include <cuda_runtime_api.h>

#include <memory>
#include <utility>
#include <variant>

#include "accelerator/runtime/core/graphs/work.h"
#include "accelerator/runtime/core/memory/memory_pool.h"
#include "accelerator/runtime/core/operations/graph_handles.h"
#include "accelerator/runtime/cudart/call.h"
#include "accelerator/runtime/cudart/registry.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;

namespace accelerator::cudart {
namespace {

/// The work of a node that has to be of one kind.
/// @throws Failure: cudaErrorInvalidValue when it is of another.
template <typename Parts>
Parts& parts(Node& node) {
  auto* found = std::get_if<Parts>(&node.work());
  require(found != nullptr);
  return *found;
}

/// @param cooperative the node's attribute, which is no parameter.
/// @throws Failure: what a launch with these parameters would answer.
KernelWork kernel_work(
    const cudaKernelNodeParams* parameters,
    bool cooperative = false) {
  require(parameters != nullptr);
  Device& device = current_device();
  KernelWork work;
  work.function = find_function(parameters->func);
  work.grid = {
      parameters->gridDim.x, parameters->gridDim.y, parameters->gridDim.z};
  work.block = {
      parameters->blockDim.x, parameters->blockDim.y, parameters->blockDim.z};
  work.shared_bytes = parameters->sharedMemBytes;
  work.cooperative = cooperative;
  work.symbol = parameters->func;
  const KernelInfo& info = work.function->on(device).info;
  check_launch(device, info, work);
  work.parameters = parameters->extra != nullptr
      ? unpack_extra(info, parameters->extra)
      : pack_parameters(info, parameters->kernelParams);
  return work;
}

CopyWork copy_work(const cudaMemcpy3DParms* parameters) {
  require(parameters != nullptr);
  CopyWork work = box_copy(*parameters);
  check_copy(machine().addresses(), work);
  return work;
}

CopyWork copy_work(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind) {
  CopyWork work = linear_copy(to, from, bytes, kind);
  check_copy(machine().addresses(), work);
  return work;
}

FillWork fill_work(const cudaMemsetParams* parameters) {
  require(
      parameters != nullptr &&
      (parameters->elementSize == 1 || parameters->elementSize == 2 ||
       parameters->elementSize == 4));
  FillWork work = linear_fill(
      parameters->dst,
      parameters->value,
      parameters->elementSize,
      parameters->width);
  work.height = parameters->height;
  if (parameters->height > 1) {
    work.pitch = parameters->pitch;
  }
  check_fill(machine().addresses(), work);
  return work;
}

HostWork host_work(const cudaHostNodeParams* parameters) {
  require(parameters != nullptr && parameters->fn != nullptr);
  return {parameters->fn, parameters->userData};
}

void add(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    std::size_t count,
    Work work) {
  require(node != nullptr);
  *node = handle_of(&resolve_graph(graph)->add(
      std::move(work), current_device(), nodes_of(dependencies, count)));
}

/// Gives a node other work of its kind.
template <typename Parts>
void change(cudaGraphNode_t node, Parts work) {
  parts<Parts>(resolve_node(node)) = std::move(work);
}

template <typename Parts>
void store_event(cudaGraphNode_t node, cudaEvent_t* event) {
  store(
      event,
      reinterpret_cast<cudaEvent_t>(
          parts<Parts>(resolve_node(node)).event.get()));
}

} // namespace
} // namespace accelerator::cudart

using namespace accelerator::cudart;

extern "C" {

// Adding a node. What all functions need of its place comes first.
#define ACCEL_PLACE                         \
  cudaGraphNode_t *node, cudaGraph_t graph, \
      const cudaGraphNode_t *dependencies, size_t count

cudaError_t cudaGraphAddEmptyNode(ACCEL_PLACE) {
  return call([&] { add(node, graph, dependencies, count, EmptyWork{}); });
}

cudaError_t cudaGraphAddMemFreeNode(ACCEL_PLACE, void* memory) {
  return call([&] {
    require(memory != nullptr);
    add(node, graph, dependencies, count, FreeWork{memory});
  });
}

cudaError_t cudaGraphAddMemAllocNode(
    ACCEL_PLACE,
    cudaMemAllocNodeParams* parameters) {
  return call([&] {
    require(parameters != nullptr && parameters->bytesize > 0);
    auto pool =
        machine().device(parameters->poolProps.location.id).default_pool;
    auto memory =
        std::make_shared<GraphMemory>(std::move(pool), parameters->bytesize);
    parameters->dptr = memory->address();
    add(node, graph, dependencies, count, AllocationWork{std::move(memory)});
  });
}

cudaError_t cudaGraphAddKernelNode(
    ACCEL_PLACE,
    const cudaKernelNodeParams* parameters) {
  return call(
      [&] { add(node, graph, dependencies, count, kernel_work(parameters)); });
}

cudaError_t cudaGraphKernelNodeSetParams(
    cudaGraphNode_t node,
    const cudaKernelNodeParams* parameters) {
  return call([&] {
    auto& work = parts<KernelWork>(resolve_node(node));
    work = kernel_work(parameters, work.cooperative);
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaKernelNodeParams* parameters) {
  return call([&] {
    const auto target = resolve_exec(exec);
    Node& changed = resolve_node(node);
    const auto* before = std::get_if<KernelWork>(&target->work(changed));
    require(before != nullptr);
    target->set_work(changed, kernel_work(parameters, before->cooperative));
  });
}

// Nodes of other kinds are added and changed with the same parameters.
//   Kind: of the node.
//   Set: what changes it, and `suffix` how that ends.
//   work: what the node does, from the parameters, which come last.
#define ACCEL_ADDED(Kind, Set, suffix, work, ...)                         \
  cudaError_t cudaGraphAdd##Kind##suffix(ACCEL_PLACE, __VA_ARGS__) {      \
    return call([&] { add(node, graph, dependencies, count, work); });    \
  }                                                                       \
  cudaError_t cudaGraphExec##Kind##Set##suffix(                           \
      cudaGraphExec_t exec, cudaGraphNode_t node, __VA_ARGS__) {          \
    return call(                                                          \
        [&] { resolve_exec(exec)->set_work(resolve_node(node), work); }); \
  }
#define ACCEL_CHANGED(Kind, suffix, work, ...)            \
  ACCEL_ADDED(Kind, SetParams, suffix, work, __VA_ARGS__) \
  cudaError_t cudaGraph##Kind##SetParams##suffix(         \
      cudaGraphNode_t node, __VA_ARGS__) {                \
    return call([&] { change(node, work); });             \
  }

ACCEL_CHANGED(
    MemcpyNode,
    ,
    copy_work(parameters),
    const cudaMemcpy3DParms* parameters)
ACCEL_CHANGED(
    MemcpyNode,
    1D,
    copy_work(to, from, bytes, kind),
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind)
ACCEL_CHANGED(
    MemsetNode,
    ,
    fill_work(parameters),
    const cudaMemsetParams* parameters)
ACCEL_CHANGED(
    HostNode,
    ,
    host_work(parameters),
    const cudaHostNodeParams* parameters)
ACCEL_ADDED(
    ChildGraphNode,
    SetParams,
    ,
    ChildGraphWork{resolve_graph(child)->clone()},
    cudaGraph_t child)
ACCEL_ADDED(
    EventRecordNode,
    SetEvent,
    ,
    EventRecordWork{machine().events().get(event)},
    cudaEvent_t event)
ACCEL_ADDED(
    EventWaitNode,
    SetEvent,
    ,
    EventWaitWork{machine().events().get(event)},
    cudaEvent_t event)

#undef ACCEL_CHANGED
#undef ACCEL_ADDED
#undef ACCEL_PLACE

cudaError_t cudaGraphKernelNodeGetParams(
    cudaGraphNode_t handle,
    cudaKernelNodeParams* parameters) {
  return call([&] {
    require(parameters != nullptr);
    Node& node = resolve_node(handle);
    const KernelWork& work = parts<KernelWork>(node);
    *parameters = {};
    parameters->func = const_cast<void*>(work.symbol);
    parameters->gridDim = dim3(work.grid.x, work.grid.y, work.grid.z);
    parameters->blockDim = dim3(work.block.x, work.block.y, work.block.z);
    parameters->sharedMemBytes = static_cast<unsigned>(work.shared_bytes);
    parameters->kernelParams = node.parameter_pointers();
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(
    cudaGraphNode_t node,
    cudaLaunchAttributeID id,
    cudaLaunchAttributeValue* value) {
  return call([&] {
    require(value != nullptr);
    *value = {};
    const KernelWork& work = parts<KernelWork>(resolve_node(node));
    if (id == cudaLaunchAttributeCooperative) {
      value->cooperative = work.cooperative ? 1 : 0;
    } else {
      require(
          id == cudaLaunchAttributePriority ||
          id == cudaLaunchAttributeAccessPolicyWindow);
    }
  });
}

cudaError_t cudaGraphKernelNodeSetAttribute(
    cudaGraphNode_t node,
    cudaLaunchAttributeID id,
    const cudaLaunchAttributeValue* value) {
  return call([&] {
    require(value != nullptr);
    KernelWork& work = parts<KernelWork>(resolve_node(node));
    if (id == cudaLaunchAttributeCooperative) {
      work.cooperative = value->cooperative != 0;
    } else {
      require(
          id == cudaLaunchAttributePriority ||
          id == cudaLaunchAttributeAccessPolicyWindow);
    }
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(
    cudaGraphNode_t from,
    cudaGraphNode_t to) {
  return call([&] {
    parts<KernelWork>(resolve_node(to)).cooperative =
        parts<KernelWork>(resolve_node(from)).cooperative;
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(
    cudaGraphNode_t node,
    cudaMemcpy3DParms* parameters) {
  return call([&] {
    require(parameters != nullptr);
    const CopyWork& work = parts<CopyWork>(resolve_node(node));
    const auto rows = [&](std::size_t slice, std::size_t pitch) {
      return pitch == 0 ? work.height : slice / pitch;
    };
    *parameters = {};
    parameters->dstPtr = {
        work.to, work.to_pitch, work.width, rows(work.to_slice, work.to_pitch)};
    parameters->srcPtr = {
        const_cast<void*>(work.from),
        work.from_pitch,
        work.width,
        rows(work.from_slice, work.from_pitch)};
    parameters->extent = {work.width, work.height, work.depth};
    parameters->kind = work.kind;
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(
    cudaGraphNode_t node,
    cudaMemsetParams* parameters) {
  return call([&] {
    const FillWork& work = parts<FillWork>(resolve_node(node));
    store(
        parameters,
        cudaMemsetParams{
            work.to,
            work.pitch,
            work.value,
            work.element_size,
            work.width,
            work.height});
  });
}

cudaError_t cudaGraphHostNodeGetParams(
    cudaGraphNode_t node,
    cudaHostNodeParams* parameters) {
  return call([&] {
    const HostWork& work = parts<HostWork>(resolve_node(node));
    store(parameters, cudaHostNodeParams{work.function, work.data});
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(
    cudaGraphNode_t node,
    cudaMemAllocNodeParams* parameters) {
  return call([&] {
    require(parameters != nullptr);
    const auto& memory = *parts<AllocationWork>(resolve_node(node)).memory;
    *parameters = {};
    parameters->poolProps.allocType = cudaMemAllocationTypePinned;
    parameters->poolProps.location = {
        cudaMemLocationTypeDevice, memory.pool().device().ordinal()};
    parameters->bytesize = memory.bytes();
    parameters->dptr = memory.address();
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* memory) {
  return call([&] {
    require(memory != nullptr);
    *static_cast<void**>(memory) = parts<FreeWork>(resolve_node(node)).memory;
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(
    cudaGraphNode_t node,
    cudaEvent_t* event) {
  return call([&] { store_event<EventRecordWork>(node, event); });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(
    cudaGraphNode_t node,
    cudaEvent_t* event) {
  return call([&] { store_event<EventWaitWork>(node, event); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(
    cudaGraphNode_t node,
    cudaGraph_t* graph) {
  return call([&] {
    const auto& child = parts<ChildGraphWork>(resolve_node(node)).graph;
    if (!machine().graphs().contains(child.get())) {
      machine().graphs().add(child);
    }
    store(graph, reinterpret_cast<cudaGraph_t>(child.get()));
  });
}

} // extern "C"

#include "runtime/core/operations/graph_nodes.h"

#include <unordered_set>
#include <utility>
#include <variant>

#include "runtime/core/graphs/graph.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/memory/memory_pool.h"
#include "runtime/core/modules/launch.h"
#include "runtime/core/operations/graph_handles.h"
#include "runtime/core/status/guarded.h"

namespace accelerator::runtime::operations {
namespace {

// Where work is done that brings its device with it; other work is done on the
// thread's.
Device& device_of(const Work& work) {
  if (const auto* record = std::get_if<EventRecordWork>(&work)) {
    return record->event->device();
  }
  if (const auto* allocation = std::get_if<AllocationWork>(&work)) {
    return allocation->memory->pool().device();
  }
  if (const auto* conditional = std::get_if<ConditionalWork>(&work)) {
    return conditional->condition->device();
  }
  return selected_device();
}

template <typename Parts>
void store_event(cudaGraphNode_t node, cudaEvent_t* event) {
  store(
      event,
      reinterpret_cast<cudaEvent_t>(
          parts<Parts>(resolve_node(node)).event.get()));
}

void require_known(cudaLaunchAttributeID id) {
  require(
      id == cudaLaunchAttributePriority ||
      id == cudaLaunchAttributeAccessPolicyWindow);
}

// Parameters are given without attributes: the node's stay.
void keep_attributes(Node& node, Work& work, const Work& before) {
  if (auto* kernel = std::get_if<KernelWork>(&work)) {
    const auto* old = std::get_if<KernelWork>(&before);
    require(old != nullptr);
    kernel->cooperative = old->cooperative;
    check_launch(
        node.device(), kernel->function->on(node.device()).info, *kernel);
  }
}

} // namespace

KernelWork kernel_work(
    Device& device,
    KernelWork work,
    void** arguments,
    void** extra) {
  const KernelInfo& info = work.function->on(device).info;
  check_launch(device, info, work);
  require(arguments == nullptr || extra == nullptr); // one kind or the other
  work.parameters = extra != nullptr ? unpack_extra(info, extra)
                                     : pack_parameters(info, arguments);
  return work;
}

CopyWork copy_work(CopyWork work) {
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

ChildGraphWork child_graph_work(cudaGraph_t child) {
  return {resolve_graph(child)->clone()};
}

ChildGraphWork child_graph_work(cudaGraph_t child, int ownership) {
  require(ownership == 0 || ownership == 1);
  if (ownership == 0) {
    return child_graph_work(child);
  }
  auto graph = resolve_graph(child);
  graph->require_no_conditional_nodes();
  return {std::move(graph)};
}

EventRecordWork event_record_work(cudaEvent_t event) {
  return {machine().events().get(event)};
}

EventWaitWork event_wait_work(cudaEvent_t event) {
  return {machine().events().get(event)};
}

AllocationWork allocation_work(cudaMemAllocNodeParams* parameters) {
  require(parameters != nullptr && parameters->bytesize > 0);
  const cudaMemPoolProps& properties = parameters->poolProps;
  require(properties.location.type == cudaMemLocationTypeDevice);
  require(
      static_cast<int>(properties.allocType) != kManagedAllocations,
      cudaErrorNotSupported);
  auto pool = machine().device(properties.location.id).default_pool;
  auto memory =
      std::make_shared<GraphMemory>(std::move(pool), parameters->bytesize);
  parameters->dptr = memory->address();
  return {std::move(memory)};
}

FreeWork free_work(void* memory) {
  require(memory != nullptr);
  return {memory};
}

ConditionalWork conditional_work(
    cudaGraphConditionalHandle handle,
    cudaGraphConditionalNodeType type,
    unsigned size,
    cudaGraph_t** bodies) {
  require(bodies != nullptr);
  ConditionalWork work =
      make_conditional(resolve_condition(handle), type, size);
  *bodies = work.bodies->handles.data();
  return work;
}

void add_work(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    Work work,
    Device* device,
    const cudaGraphEdgeData* data) {
  require(node != nullptr);
  auto before = nodes_of(dependencies, count);
  require(
      std::unordered_set<Node*>(before.begin(), before.end()).size() == count);
  for (std::size_t i = 0; data != nullptr && i < count; ++i) {
    require_edge(data[i], before[i]->work(), work);
  }
  Device& where = device != nullptr ? *device : device_of(work);
  const auto* conditional = std::get_if<ConditionalWork>(&work);
  const auto bodies = conditional != nullptr ? conditional->bodies : nullptr;
  const auto target = resolve_graph(graph);
  Node& added = target->add(std::move(work), where, before);
  for (std::size_t i = 0; data != nullptr && i < count; ++i) {
    target->describe_dependency(*before[i], added, data[i]);
  }
  *node = handle_of(&added);
  for (std::size_t i = 0; bodies != nullptr && i < bodies->graphs.size(); ++i) {
    machine().graphs().add(bodies->graphs[i]);
  }
}

void set_work(cudaGraphNode_t handle, Work work) {
  Node& node = resolve_node(handle);
  require(node.work().index() == work.index());
  keep_attributes(node, work, node.work());
  end_handles(node.work());
  node.work() = std::move(work);
}

void set_exec_work(cudaGraphExec_t exec, cudaGraphNode_t handle, Work work) {
  const auto target = resolve_exec(exec);
  Node& node = resolve_node(handle);
  keep_attributes(node, work, target->work(node));
  target->set_work(node, std::move(work));
}

void graph_add_empty_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count) {
  add_work(node, graph, dependencies, count, EmptyWork{});
}

void graph_add_host_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    const cudaHostNodeParams* parameters) {
  add_work(node, graph, dependencies, count, host_work(parameters));
}

void graph_add_child_graph_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaGraph_t child) {
  add_work(node, graph, dependencies, count, child_graph_work(child));
}

void graph_add_event_record_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaEvent_t event) {
  add_work(node, graph, dependencies, count, event_record_work(event));
}

void graph_add_event_wait_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaEvent_t event) {
  add_work(node, graph, dependencies, count, event_wait_work(event));
}

void graph_add_mem_alloc_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    cudaMemAllocNodeParams* parameters) {
  add_work(node, graph, dependencies, count, allocation_work(parameters));
}

void graph_add_mem_free_node(
    cudaGraphNode_t* node,
    cudaGraph_t graph,
    const cudaGraphNode_t* dependencies,
    size_t count,
    void* memory) {
  add_work(node, graph, dependencies, count, free_work(memory));
}

void graph_memset_node_set_params(
    cudaGraphNode_t node,
    const cudaMemsetParams* parameters) {
  set_work(node, fill_work(parameters));
}

void graph_host_node_set_params(
    cudaGraphNode_t node,
    const cudaHostNodeParams* parameters) {
  set_work(node, host_work(parameters));
}

void graph_event_record_node_set_event(
    cudaGraphNode_t node,
    cudaEvent_t event) {
  set_work(node, event_record_work(event));
}

void graph_event_wait_node_set_event(cudaGraphNode_t node, cudaEvent_t event) {
  set_work(node, event_wait_work(event));
}

void graph_exec_host_node_set_params(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    const cudaHostNodeParams* parameters) {
  set_exec_work(exec, node, host_work(parameters));
}

void graph_exec_child_graph_node_set_params(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaGraph_t child) {
  set_exec_work(exec, node, child_graph_work(child));
}

void graph_exec_event_record_node_set_event(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaEvent_t event) {
  set_exec_work(exec, node, event_record_work(event));
}

void graph_exec_event_wait_node_set_event(
    cudaGraphExec_t exec,
    cudaGraphNode_t node,
    cudaEvent_t event) {
  set_exec_work(exec, node, event_wait_work(event));
}

void graph_memset_node_get_params(
    cudaGraphNode_t node,
    cudaMemsetParams* parameters) {
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
}

void graph_host_node_get_params(
    cudaGraphNode_t node,
    cudaHostNodeParams* parameters) {
  const HostWork& work = parts<HostWork>(resolve_node(node));
  store(parameters, cudaHostNodeParams{work.function, work.data});
}

void graph_child_graph_node_get_graph(
    cudaGraphNode_t node,
    cudaGraph_t* graph) {
  const auto& child = parts<ChildGraphWork>(resolve_node(node)).graph;
  if (!machine().graphs().contains(child.get())) {
    machine().graphs().add(child);
  }
  store(graph, reinterpret_cast<cudaGraph_t>(child.get()));
}

void graph_event_record_node_get_event(
    cudaGraphNode_t node,
    cudaEvent_t* event) {
  store_event<EventRecordWork>(node, event);
}

void graph_event_wait_node_get_event(cudaGraphNode_t node, cudaEvent_t* event) {
  store_event<EventWaitWork>(node, event);
}

void graph_mem_alloc_node_get_params(
    cudaGraphNode_t node,
    cudaMemAllocNodeParams* parameters) {
  require(parameters != nullptr);
  const auto& memory = *parts<AllocationWork>(resolve_node(node)).memory;
  *parameters = {};
  parameters->poolProps.allocType = cudaMemAllocationTypePinned;
  parameters->poolProps.location = {
      cudaMemLocationTypeDevice, memory.pool().device().ordinal()};
  parameters->bytesize = memory.bytes();
  parameters->dptr = memory.address();
}

void graph_mem_free_node_get_params(cudaGraphNode_t node, void* memory) {
  require(memory != nullptr);
  *static_cast<void**>(memory) = parts<FreeWork>(resolve_node(node)).memory;
}

void graph_kernel_node_copy_attributes(
    cudaGraphNode_t to,
    cudaGraphNode_t from) {
  parts<KernelWork>(resolve_node(to)).cooperative =
      parts<KernelWork>(resolve_node(from)).cooperative;
}

void graph_kernel_node_get_attribute(
    cudaGraphNode_t node,
    cudaLaunchAttributeID id,
    cudaLaunchAttributeValue* value) {
  require(value != nullptr);
  *value = {};
  const KernelWork& work = parts<KernelWork>(resolve_node(node));
  if (id == cudaLaunchAttributeCooperative) {
    value->cooperative = work.cooperative ? 1 : 0;
  } else {
    require_known(id);
  }
}

void graph_kernel_node_set_attribute(
    cudaGraphNode_t node,
    cudaLaunchAttributeID id,
    const cudaLaunchAttributeValue* value) {
  require(value != nullptr);
  KernelWork& work = parts<KernelWork>(resolve_node(node));
  if (id == cudaLaunchAttributeCooperative) {
    work.cooperative = value->cooperative != 0;
  } else {
    require_known(id);
  }
}

} // namespace accelerator::runtime::operations

// Nodes of graphs: added, and their parameters, read and changed, with
// functions for each kind of node.
// Source: CUDA driver API, graph management.
#include "runtime/core/operations/graph_nodes.h"

#include <utility>

#include "runtime/api/driver/copies/copy_box.h"
#include "runtime/api/driver/graph_node_work.h"
#include "runtime/api/driver/perform.h"
#include "runtime/core/modules/launch.h"
#include "runtime/core/operations/graph_handles.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;

namespace accelerator::driver {
KernelWork kernel_work(
    Device& device,
    const CUDA_KERNEL_NODE_PARAMS_v2* parameters) {
  require(parameters != nullptr);
  const auto& p = *parameters;
  KernelWork work;
  // A CUkernel is the same object, and counts where there is no function.
  work.symbol = p.func != nullptr ? static_cast<const void*>(p.func) : p.kern;
  work.function = machine().functions().get(work.symbol);
  work.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
  work.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
  work.shared_bytes = p.sharedMemBytes;
  return operations::kernel_work(
      device, std::move(work), p.kernelParams, p.extra);
}

CopyWork copy_work(const CUDA_MEMCPY3D* parameters) {
  require(parameters != nullptr);
  const CUDA_MEMCPY3D& p = *parameters;
  require(p.reserved0 == nullptr && p.reserved1 == nullptr);
  return operations::copy_work(box_of(p));
}

FillWork fill_work(const CUDA_MEMSET_NODE_PARAMS* parameters) {
  return operations::fill_work(argument<const cudaMemsetParams*>(parameters));
}

CUDA_KERNEL_NODE_PARAMS_v2 kernel_parameters(CUgraphNode handle) {
  Node& node = resolve_node(handle);
  const KernelWork& work = parts<KernelWork>(node);
  CUDA_KERNEL_NODE_PARAMS_v2 p{};
  // It may have been captured by its host function.
  p.func =
      reinterpret_cast<CUfunction>(machine().functions().add(work.function));
  p.gridDimX = work.grid.x;
  p.gridDimY = work.grid.y;
  p.gridDimZ = work.grid.z;
  p.blockDimX = work.block.x;
  p.blockDimY = work.block.y;
  p.blockDimZ = work.block.z;
  p.sharedMemBytes = static_cast<unsigned>(work.shared_bytes);
  p.kernelParams = node.parameter_pointers();
  p.ctx = reinterpret_cast<CUcontext>(&node.device());
  return p;
}

static CUarray array_handle(const void* array) {
  return static_cast<CUarray>(const_cast<void*>(array));
}

CUDA_MEMCPY3D copy_parameters(CUgraphNode handle) {
  const CopyWork& work = parts<CopyWork>(resolve_node(handle));
  const auto rows = [&](std::size_t slice, std::size_t pitch) {
    return pitch == 0 ? work.height : slice / pitch;
  };
  CUDA_MEMCPY3D p{};
  if (work.kind == cudaMemcpyHostToHost ||
      work.kind == cudaMemcpyHostToDevice) {
    p.srcMemoryType = CU_MEMORYTYPE_HOST;
    p.srcHost = work.from;
  } else {
    p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    p.srcDevice = reinterpret_cast<CUdeviceptr>(work.from);
  }
  if (work.kind == cudaMemcpyHostToHost ||
      work.kind == cudaMemcpyDeviceToHost) {
    p.dstMemoryType = CU_MEMORYTYPE_HOST;
    p.dstHost = work.to;
  } else {
    p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    p.dstDevice = reinterpret_cast<CUdeviceptr>(work.to);
  }
  p.srcPitch = work.from_pitch;
  p.srcHeight = rows(work.from_slice, work.from_pitch);
  p.dstPitch = work.to_pitch;
  p.dstHeight = rows(work.to_slice, work.to_pitch);
  p.WidthInBytes = work.width;
  p.Height = work.height;
  p.Depth = work.depth;
  if (work.from_array != nullptr) {
    const CopyPlace place = place_in_array(work.from_array, work.from);
    p.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    p.srcArray = array_handle(work.from_array);
    p.srcDevice = 0;
    p.srcXInBytes = place.position.x;
    p.srcY = place.position.y;
    p.srcZ = place.position.z;
    p.srcPitch = p.srcHeight = 0;
  }
  if (work.to_array != nullptr) {
    const CopyPlace place = place_in_array(work.to_array, work.to);
    p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    p.dstArray = array_handle(work.to_array);
    p.dstDevice = 0;
    p.dstXInBytes = place.position.x;
    p.dstY = place.position.y;
    p.dstZ = place.position.z;
    p.dstPitch = p.dstHeight = 0;
  }
  return p;
}

} // namespace accelerator::driver

using namespace accelerator::driver;

API_FUNCTION(4, cuGraphAddEmptyNode, graph_add_empty_node)
API_FUNCTION(5, cuGraphAddHostNode, graph_add_host_node)
API_FUNCTION(5, cuGraphAddChildGraphNode, graph_add_child_graph_node)
API_FUNCTION(5, cuGraphAddEventRecordNode, graph_add_event_record_node)
API_FUNCTION(5, cuGraphAddEventWaitNode, graph_add_event_wait_node)
API_FUNCTION(5, cuGraphAddMemAllocNode, graph_add_mem_alloc_node)
API_FUNCTION(5, cuGraphAddMemFreeNode, graph_add_mem_free_node)

API_FUNCTION(2, cuGraphMemsetNodeSetParams, graph_memset_node_set_params)
API_FUNCTION(2, cuGraphHostNodeSetParams, graph_host_node_set_params)
API_FUNCTION(
    2,
    cuGraphEventRecordNodeSetEvent,
    graph_event_record_node_set_event)
API_FUNCTION(2, cuGraphEventWaitNodeSetEvent, graph_event_wait_node_set_event)
API_FUNCTION(3, cuGraphExecHostNodeSetParams, graph_exec_host_node_set_params)
API_FUNCTION(
    3,
    cuGraphExecChildGraphNodeSetParams,
    graph_exec_child_graph_node_set_params)
API_FUNCTION(
    3,
    cuGraphExecEventRecordNodeSetEvent,
    graph_exec_event_record_node_set_event)
API_FUNCTION(
    3,
    cuGraphExecEventWaitNodeSetEvent,
    graph_exec_event_wait_node_set_event)

API_FUNCTION(2, cuGraphMemsetNodeGetParams, graph_memset_node_get_params)
API_FUNCTION(2, cuGraphHostNodeGetParams, graph_host_node_get_params)
API_FUNCTION(2, cuGraphChildGraphNodeGetGraph, graph_child_graph_node_get_graph)
API_FUNCTION(
    2,
    cuGraphEventRecordNodeGetEvent,
    graph_event_record_node_get_event)
API_FUNCTION(2, cuGraphEventWaitNodeGetEvent, graph_event_wait_node_get_event)
API_FUNCTION(2, cuGraphMemAllocNodeGetParams, graph_mem_alloc_node_get_params)
API_FUNCTION(2, cuGraphMemFreeNodeGetParams, graph_mem_free_node_get_params)
API_FUNCTION(
    2,
    cuGraphKernelNodeCopyAttributes,
    graph_kernel_node_copy_attributes)
API_FUNCTION(3, cuGraphKernelNodeGetAttribute, graph_kernel_node_get_attribute)
API_FUNCTION(3, cuGraphKernelNodeSetAttribute, graph_kernel_node_set_attribute)

extern "C" {

CUresult cuGraphAddMemsetNode(
    CUgraphNode* node,
    CUgraph graph,
    const CUgraphNode* dependencies,
    size_t count,
    const CUDA_MEMSET_NODE_PARAMS* parameters,
    CUcontext context) {
  return call([&] {
    Device& device = device_for(context);
    add_work(
        node,
        graph,
        dependencies,
        count,
        accelerator::driver::fill_work(parameters),
        &device);
  });
}

CUresult cuGraphExecMemsetNodeSetParams(
    CUgraphExec exec,
    CUgraphNode node,
    const CUDA_MEMSET_NODE_PARAMS* parameters,
    CUcontext context) {
  return call([&] {
    require(&device_for(context) == &resolve_node(node).device());
    set_exec_work(exec, node, accelerator::driver::fill_work(parameters));
  });
}

CUresult cuGraphAddMemcpyNode(
    CUgraphNode* node,
    CUgraph graph,
    const CUgraphNode* dependencies,
    size_t count,
    const CUDA_MEMCPY3D* parameters,
    CUcontext context) {
  return call([&] {
    Device& device = device_for(context);
    add_work(
        node,
        graph,
        dependencies,
        count,
        accelerator::driver::copy_work(parameters),
        &device);
  });
}

CUresult cuGraphMemcpyNodeSetParams(
    CUgraphNode node,
    const CUDA_MEMCPY3D* parameters) {
  return call(
      [&] { set_work(node, accelerator::driver::copy_work(parameters)); });
}

CUresult cuGraphExecMemcpyNodeSetParams(
    CUgraphExec exec,
    CUgraphNode node,
    const CUDA_MEMCPY3D* parameters,
    CUcontext context) {
  return call([&] {
    require(&device_for(context) == &resolve_node(node).device());
    set_exec_work(exec, node, accelerator::driver::copy_work(parameters));
  });
}

CUresult cuGraphMemcpyNodeGetParams(
    CUgraphNode node,
    CUDA_MEMCPY3D* parameters) {
  return call([&] { store(parameters, copy_parameters(node)); });
}

CUresult cuGraphAddKernelNode(
    CUgraphNode* node,
    CUgraph graph,
    const CUgraphNode* dependencies,
    size_t count,
    const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return call([&] {
    require(parameters != nullptr);
    Device& device =
        device_for(parameters->func == nullptr ? parameters->ctx : nullptr);
    add_work(
        node,
        graph,
        dependencies,
        count,
        accelerator::driver::kernel_work(device, parameters),
        &device);
  });
}

CUresult cuGraphKernelNodeSetParams(
    CUgraphNode node,
    const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return call([&] {
    set_work(
        node,
        accelerator::driver::kernel_work(
            resolve_node(node).device(), parameters));
  });
}

CUresult cuGraphExecKernelNodeSetParams(
    CUgraphExec exec,
    CUgraphNode node,
    const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return call([&] {
    set_exec_work(
        exec,
        node,
        accelerator::driver::kernel_work(
            resolve_node(node).device(), parameters));
  });
}

CUresult cuGraphKernelNodeGetParams(
    CUgraphNode node,
    CUDA_KERNEL_NODE_PARAMS* parameters) {
  return call([&] { store(parameters, kernel_parameters(node)); });
}

// What programs for CUDA 11 call: without CUkernel and context.
#undef cuGraphAddKernelNode
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphKernelNodeGetParams

static CUDA_KERNEL_NODE_PARAMS_v2 newer(
    const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  CUDA_KERNEL_NODE_PARAMS_v2 result{};
  if (parameters != nullptr) {
    std::memcpy(&result, parameters, sizeof(*parameters));
  }
  return result;
}

CUresult cuGraphAddKernelNode(
    CUgraphNode* node,
    CUgraph graph,
    const CUgraphNode* dependencies,
    size_t count,
    const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  const auto wanted = newer(parameters);
  return cuGraphAddKernelNode_v2(node, graph, dependencies, count, &wanted);
}

CUresult cuGraphKernelNodeSetParams(
    CUgraphNode node,
    const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  const auto wanted = newer(parameters);
  return cuGraphKernelNodeSetParams_v2(node, &wanted);
}

CUresult cuGraphExecKernelNodeSetParams(
    CUgraphExec exec,
    CUgraphNode node,
    const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  const auto wanted = newer(parameters);
  return cuGraphExecKernelNodeSetParams_v2(exec, node, &wanted);
}

CUresult cuGraphKernelNodeGetParams(
    CUgraphNode node,
    CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  CUDA_KERNEL_NODE_PARAMS_v2 found{};
  const CUresult status = cuGraphKernelNodeGetParams_v2(node, &found);
  if (status == CUDA_SUCCESS && parameters != nullptr) {
    std::memcpy(parameters, &found, sizeof(*parameters));
  }
  return parameters != nullptr ? status : CUDA_ERROR_INVALID_VALUE;
}

} // extern "C"

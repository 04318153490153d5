// Parameters of graph nodes: read and changed.
// Source: CUDA runtime API, graph management.
#include "accelerator/runtime/cudart/node_parameters.h"

#include <cstring>
#include <utility>

#include "accelerator/runtime/cudart/call.h"
#include "accelerator/runtime/cudart/registry.h"

using namespace accelerator::runtime;

namespace accelerator::cudart {

KernelWork kernel_work(
    const cudaKernelNodeParams* parameters,
    bool cooperative) {
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
  check_launch(device, work);
  const auto& info = work.function->on(device).info;
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

} // namespace accelerator::cudart

using namespace accelerator::cudart;

extern "C" {

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

cudaError_t cudaGraphKernelNodeSetParams(
    cudaGraphNode_t node,
    const cudaKernelNodeParams* parameters) {
  return call([&] {
    auto& work = parts<KernelWork>(resolve_node(node));
    work = kernel_work(parameters, work.cooperative);
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

cudaError_t cudaGraphMemcpyNodeSetParams(
    cudaGraphNode_t node,
    const cudaMemcpy3DParms* parameters) {
  return call(
      [&] { parts<CopyWork>(resolve_node(node)) = copy_work(parameters); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(
    cudaGraphNode_t node,
    void* to,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind) {
  return call([&] {
    parts<CopyWork>(resolve_node(node)) = copy_work(to, from, bytes, kind);
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

cudaError_t cudaGraphMemsetNodeSetParams(
    cudaGraphNode_t node,
    const cudaMemsetParams* parameters) {
  return call(
      [&] { parts<FillWork>(resolve_node(node)) = fill_work(parameters); });
}

cudaError_t cudaGraphHostNodeGetParams(
    cudaGraphNode_t node,
    cudaHostNodeParams* parameters) {
  return call([&] {
    const HostWork& work = parts<HostWork>(resolve_node(node));
    store(parameters, cudaHostNodeParams{work.function, work.data});
  });
}

cudaError_t cudaGraphHostNodeSetParams(
    cudaGraphNode_t node,
    const cudaHostNodeParams* parameters) {
  return call(
      [&] { parts<HostWork>(resolve_node(node)) = host_work(parameters); });
}

} // extern "C"

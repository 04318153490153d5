// Launching kernels and asking about them.
// Source: CUDA runtime API, execution control and occupancy.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/registry.h"
#include "runtime/core/modules/launch.h"
#include "runtime/core/modules/occupancy.h"
#include "runtime/core/operations/functions.h"
#include "runtime/core/streams/work/submit.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;
using accelerator::cudart::find_function;
using accelerator::cudart::find_variable;

namespace {

std::shared_ptr<Function> resolve_function(const void* symbol) {
  require(symbol != nullptr, cudaErrorInvalidDeviceFunction);
  return find_function(symbol);
}

void launch(
    const void* symbol,
    dim3 grid,
    dim3 block,
    void** arguments,
    std::size_t shared_bytes,
    cudaStream_t handle,
    bool cooperative) {
  const auto stream = resolve_stream(handle);
  require(
      &stream->device() == &current_device(), cudaErrorInvalidResourceHandle);
  KernelWork work;
  work.function = resolve_function(symbol);
  work.grid = {grid.x, grid.y, grid.z};
  work.block = {block.x, block.y, block.z};
  work.shared_bytes = shared_bytes;
  work.cooperative = cooperative;
  work.symbol = symbol;
  submit_launch(*stream, std::move(work), [&](const KernelInfo& info) {
    return pack_parameters(info, arguments);
  });
}

} // namespace

extern "C" {

cudaError_t cudaLaunchKernel(
    const void* function,
    dim3 grid,
    dim3 block,
    void** arguments,
    size_t shared_bytes,
    cudaStream_t stream) {
  return call([&] {
    launch(function, grid, block, arguments, shared_bytes, stream, false);
  });
}

cudaError_t cudaLaunchCooperativeKernel(
    const void* function,
    dim3 grid,
    dim3 block,
    void** arguments,
    size_t shared_bytes,
    cudaStream_t stream) {
  return call([&] {
    launch(function, grid, block, arguments, shared_bytes, stream, true);
  });
}

cudaError_t cudaLaunchKernelExC(
    const cudaLaunchConfig_t* configuration,
    const void* function,
    void** arguments) {
  return call([&] {
    require(configuration != nullptr);
    bool cooperative = false;
    for (unsigned i = 0; i < configuration->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = configuration->attrs[i];
      if (attribute.id == cudaLaunchAttributeCooperative) {
        cooperative = attribute.val.cooperative != 0;
      } else if (attribute.id == cudaLaunchAttributeClusterDimension) {
        const auto& cluster = attribute.val.clusterDim;
        if (cluster.x * cluster.y * cluster.z > 1) {
          throw Failure(
              cudaErrorNotSupported,
              "launch of " + resolve_function(function)->name() +
                  ": thread block clusters are not supported");
        }
      }
      // The others (priority, cache windows, programmatic serialization) allow
      // more overlap than a stream gives here anyway.
    }
    launch(
        function,
        configuration->gridDim,
        configuration->blockDim,
        arguments,
        configuration->dynamicSmemBytes,
        configuration->stream,
        cooperative);
  });
}

cudaError_t cudaFuncGetAttributes(
    cudaFuncAttributes* attributes,
    const void* symbol) {
  return call([&] {
    require(attributes != nullptr);
    Device& device = current_device();
    const auto function = resolve_function(symbol);
    const KernelInfo& info = function->on(device).info;
    *attributes = {};
    attributes->sharedSizeBytes = info.static_shared_bytes;
    attributes->constSizeBytes = info.constant_bytes;
    attributes->localSizeBytes = info.local_bytes;
    attributes->maxThreadsPerBlock = std::min<int>(
        static_cast<int>(info.max_threads),
        device.properties().maxThreadsPerBlock);
    attributes->numRegs = registers_per_thread(device, info);
    attributes->ptxVersion = static_cast<int>(info.code_version);
    attributes->binaryVersion = static_cast<int>(device.capability());
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(function->dynamic_shared_limit(device));
    attributes->preferredShmemCarveout = function->carveout;
  });
}

cudaError_t cudaFuncSetAttribute(
    const void* symbol,
    cudaFuncAttribute attribute,
    int value) {
  return call([&] {
    Device& device = current_device();
    func_set_attribute(*resolve_function(symbol), device, attribute, value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* symbol, cudaFuncCache) {
  return call([&] { resolve_function(symbol); });
}

cudaError_t cudaFuncSetSharedMemConfig(
    const void* symbol,
    cudaSharedMemConfig) {
  return call([&] { resolve_function(symbol); });
}

// A cudaFunction_t is the driver's CUfunction.
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* handle, const void* symbol) {
  return call([&] {
    const auto function = resolve_function(symbol);
    function->on(current_device());
    store(
        handle,
        reinterpret_cast<cudaFunction_t>(machine().functions().add(function)));
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* symbol) {
  return call([&] { store(name, resolve_function(symbol)->name().c_str()); });
}

cudaError_t cudaFuncGetParamInfo(
    const void* symbol,
    size_t index,
    size_t* offset,
    size_t* size) {
  return call([&] {
    func_get_param_info(
        *resolve_function(symbol), current_device(), index, offset, size);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks,
    const void* symbol,
    int threads,
    size_t shared_bytes,
    unsigned flags) {
  return call([&] {
    Device& device = current_device();
    require(threads > 0);
    require((flags & ~cudaOccupancyDisableCachingOverride) == 0);
    store(
        blocks,
        max_active_blocks(
            *resolve_function(symbol), device, threads, shared_bytes));
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks,
    const void* symbol,
    int threads,
    size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, symbol, threads, shared_bytes, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
    size_t* shared_bytes,
    const void* symbol,
    int blocks,
    int threads) {
  return call([&] {
    Device& device = current_device();
    store(
        shared_bytes,
        available_shared_bytes(
            *resolve_function(symbol), device, blocks, threads));
  });
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return call([&] {
    store(address, reinterpret_cast<void*>(find_variable(symbol).address));
  });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return call([&] { store(size, find_variable(symbol).size); });
}

// Copies to and from a variable, by the functions for memory.
cudaError_t cudaMemcpyToSymbolAsync(
    const void* symbol,
    const void* from,
    size_t bytes,
    size_t offset,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  char* address = nullptr;
  const cudaError_t status = call([&] {
    const Symbol& variable = find_variable(symbol);
    require(offset <= variable.size && bytes <= variable.size - offset);
    require(
        kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
            kind == cudaMemcpyDefault,
        cudaErrorInvalidMemcpyDirection);
    address = reinterpret_cast<char*>(variable.address) + offset;
  });
  return status != cudaSuccess
      ? status
      : cudaMemcpyAsync(address, from, bytes, kind, stream);
}

cudaError_t cudaMemcpyFromSymbolAsync(
    void* to,
    const void* symbol,
    size_t bytes,
    size_t offset,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  const char* address = nullptr;
  const cudaError_t status = call([&] {
    const Symbol& variable = find_variable(symbol);
    require(offset <= variable.size && bytes <= variable.size - offset);
    require(
        kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
            kind == cudaMemcpyDefault,
        cudaErrorInvalidMemcpyDirection);
    address = reinterpret_cast<const char*>(variable.address) + offset;
  });
  return status != cudaSuccess
      ? status
      : cudaMemcpyAsync(to, address, bytes, kind, stream);
}

cudaError_t cudaMemcpyToSymbol(
    const void* symbol,
    const void* from,
    size_t bytes,
    size_t offset,
    cudaMemcpyKind kind) {
  const cudaError_t status =
      cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
  return status != cudaSuccess ? status : cudaStreamSynchronize(nullptr);
}

cudaError_t cudaMemcpyFromSymbol(
    void* to,
    const void* symbol,
    size_t bytes,
    size_t offset,
    cudaMemcpyKind kind) {
  const cudaError_t status =
      cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr);
  return status != cudaSuccess ? status : cudaStreamSynchronize(nullptr);
}

} // extern "C"

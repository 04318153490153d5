// Functions of the driver that are core's operations, as the runtime's are:
// what their arguments are for the operation.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/api/driver/call.h"
#include "runtime/core/operations/api_functions.h"
#include "runtime/core/operations/streams.h"

namespace accelerator::driver {

// What a type of the driver's is called in core, which has the runtime's names:
// the same numbers, the same fields.
void* counterpart(CUdeviceptr);
unsigned long long counterpart(cuuint64_t);
cudaDeviceAttr counterpart(CUdevice_attribute);
cudaDeviceP2PAttr counterpart(CUdevice_P2PAttribute);
cudaFlushGPUDirectRDMAWritesScope counterpart(CUflushGPUDirectRDMAWritesScope);
cudaFlushGPUDirectRDMAWritesTarget counterpart(
    CUflushGPUDirectRDMAWritesTarget);
cudaFuncCache counterpart(CUfunc_cache);
cudaGraphEdgeData counterpart(CUgraphEdgeData);
cudaGraphExecUpdateResultInfo counterpart(CUgraphExecUpdateResultInfo);
cudaGraphInstantiateParams counterpart(CUDA_GRAPH_INSTANTIATE_PARAMS);
cudaGraphMemAttributeType counterpart(CUgraphMem_attribute);
cudaGraphNodeType counterpart(CUgraphNodeType);
cudaHostNodeParams counterpart(CUDA_HOST_NODE_PARAMS);
cudaIpcEventHandle_t counterpart(CUipcEventHandle);
cudaIpcMemHandle_t counterpart(CUipcMemHandle);
cudaLaunchAttributeID counterpart(CUlaunchAttributeID);
cudaLaunchAttributeValue counterpart(CUlaunchAttributeValue);
cudaLimit counterpart(CUlimit);
cudaMemAccessDesc counterpart(CUmemAccessDesc);
cudaMemAccessFlags counterpart(CUmemAccess_flags);
cudaMemAllocNodeParams counterpart(CUDA_MEM_ALLOC_NODE_PARAMS);
cudaMemAllocationType counterpart(CUmemAllocationType);
cudaMemLocation counterpart(CUmemLocation);
cudaMemoryAdvise counterpart(CUmem_advise);
cudaMemRangeAttribute counterpart(CUmem_range_attribute);
cudaMemPoolAttr counterpart(CUmemPool_attribute);
cudaMemPoolProps counterpart(CUmemPoolProps);
cudaMemsetParams counterpart(CUDA_MEMSET_NODE_PARAMS);
cudaMemPoolPtrExportData counterpart(CUmemPoolPtrExportData);
cudaSharedMemConfig counterpart(CUsharedconfig);
runtime::operations::StreamCallback counterpart(CUstreamCallback);
cudaStreamCaptureMode counterpart(CUstreamCaptureMode);
cudaStreamCaptureStatus counterpart(CUstreamCaptureStatus);

template <typename T>
using Counterpart = decltype(counterpart(std::declval<T>()));

template <typename To, typename From>
constexpr bool is_counterpart() {
  using Target = std::remove_cv_t<std::remove_pointer_t<To>>;
  using Source = std::remove_cv_t<std::remove_pointer_t<From>>;
  if constexpr (std::is_same_v<From, CUdeviceptr>) {
    return std::is_pointer_v<To>;
  } else if constexpr (std::is_pointer_v<From> && std::is_object_v<Source>) {
    return std::is_same_v<Target, Counterpart<Source>> &&
        sizeof(Target) == sizeof(Source);
  } else {
    return std::is_same_v<To, Counterpart<From>> && sizeof(To) == sizeof(From);
  }
}

/// An argument of the driver's as a parameter of core's. A context stands for
/// its device.
template <typename To, typename From>
To argument(From value) {
  if constexpr (std::is_convertible_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<From, CUcontext>) {
    return resolve_context(value).ordinal();
  } else {
    static_assert(is_counterpart<To, From>());
    To result;
    std::memcpy(&result, &value, sizeof(To));
    return result;
  }
}

/// Carries out an operation that the runtime has, too.
template <typename... Parameters, typename... Arguments>
CUresult perform(
    const char* function,
    void (*operation)(Parameters...),
    Arguments... arguments) noexcept {
  return call([&] { operation(argument<Parameters>(arguments)...); }, function);
}

/// An operation for which a context has to be current: the runtime makes one
/// current where there is none.
template <typename... Parameters>
struct InContext {
  void (*operation)(Parameters...);
};
template <typename... Parameters>
InContext(void (*)(Parameters...)) -> InContext<Parameters...>;

template <typename... Parameters, typename... Arguments>
CUresult perform(
    const char* function,
    InContext<Parameters...> wanted,
    Arguments... arguments) noexcept {
  return call(
      [&] {
        current_context();
        wanted.operation(argument<Parameters>(arguments)...);
      },
      function);
}

} // namespace accelerator::driver

// CUDA's driver library, opened when the program runs: nothing of CUDA is
// linked.
#pragma once

#include <cuda.h>

#include <string>

namespace accelerator::nvidia {

// What is called, under the names of cuda.h. All of it is in drivers for CUDA
// 12.4 and later.
#define ACCEL_NVIDIA_FUNCTIONS(F)   \
  F(cuCtxEnablePeerAccess)          \
  F(cuCtxDisablePeerAccess)         \
  F(cuCtxGetLimit)                  \
  F(cuCtxPopCurrent)                \
  F(cuCtxPushCurrent)               \
  F(cuCtxSetLimit)                  \
  F(cuCtxSynchronize)               \
  F(cuDeviceCanAccessPeer)          \
  F(cuDeviceGet)                    \
  F(cuDeviceGetAttribute)           \
  F(cuDeviceGetCount)               \
  F(cuDeviceGetName)                \
  F(cuDeviceGetUuid)                \
  F(cuDevicePrimaryCtxRetain)       \
  F(cuDeviceTotalMem)               \
  F(cuEventCreate)                  \
  F(cuEventDestroy)                 \
  F(cuEventElapsedTime)             \
  F(cuEventQuery)                   \
  F(cuEventRecord)                  \
  F(cuEventSynchronize)             \
  F(cuFuncGetAttribute)             \
  F(cuFuncGetName)                  \
  F(cuFuncGetParamInfo)             \
  F(cuFuncSetAttribute)             \
  F(cuGetErrorName)                 \
  F(cuGetErrorString)               \
  F(cuInit)                         \
  F(cuIpcCloseMemHandle)            \
  F(cuIpcGetMemHandle)              \
  F(cuIpcOpenMemHandle)             \
  F(cuLaunchCooperativeKernel)      \
  F(cuLaunchHostFunc)               \
  F(cuLaunchKernel)                 \
  F(cuMemAddressFree)               \
  F(cuMemAddressReserve)            \
  F(cuMemAlloc)                     \
  F(cuMemAllocAsync)                \
  F(cuMemAllocManaged)              \
  F(cuMemCreate)                    \
  F(cuMemExportToShareableHandle)   \
  F(cuMemFree)                      \
  F(cuMemFreeAsync)                 \
  F(cuMemFreeHost)                  \
  F(cuMemGetAllocationGranularity)  \
  F(cuMemGetInfo)                   \
  F(cuMemHostAlloc)                 \
  F(cuMemHostRegister)              \
  F(cuMemHostUnregister)            \
  F(cuMemImportFromShareableHandle) \
  F(cuMemMap)                       \
  F(cuMemRelease)                   \
  F(cuMemSetAccess)                 \
  F(cuMemUnmap)                     \
  F(cuMemcpy2DAsync)                \
  F(cuMemcpyAsync)                  \
  F(cuMemsetD16Async)               \
  F(cuMemsetD2D16Async)             \
  F(cuMemsetD2D32Async)             \
  F(cuMemsetD2D8Async)              \
  F(cuMemsetD32Async)               \
  F(cuMemsetD8Async)                \
  F(cuModuleEnumerateFunctions)     \
  F(cuModuleGetFunction)            \
  F(cuModuleGetFunctionCount)       \
  F(cuModuleGetGlobal)              \
  F(cuModuleLoadDataEx)             \
  F(cuModuleUnload)                 \
  F(cuPointerGetAttribute)          \
  F(cuStreamAddCallback)            \
  F(cuStreamCreateWithPriority)     \
  F(cuStreamDestroy)                \
  F(cuStreamQuery)                  \
  F(cuStreamSynchronize)            \
  F(cuStreamWaitEvent)

struct Driver {
#define ACCEL_NVIDIA_MEMBER(name) decltype(&::name) name = nullptr;
  ACCEL_NVIDIA_FUNCTIONS(ACCEL_NVIDIA_MEMBER)
#undef ACCEL_NVIDIA_MEMBER
};

/// Opens the library and finds all functions; can be called again when it
/// failed.
/// @param path its path, or "" for the system's.
/// @throws Error: ACCEL_NOT_FOUND, with what is needed.
void open_driver(const std::string& path);

/// The functions, once it is open.
const Driver& driver();

/// The device's address of memory, as the driver takes it.
inline CUdeviceptr address_of(const void* memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

} // namespace accelerator::nvidia

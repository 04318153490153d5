// Which functions of the runtime make a primary context and make it current
// when they are a process's first use of CUDA: those that need one. Programs
// call the driver next, or another library that does.
// Source: CUDA runtime API and programming guide, initialization.
#include <cuda.h>
#include <cuda_profiler_api.h>

#include <sys/wait.h>
#include <unistd.h>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

struct First {
  const char* name;
  bool makes_context;
  cudaError_t (*call)();
};

int number = 0;
unsigned bits = 0;
std::size_t bytes = 0;
char text[64];
void* pointer = nullptr;
cudaStream_t stream = nullptr;
cudaEvent_t event = nullptr;
cudaMemPool_t pool = nullptr;
cudaDeviceProp properties;

const First kFirst[] = {
    // What is known of devices and of the process.
    {"cudaGetDeviceCount", false, [] { return cudaGetDeviceCount(&number); }},
    {"cudaGetDevice", false, [] { return cudaGetDevice(&number); }},
    {"cudaGetDeviceProperties",
     false,
     [] { return cudaGetDeviceProperties(&properties, 0); }},
    {"cudaDeviceGetAttribute",
     false,
     [] { return cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0); }},
    {"cudaDeviceGetPCIBusId",
     false,
     [] { return cudaDeviceGetPCIBusId(text, sizeof(text), 0); }},
    {"cudaDeviceGetByPCIBusId",
     false,
     [] {
       cudaDeviceGetPCIBusId(text, sizeof(text), 0);
       return cudaDeviceGetByPCIBusId(&number, text);
     }},
    {"cudaDeviceCanAccessPeer",
     false,
     [] { return cudaDeviceCanAccessPeer(&number, 0, 1); }},
    {"cudaDeviceGetP2PAttribute",
     false,
     [] {
       return cudaDeviceGetP2PAttribute(
           &number, cudaDevP2PAttrAccessSupported, 0, 1);
     }},
    {"cudaChooseDevice",
     false,
     [] { return cudaChooseDevice(&number, &properties); }},
    {"cudaSetValidDevices",
     false,
     [] { return cudaSetValidDevices(&number, 1); }},
    {"cudaGetDeviceFlags", false, [] { return cudaGetDeviceFlags(&bits); }},
    {"cudaSetDeviceFlags",
     false,
     [] { return cudaSetDeviceFlags(cudaDeviceScheduleSpin); }},
    {"cudaDriverGetVersion",
     false,
     [] { return cudaDriverGetVersion(&number); }},
    {"cudaRuntimeGetVersion",
     false,
     [] { return cudaRuntimeGetVersion(&number); }},
    {"cudaGetLastError", false, [] { return cudaGetLastError(); }},
    {"cudaPeekAtLastError", false, [] { return cudaPeekAtLastError(); }},
    {"cudaDeviceGetDefaultMemPool",
     false,
     [] { return cudaDeviceGetDefaultMemPool(&pool, 0); }},
    {"cudaDeviceGetMemPool",
     false,
     [] { return cudaDeviceGetMemPool(&pool, 0); }},
    {"cudaThreadExchangeStreamCaptureMode",
     false,
     [] {
       cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
       return cudaThreadExchangeStreamCaptureMode(&mode);
     }},
    // Documented to leave the context that it makes alone.
    {"cudaInitDevice", false, [] { return cudaInitDevice(0, 0, 0); }},
    // What is about the current device.
    {"cudaSetDevice", true, [] { return cudaSetDevice(0); }},
    {"cudaDeviceSynchronize", true, [] { return cudaDeviceSynchronize(); }},
    {"cudaDeviceGetStreamPriorityRange",
     true,
     [] { return cudaDeviceGetStreamPriorityRange(&number, &number); }},
    {"cudaDeviceGetLimit",
     true,
     [] { return cudaDeviceGetLimit(&bytes, cudaLimitStackSize); }},
    {"cudaDeviceSetLimit",
     true,
     [] { return cudaDeviceSetLimit(cudaLimitStackSize, 2048); }},
    {"cudaDeviceGetCacheConfig",
     true,
     [] {
       cudaFuncCache configuration{};
       return cudaDeviceGetCacheConfig(&configuration);
     }},
    {"cudaDeviceSetCacheConfig",
     true,
     [] { return cudaDeviceSetCacheConfig(cudaFuncCachePreferL1); }},
    {"cudaDeviceGetSharedMemConfig",
     true,
     [] {
       cudaSharedMemConfig configuration{};
       return cudaDeviceGetSharedMemConfig(&configuration);
     }},
    {"cudaDeviceEnablePeerAccess",
     true,
     [] { return cudaDeviceEnablePeerAccess(1, 0); }},
    {"cudaCtxResetPersistingL2Cache",
     true,
     [] { return cudaCtxResetPersistingL2Cache(); }},
    {"cudaProfilerStart", true, [] { return cudaProfilerStart(); }},
    {"cudaProfilerStop", true, [] { return cudaProfilerStop(); }},
    // Memory.
    {"cudaFree", true, [] { return cudaFree(nullptr); }},
    {"cudaMalloc", true, [] { return cudaMalloc(&pointer, 64); }},
    {"cudaMalloc of nothing", true, [] { return cudaMalloc(&pointer, 0); }},
    {"cudaMallocPitch",
     true,
     [] { return cudaMallocPitch(&pointer, &bytes, 8, 8); }},
    {"cudaMallocManaged",
     true,
     [] { return cudaMallocManaged(&pointer, 64, cudaMemAttachGlobal); }},
    {"cudaMallocHost", true, [] { return cudaMallocHost(&pointer, 64); }},
    {"cudaMallocHost of nothing",
     true,
     [] { return cudaMallocHost(&pointer, 0); }},
    {"cudaHostAlloc", true, [] { return cudaHostAlloc(&pointer, 64, 0); }},
    {"cudaFreeHost", true, [] { return cudaFreeHost(nullptr); }},
    {"cudaHostRegister",
     true,
     [] { return cudaHostRegister(text, sizeof(text), 0); }},
    {"cudaHostGetDevicePointer",
     true,
     [] {
       cudaHostGetDevicePointer(&pointer, text, 0); // is not known
       return cudaSuccess;
     }},
    {"cudaHostGetFlags",
     true,
     [] {
       cudaHostGetFlags(&bits, text);
       return cudaSuccess;
     }},
    {"cudaMemGetInfo", true, [] { return cudaMemGetInfo(&bytes, &bytes); }},
    {"cudaPointerGetAttributes",
     true,
     [] {
       cudaPointerAttributes attributes{};
       return cudaPointerGetAttributes(&attributes, text);
     }},
    {"cudaMallocAsync",
     true,
     [] { return cudaMallocAsync(&pointer, 64, nullptr); }},
    {"cudaMemcpy",
     true,
     [] { return cudaMemcpy(text, text + 32, 32, cudaMemcpyHostToHost); }},
    {"cudaMemset of nothing", true, [] { return cudaMemset(nullptr, 0, 0); }},
    // Streams, events, kernels.
    {"cudaStreamCreate", true, [] { return cudaStreamCreate(&stream); }},
    {"cudaStreamSynchronize",
     true,
     [] { return cudaStreamSynchronize(nullptr); }},
    {"cudaStreamQuery", true, [] { return cudaStreamQuery(nullptr); }},
    {"cudaStreamGetPriority",
     true,
     [] { return cudaStreamGetPriority(nullptr, &number); }},
    {"cudaStreamIsCapturing",
     true,
     [] {
       cudaStreamCaptureStatus status{};
       return cudaStreamIsCapturing(nullptr, &status);
     }},
    {"cudaEventCreate", true, [] { return cudaEventCreate(&event); }},
    {"cudaLaunchHostFunc",
     true,
     [] { return cudaLaunchHostFunc(nullptr, [](void*) {}, nullptr); }},
    {"cudaFuncGetAttributes",
     true,
     [] {
       cudaFuncAttributes attributes{};
       return cudaFuncGetAttributes(&attributes, symbol(add));
     }},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor",
     true,
     [] {
       return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
           &number, symbol(add), 32, 0);
     }},
};

enum Outcome { kNone, kCurrent, kFailed, kOther };

Outcome outcome_of(const First& first) {
  if (first.call() != cudaSuccess || cuInit(0) != CUDA_SUCCESS) {
    return kFailed;
  }
  CUcontext current = nullptr;
  CUcontext primary = nullptr;
  if (cuCtxGetCurrent(&current) != CUDA_SUCCESS) {
    return kFailed;
  }
  if (current == nullptr) {
    return kNone;
  }
  return cuDevicePrimaryCtxRetain(&primary, 0) == CUDA_SUCCESS &&
          primary == current
      ? kCurrent
      : kOther;
}

// Each in a process of its own.
TEST(FirstCall, MakesAContextCurrentWhereCudasDoes) {
  for (const First& first : kFirst) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(outcome_of(first));
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << first.name;
    EXPECT_EQ(WEXITSTATUS(status), first.makes_context ? kCurrent : kNone)
        << first.name;
  }
}

} // namespace
} // namespace accelerator::cudart::testing

// The way from the runtime to the driver's functions.
// Source: CUDA runtime API, driver entry point access.
#include <cuda.h>
#include <dlfcn.h>

#include "runtime/api/cudart/call.h"

using namespace accelerator::runtime;
using accelerator::cudart::call;

namespace {

using GetProcAddress = CUresult (*)(
    const char*,
    void**,
    int,
    cuuint64_t,
    CUdriverProcAddressQueryResult*);

// libcuda.so.1 is next to this library, or already in the process.
GetProcAddress driver_lookup() {
  static const auto found = [] {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (driver == nullptr) {
      throw Failure(cudaErrorInsufficientDriver, dlerror());
    }
    void* symbol = dlsym(driver, "cuGetProcAddress_v2");
    require(symbol != nullptr, cudaErrorInsufficientDriver);
    return reinterpret_cast<GetProcAddress>(symbol);
  }();
  return found;
}

cudaError_t entry_point(
    const char* symbol,
    void** function,
    unsigned version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* result) {
  return call([&] {
    require(symbol != nullptr && function != nullptr);
    *function = nullptr;
    if (thread_state().per_thread_default > 0 && flags == cudaEnableDefault) {
      flags = cudaEnablePerThreadDefaultStream;
    }
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult status = driver_lookup()(
        symbol, function, static_cast<int>(version), flags, &found);
    require(status == CUDA_SUCCESS, static_cast<Status>(status));
    if (result != nullptr) {
      *result = static_cast<cudaDriverEntryPointQueryResult>(found);
      return; // the caller reads there that nothing was found
    }
    require(*function != nullptr, cudaErrorSymbolNotFound);
  });
}

} // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPoint(
    const char* symbol,
    void** function,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* result) {
  return entry_point(symbol, function, CUDART_VERSION, flags, result);
}

/// @param version of CUDA, which chooses among a function's variants: 12040.
cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol,
    void** function,
    unsigned version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* result) {
  return entry_point(symbol, function, version, flags, result);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol,
    void** function,
    unsigned version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* result) {
  const PerThreadDefault scope;
  return entry_point(symbol, function, version, flags, result);
}

} // extern "C"

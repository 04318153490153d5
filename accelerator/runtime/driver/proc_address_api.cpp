// Functions by name and version. Source: CUDA driver API, driver entry point
// access; which version of CUDA brought which variant: cudaTypedefs.h.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "accelerator/runtime/driver/call.h"

using namespace accelerator::runtime;
using accelerator::driver::call_before_init;

namespace {

// Variants that came after CUDA 11.3, which brought this function; everything
// older is taken in its newest form.
struct Variant {
  const char* name;
  const char* symbol;
  int since; // CUDA_VERSION
};
constexpr Variant kVariants[] = {
    {"cuCtxCreate", "cuCtxCreate_v4", 12050},
    {"cuCtxCreate", "cuCtxCreate_v3", 11040},
    {"cuGetProcAddress", "cuGetProcAddress_v2", 12000},
    {"cuGraphAddKernelNode", "cuGraphAddKernelNode_v2", 12000},
    {"cuGraphExecUpdate", "cuGraphExecUpdate_v2", 12000},
    {"cuGraphInstantiate", "cuGraphInstantiateWithFlags", 11040},
    {"cuMemAdvise", "cuMemAdvise_v2", 12020},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", 12020},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v3", 12030},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v2", 11030},
    {"cuStreamUpdateCaptureDependencies",
     "cuStreamUpdateCaptureDependencies_v2",
     12030},
};

void* own_symbol(const std::string& name) {
  static void* self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&own_symbol), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  // Without a library of its own, the driver is part of the program.
  return dlsym(self != nullptr ? self : RTLD_DEFAULT, name.c_str());
}

// The function itself or its variant for the per-thread default stream.
void* find(const std::string& name, bool per_thread) {
  if (per_thread) {
    for (const char* suffix : {"_ptsz", "_ptds"}) {
      if (void* found = own_symbol(name + suffix)) {
        return found;
      }
    }
  }
  return own_symbol(name);
}

void* find_version(const std::string& name, int version, bool per_thread) {
  bool listed = false;
  for (const Variant& variant : kVariants) {
    if (name == variant.name) {
      listed = true;
      if (version >= variant.since) {
        return find(variant.symbol, per_thread);
      }
    }
  }
  if (!listed || name == "cuCtxCreate") {
    for (const char* suffix : {"_v2", ""}) {
      if (void* found = find(name + suffix, per_thread)) {
        return found;
      }
    }
  }
  return find(name, per_thread);
}

} // namespace

extern "C" {

CUresult cuGetProcAddress(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags,
    CUdriverProcAddressQueryResult* result) {
  return call_before_init([&] {
    require(symbol != nullptr && function != nullptr);
    // A name may already carry its version.
    const bool per_thread =
        (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *function = find_version(symbol, version, per_thread);
    const bool found = *function != nullptr;
    if (result != nullptr) {
      *result = found ? CU_GET_PROC_ADDRESS_SUCCESS
                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    require(found, cudaErrorSymbolNotFound);
  });
}

// The form from before CUDA 12; the header only declares the newer one.
#undef cuGetProcAddress
CUresult cuGetProcAddress(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

} // extern "C"

// Functions by name and version. Source: CUDA driver API, driver entry point
// access; what NVIDIA's driver answers was tried with that of CUDA 12.4, which
// answers without a GPU.
#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "runtime/api/driver/call.h"
#include "runtime/api/driver/function_versions.h"

using namespace accelerator::runtime;
using accelerator::driver::call_before_init;
using accelerator::driver::FunctionVersions;
using accelerator::driver::kFunctionVersions;

namespace {

constexpr unsigned kPerThreadSince = 7000; // CUDA_VERSION

struct Found {
  void* function = nullptr;
  CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
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

const FunctionVersions* versions_of(std::string_view name) {
  const auto* const found = std::lower_bound(
      std::begin(kFunctionVersions),
      std::end(kFunctionVersions),
      name,
      [](const FunctionVersions& row, std::string_view wanted) {
        return row.name < wanted;
      });
  return found != std::end(kFunctionVersions) && found->name == name ? found
                                                                     : nullptr;
}

// Whether a symbol is a form of a function, whose name has no such ending.
bool is_form(const std::string& name) {
  const std::size_t end = name.rfind('_');
  return end != std::string::npos && end > 0 &&
      versions_of(name.substr(0, name.find('_'))) != nullptr;
}

// The newest form that the version has: an older one has other parameters than
// who asks for the version has in mind, also where the newest is missing here.
Found find(const std::string& name, unsigned version, bool per_thread) {
  std::string symbol = name;
  if (const FunctionVersions* versions = versions_of(name)) {
    const auto form = std::count_if(
        std::begin(versions->since),
        std::end(versions->since),
        [&](unsigned since) { return since > 0 && since <= version; });
    if (form == 0) {
      return {nullptr, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT};
    }
    if (form > 1) {
      symbol += "_v" + std::to_string(form);
    }
  } else if (is_form(name)) {
    return {};
  }
  if (per_thread) {
    for (const char* suffix : {"_ptsz", "_ptds"}) {
      if (void* function = own_symbol(symbol + suffix)) {
        return version >= kPerThreadSince
            ? Found{function, CU_GET_PROC_ADDRESS_SUCCESS}
            : Found{nullptr, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT};
      }
    }
  }
  void* const function = own_symbol(symbol);
  return function != nullptr ? Found{function, CU_GET_PROC_ADDRESS_SUCCESS}
                             : Found{};
}

Found find_checked(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags) {
  constexpr cuuint64_t kLegacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  constexpr cuuint64_t kPerThread =
      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  require(symbol != nullptr && function != nullptr);
  require((flags & ~(kLegacy | kPerThread)) == 0);
  return find(
      symbol, static_cast<unsigned>(version), (flags & kPerThread) != 0);
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
    const Found found = find_checked(symbol, function, version, flags);
    *function = found.function;
    if (result != nullptr) {
      *result = found.result;
    }
  });
}

/// Which programs with a per-thread default stream call.
CUresult cuGetProcAddress_v2_ptsz(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags,
    CUdriverProcAddressQueryResult* result) {
  if (flags == CU_GET_PROC_ADDRESS_DEFAULT) {
    flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  }
  return cuGetProcAddress(symbol, function, version, flags, result);
}

// The form from before CUDA 12; the header only declares the newer one.
#undef cuGetProcAddress
CUresult cuGetProcAddress(
    const char* symbol,
    void** function,
    int version,
    cuuint64_t flags) {
  return call_before_init([&] {
    const Found found = find_checked(symbol, function, version, flags);
    require(found.function != nullptr, cudaErrorSymbolNotFound);
    *function = found.function;
  });
}

} // extern "C"

// Modules, their kernels and variables, and the library interface to the same.
// Source: CUDA driver API, module, library and execution control management.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/driver/call.h"
#include "runtime/api/driver/jit_options.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/modules/occupancy.h"
#include "runtime/core/operations/files.h"
#include "runtime/core/operations/functions.h"
#include "runtime/core/operations/modules.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using namespace accelerator::driver;

namespace {

// Libraries are of no context. What is asked of them in none is answered for
// the first device; each other has them when it needs them.
Device& library_device() {
  machine();
  return thread_state().bound ? current_device() : machine().device(0);
}

// @param image a file's content, or a pointer without a size.
template <typename Image>
CUmodule load(
    const Image& image,
    const std::string& name,
    Device& device,
    JitOptions options = {}) {
  try {
    return static_cast<CUmodule>(
        module_load(make_module(image, name), device, options.max_registers));
  } catch (const Failure& failure) {
    options.error.write(failure.message());
    throw;
  }
}

std::shared_ptr<Function> resolve_function(CUfunction handle) {
  return machine().functions().get(handle);
}

CUfunction find_kernel(Module& module, Device& device, const char* name) {
  return static_cast<CUfunction>(module_get_function(module, device, name));
}

void list_kernels(
    CUfunction* functions,
    unsigned count,
    Module& module,
    Device& device) {
  require(functions != nullptr);
  const auto names = module.on(device).kernel_names;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, names.size()); ++i) {
    functions[i] = find_kernel(module, device, names[i].c_str());
  }
}

void get_attribute(
    int* value,
    CUfunction_attribute attribute,
    Function& function,
    Device& device) {
  require(value != nullptr);
  const KernelInfo& info = function.on(device).info;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(info.max_threads);
      return;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(info.static_shared_bytes);
      return;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(info.constant_bytes);
      return;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(info.local_bytes);
      return;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = registers_per_thread(device, info);
      return;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = static_cast<int>(device.capability());
      return;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(function.dynamic_shared_limit(device));
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = function.carveout;
      return;
    default: // caching, clusters: there is none of it
      require(attribute >= 0 && attribute < CU_FUNC_ATTRIBUTE_MAX);
      *value = 0;
  }
}

} // namespace

extern "C" {

CUresult cuModuleLoadDataEx(
    CUmodule* module,
    const void* image,
    unsigned count,
    CUjit_option* names,
    void** values) {
  return call([&] {
    JitOptions options(count, names, values);
    options.clear_logs();
    store(module, load(image, "cuModuleLoadData", current_context(), options));
    contexts().note(Contexts::Kind::kModule, *module);
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return call([&] {
    const std::string image = read_file(path);
    store(module, load(image, path, current_context()));
    contexts().note(Contexts::Kind::kModule, *module);
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return call([&] { module_unload(module); });
}

CUresult cuModuleGetFunction(
    CUfunction* function,
    CUmodule module,
    const char* name) {
  return call([&] {
    const auto resolved = resolve_module(module);
    store(function, find_kernel(*resolved, current_context(), name));
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return call([&] {
    store(
        count,
        resolve_module(module)->on(current_context()).kernel_names.size());
  });
}

CUresult cuModuleEnumerateFunctions(
    CUfunction* functions,
    unsigned count,
    CUmodule module) {
  return call([&] {
    const auto resolved = resolve_module(module);
    list_kernels(functions, count, *resolved, current_context());
  });
}

CUresult cuModuleGetGlobal(
    CUdeviceptr* address,
    size_t* bytes,
    CUmodule module,
    const char* name) {
  return call([&] {
    require(name != nullptr);
    const Symbol& symbol =
        resolve_module(module)->variable(current_context(), name);
    if (address != nullptr) {
      *address = symbol.address;
    }
    if (bytes != nullptr) {
      *bytes = symbol.size;
    }
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return call([&] { store(mode, CU_MODULE_LAZY_LOADING); });
}

CUresult cuLibraryLoadData(
    CUlibrary* library,
    const void* image,
    CUjit_option* names,
    void** values,
    unsigned count,
    CUlibraryOption*,
    void**,
    unsigned) {
  return call([&] {
    JitOptions options(count, names, values);
    options.clear_logs();
    store(
        library,
        reinterpret_cast<CUlibrary>(
            load(image, "cuLibraryLoadData", library_device(), options)));
  });
}

CUresult cuLibraryLoadFromFile(
    CUlibrary* library,
    const char* path,
    CUjit_option* names,
    void** values,
    unsigned count,
    CUlibraryOption*,
    void**,
    unsigned) {
  return call([&] {
    JitOptions options(count, names, values);
    options.clear_logs();
    const std::string image = read_file(path);
    store(
        library,
        reinterpret_cast<CUlibrary>(
            load(image, path, library_device(), options)));
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return cuModuleUnload(reinterpret_cast<CUmodule>(library));
}

CUresult cuLibraryGetKernel(
    CUkernel* kernel,
    CUlibrary library,
    const char* name) {
  return call([&] {
    const auto resolved = resolve_module(library);
    store(
        kernel,
        reinterpret_cast<CUkernel>(
            find_kernel(*resolved, library_device(), name)));
  });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return call([&] {
    const auto resolved = resolve_module(library);
    store(count, resolved->on(library_device()).kernel_names.size());
  });
}

CUresult cuLibraryEnumerateKernels(
    CUkernel* kernels,
    unsigned count,
    CUlibrary library) {
  return call([&] {
    list_kernels(
        reinterpret_cast<CUfunction*>(kernels),
        count,
        *resolve_module(library),
        library_device());
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return call([&] {
    resolve_module(library);
    store(module, reinterpret_cast<CUmodule>(library));
  });
}

CUresult cuLibraryGetGlobal(
    CUdeviceptr* address,
    size_t* bytes,
    CUlibrary library,
    const char* name) {
  return cuModuleGetGlobal(
      address, bytes, reinterpret_cast<CUmodule>(library), name);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return call([&] {
    const auto handle = reinterpret_cast<CUfunction>(kernel);
    resolve_function(handle);
    store(function, handle);
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return call([&] {
    store(
        module,
        reinterpret_cast<CUmodule>(&resolve_function(function)->module()));
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return call([&] { store(name, resolve_function(function)->name().c_str()); });
}

CUresult cuFuncGetParamInfo(
    CUfunction function,
    size_t index,
    size_t* offset,
    size_t* size) {
  return call([&] {
    func_get_param_info(
        *resolve_function(function), current_context(), index, offset, size);
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return cuFuncGetName(name, reinterpret_cast<CUfunction>(kernel));
}

CUresult cuKernelGetParamInfo(
    CUkernel kernel,
    size_t index,
    size_t* offset,
    size_t* size) {
  return cuFuncGetParamInfo(
      reinterpret_cast<CUfunction>(kernel), index, offset, size);
}

CUresult cuKernelSetCacheConfig(
    CUkernel kernel,
    CUfunc_cache,
    CUdevice device) {
  return call([&] {
    machine().device(device);
    resolve_function(reinterpret_cast<CUfunction>(kernel));
  });
}

// Kernels are loaded when their handles are made.
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return call([&] {
    resolve_function(function);
    store(state, CU_FUNCTION_LOADING_STATE_LOADED);
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return call([&] { resolve_function(function)->on(current_context()); });
}

CUresult cuFuncGetAttribute(
    int* value,
    CUfunction_attribute attribute,
    CUfunction function) {
  return call([&] {
    get_attribute(
        value, attribute, *resolve_function(function), current_context());
  });
}

CUresult cuFuncSetAttribute(
    CUfunction function,
    CUfunction_attribute attribute,
    int value) {
  return call([&] {
    func_set_attribute(
        *resolve_function(function),
        current_context(),
        static_cast<cudaFuncAttribute>(attribute), // the same numbers
        value);
  });
}

CUresult cuKernelGetAttribute(
    int* value,
    CUfunction_attribute attribute,
    CUkernel kernel,
    CUdevice device) {
  return call([&] {
    get_attribute(
        value,
        attribute,
        *resolve_function(reinterpret_cast<CUfunction>(kernel)),
        machine().device(device));
  });
}

CUresult cuKernelSetAttribute(
    CUfunction_attribute attribute,
    int value,
    CUkernel kernel,
    CUdevice device) {
  return call([&] {
    func_set_attribute(
        *resolve_function(reinterpret_cast<CUfunction>(kernel)),
        machine().device(device),
        static_cast<cudaFuncAttribute>(attribute),
        value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return call([&] { resolve_function(function); });
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return call([&] { resolve_function(function); });
}

} // extern "C"

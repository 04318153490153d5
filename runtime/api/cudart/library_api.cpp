// Libraries of kernels that programs load, and the functions by which code of
// nvcc 12.8 and later launches its kernels. A cudaLibrary_t is the driver's
// CUlibrary and a cudaKernel_t its CUkernel.
// Source: CUDA runtime API, library management and execution control;
// crt/device_functions.h.
#include <memory>
#include <string>

#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/registry.h"
#include "runtime/api/cudart/versions.h"
#include "runtime/core/operations/files.h"
#include "runtime/core/operations/functions.h"
#include "runtime/core/operations/modules.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using namespace accelerator::cudart;

namespace {

// Of the options only this one changes what is loaded; messages go to stderr.
unsigned max_registers(cudaJitOption* names, void** values, unsigned count) {
  require(count == 0 || (names != nullptr && values != nullptr));
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] == cudaJitMaxRegisters) {
      return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
    }
  }
  return 0;
}

template <typename Image>
void load(
    cudaLibrary_t* library,
    const Image& image,
    const std::string& name,
    unsigned registers) {
  store(
      library,
      static_cast<cudaLibrary_t>(
          module_load(make_module(image, name), current_device(), registers)));
}

} // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(
    cudaLibrary_t* library,
    const void* code,
    cudaJitOption* names,
    void** values,
    unsigned count,
    cudaLibraryOption*,
    void**,
    unsigned) {
  return call([&] {
    require(code != nullptr);
    load(
        library,
        code,
        "cudaLibraryLoadData",
        max_registers(names, values, count));
  });
}

cudaError_t cudaLibraryLoadFromFile(
    cudaLibrary_t* library,
    const char* path,
    cudaJitOption* names,
    void** values,
    unsigned count,
    cudaLibraryOption*,
    void**,
    unsigned) {
  return call([&] {
    load(library, read_file(path), path, max_registers(names, values, count));
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return call([&] { module_unload(library); });
}

cudaError_t cudaLibraryGetKernel(
    cudaKernel_t* kernel,
    cudaLibrary_t library,
    const char* name) {
  return call([&] {
    store(
        kernel,
        static_cast<cudaKernel_t>(module_get_function(
            *resolve_module(library), current_device(), name)));
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return call([&] {
    store(
        count,
        static_cast<unsigned>(
            resolve_module(library)->on(current_device()).kernel_names.size()));
  });
}

cudaError_t cudaLibraryEnumerateKernels(
    cudaKernel_t* kernels,
    unsigned count,
    cudaLibrary_t library) {
  return call([&] {
    require(kernels != nullptr);
    const auto module = resolve_module(library);
    Device& device = current_device();
    const auto names = module->on(device).kernel_names;
    for (std::size_t i = 0; i < names.size() && i < count; ++i) {
      kernels[i] = static_cast<cudaKernel_t>(
          module_get_function(*module, device, names[i].c_str()));
    }
  });
}

cudaError_t cudaLibraryGetGlobal(
    void** address,
    size_t* bytes,
    cudaLibrary_t library,
    const char* name) {
  return call([&] {
    require(name != nullptr);
    const Symbol& symbol =
        resolve_module(library)->variable(current_device(), name);
    if (address != nullptr) {
      *address = reinterpret_cast<void*>(symbol.address);
    }
    if (bytes != nullptr) {
      *bytes = symbol.size;
    }
  });
}

cudaError_t cudaKernelSetAttributeForDevice(
    cudaKernel_t kernel,
    cudaFuncAttribute attribute,
    int value,
    int device) {
  return call([&] {
    func_set_attribute(
        *find_function(kernel), machine().device(device), attribute, value);
  });
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return call([&] {
    require(host_function != nullptr, cudaErrorInvalidDeviceFunction);
    // Code is loaded into a device when it is launched there.
    store(
        kernel,
        reinterpret_cast<cudaKernel_t>(
            machine().functions().add(find_function(host_function))));
  });
}

cudaError_t __cudaLaunchKernel(
    cudaKernel_t kernel,
    dim3 grid,
    dim3 block,
    void** arguments,
    size_t shared_bytes,
    cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(
    cudaKernel_t kernel,
    dim3 grid,
    dim3 block,
    void** arguments,
    size_t shared_bytes,
    cudaStream_t stream) {
  const PerThreadDefault scope;
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

} // extern "C"

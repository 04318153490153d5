// Looks the functions up by name: they are not CUDA's.
#include "accelerator/operators/dispatch/runtime.h"

#include <c10/cuda/CUDAException.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>

namespace torch_cuda::operators {
namespace {

template <class Function>
void look_up(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  TORCH_CHECK(
      function != nullptr,
      "torch_cuda: the runtime has no ",
      name,
      ". Install torch_cuda_sim of the same version as torch_cuda.");
}

} // namespace

Runtime::Runtime(void* library) {
  look_up(library, "accelerator_device_capabilities", capabilities_);
  look_up(library, "accelerator_device_library", library_);
  look_up(library, "accelerator_stream_submit", submit_);
}

const Runtime* Runtime::get() {
  static const Runtime* runtime = []() -> const Runtime* {
    // It stays loaded: the handle is kept.
    void* library = dlopen("libaccel_runtime.so", RTLD_NOW | RTLD_NOLOAD);
    return library == nullptr ? nullptr : new Runtime(library);
  }();
  return runtime;
}

std::uint64_t Runtime::capabilities(c10::DeviceIndex device) const {
  std::uint64_t bits = 0;
  TORCH_CHECK(
      capabilities_(device, &bits) == 0,
      "torch_cuda: the runtime does not say what cuda:",
      static_cast<int>(device),
      " can do");
  return bits;
}

std::pair<std::string, std::string> Runtime::library(
    c10::DeviceIndex device) const {
  const char* name = nullptr;
  const char* file = nullptr;
  TORCH_CHECK(
      library_(device, &name, &file) == 0,
      "torch_cuda: the runtime does not say whose device cuda:",
      static_cast<int>(device),
      " is");
  return {name, file};
}

void Runtime::submit(
    cudaStream_t stream,
    accel_status (*function)(void* native_stream, void* data),
    void* data) const {
  C10_CUDA_CHECK(submit_(stream, function, data));
}

} // namespace torch_cuda::operators

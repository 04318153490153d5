// The library that the runtime is in.
#include "router/operators/dispatch/runtime.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>

namespace torch_cuda::operators {

void* runtime_function(const char* name) {
  // It stays loaded: the handle is kept.
  static void* runtime = dlopen("libaccel_runtime.so", RTLD_NOW | RTLD_NOLOAD);
  return runtime == nullptr ? nullptr : dlsym(runtime, name);
}

void fail_device(
    c10::DeviceIndex device,
    const char* what,
    const char* reason) noexcept {
  std::fprintf(
      stderr,
      "torch_cuda: %s failed in a CUDA graph on cuda:%d: %s\n",
      what,
      static_cast<int>(device),
      reason);
  using Fail = int (*)(int device, int status);
  static const auto fail =
      reinterpret_cast<Fail>(runtime_function("accelerator_device_fail"));
  if (fail != nullptr) {
    fail(device, cudaErrorAssert);
  }
}

} // namespace torch_cuda::operators

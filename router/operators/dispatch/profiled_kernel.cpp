// What the runtime is told of kernels of the CPU.
#include "router/operators/dispatch/profiled_kernel.h"

#include "router/operators/dispatch/runtime.h"

#include <c10/cuda/CUDAStream.h>

namespace torch_cuda::operators {
namespace {

// runtime/core/streams/work/host_kernel_api.h; null where the
// process has NVIDIA's runtime.
struct Functions {
  int (*begin)(cudaStream_t stream, std::uint64_t* state);
  void (*end)(const std::uint64_t* state, const char* name);
  cudaError_t (*launch)(
      cudaStream_t stream,
      cudaHostFn_t function,
      void* data,
      const char* name);
};

template <typename Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(runtime_function(name));
}

const Functions& functions() {
  static const Functions found = [] {
    Functions all{};
    find(all.begin, "accelerator_host_kernel_begin");
    find(all.end, "accelerator_host_kernel_end");
    find(all.launch, "accelerator_host_kernel_launch");
    return all;
  }();
  return found;
}

} // namespace

std::string profiled_name(const std::string& name) {
  return name + " (CPU kernel)";
}

ProfiledKernel::ProfiledKernel(
    const c10::OperatorHandle& op,
    c10::DeviceIndex device)
    : op_(op) {
  if (functions().begin != nullptr) {
    watched_ =
        functions().begin(
            c10::cuda::getCurrentCUDAStream(device).stream(), state_) != 0;
  }
}

ProfiledKernel::~ProfiledKernel() {
  if (C10_UNLIKELY(watched_)) {
    functions().end(
        state_, profiled_name(c10::toString(op_.operator_name())).c_str());
  }
}

cudaError_t launch_profiled(
    cudaStream_t stream,
    cudaHostFn_t function,
    void* data,
    const std::string& name) {
  return functions().launch == nullptr
      ? cudaLaunchHostFunc(stream, function, data)
      : functions().launch(stream, function, data, name.c_str());
}

} // namespace torch_cuda::operators

// A kernel of the CPU as profilers see it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace torch_cuda::operators {

/// What profilers call an operator that the CPU's kernel serves, such as
/// "aten::add.Tensor (CPU kernel)".
std::string profiled_name(const std::string& name);

/// The run of a CPU's kernel on the calling thread, from here to the end of the
/// scope: a kernel of the current stream in profiles of CUDA. While nobody
/// profiles it is next to nothing.
class ProfiledKernel {
 public:
  /// @param op has to live until the end, @param device whose current stream
  /// has been waited for.
  ProfiledKernel(const c10::OperatorHandle& op, c10::DeviceIndex device);
  ~ProfiledKernel();
  ProfiledKernel(const ProfiledKernel&) = delete;
  ProfiledKernel& operator=(const ProfiledKernel&) = delete;

 private:
  const c10::OperatorHandle& op_;
  std::uint64_t state_[4]; // of the runtime
  bool watched_ = false;
};

/// As cudaLaunchHostFunc(), for a CPU's kernel.
/// @param name as profiled_name() gives it.
cudaError_t launch_profiled(
    cudaStream_t stream,
    cudaHostFn_t function,
    void* data,
    const std::string& name);

} // namespace torch_cuda::operators

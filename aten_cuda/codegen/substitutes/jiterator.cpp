// Takes the place of cuda/jiterator.cu in builds whose op profile has no
// kernel: torch.cuda.jiterator compiles CUDA code, which nothing there runs.

#include <ATen/cuda/jiterator.h>
#include <c10/util/Exception.h>

namespace at::cuda {

c10::SmallVector<at::Tensor> CompileAndLaunchKernel(
    const std::string& /*code_string*/,
    const std::string& kernel_name,
    const int /*num_outputs*/,
    const c10::SmallVector<at::Tensor>& /*tensors*/,
    const c10::SmallVector<at::Scalar>& /*extra_args*/,
    bool /*return_by_ref*/) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      "torch.cuda.jiterator: ",
      kernel_name,
      " is CUDA code, and this build has no kernels (--//config:ops=runtime); "
      "build with --//config:ops=core");
}

} // namespace at::cuda

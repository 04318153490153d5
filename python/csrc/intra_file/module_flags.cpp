// CUDA half of torch/csrc/Module.cpp: the attributes of torch._C that say what
// the build has. torch.backends and torch.cuda read them.
#include "python/csrc/intra_file/sites.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAConfig.h>

namespace torch_cuda::intra_file {

void init_module_flags(py::module_& torch_c, Swaps& swaps) {
  swaps.attribute(torch_c, "_has_cuda", py::bool_(true));
  swaps.attribute(torch_c, "_has_cudnn", py::bool_(AT_CUDNN_ENABLED() != 0));
  swaps.attribute(
      torch_c, "_has_cusparselt", py::bool_(AT_CUSPARSELT_ENABLED() != 0));
  // Asks the CUDA hooks, as upstream does; the CPU build asked the ones that
  // were there before libtorch_cuda was loaded.
  swaps.attribute(torch_c, "_has_magma", py::bool_(at::hasMAGMA()));
}

} // namespace torch_cuda::intra_file

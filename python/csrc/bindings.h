// What lives here: the entry point to everything that PyTorch's own sources
// bind for CUDA.
#pragma once

#include <torch/csrc/python_headers.h>

namespace torch_cuda {

// Puts on `module` what a CUDA build of PyTorch puts on `torch._C`: functions,
// classes, the submodules `_cudart`, `_nvtx` (and `_cudnn`, `_cusparselt` where
// they were compiled), and the flags `_has_cuda`, `_has_cudnn`,
// `_has_cusparselt`, `_has_magma`.
//
// module: a fresh module, borrowed. Never `torch._C` itself: there, a CPU build
// keeps dummy classes under the same names, over which pybind11 cannot bind,
// and a failure halfway would leave its mark.
// Errors: a Python or C++ exception; the submodules that it had entered into
// `sys.modules` until then are taken out again.
void bind_upstream(PyObject* module);

} // namespace torch_cuda

// The CUDA half of files that stay in the CPU build, for the part of torch that
// is bound to Python.
//
// Upstream keeps some CUDA code in `#ifdef USE_CUDA` blocks inside files that
// are compiled into libtorch_python. A stock CPU torch was built without these
// blocks. Each file of this folder supplies the blocks of one upstream file
// from outside: it replaces a function, a type slot or an attribute that
// `torch._C` already has by one that handles CUDA arguments and hands
// everything else to the original. docs/intra-file.md lists every site.
#pragma once

#include <torch/csrc/python_headers.h>

namespace torch_cuda {

// Puts the CUDA half of every site in place. Does nothing when it is in place
// already.
//
// Call it with the GIL held, once libtorch_cuda is loaded and its CUDA hooks
// are installed (the flags are read from them), and after `torch` has been
// imported as a whole (the storage and tensor classes must exist).
//
//   torch_c_module: the module object `torch._C` (borrowed).
//
// Throws python_error, pybind11::error_already_set or c10::Error when a site is
// not what this build expects. By then every site is as it was before the call.
void init_intra_file(PyObject* torch_c_module);

// Takes all of it back: afterwards `torch._C` behaves like the CPU build that
// it is. For an activation that fails at a later stage. CUDA objects made in
// between stay valid. Call it with the GIL held; it throws nothing.
void revert_intra_file() noexcept;

} // namespace torch_cuda

// What lives here: the extension module
// torch_cuda_distributed._CUDAC_distributed. Importing it binds onto two
// modules of its own, `torch_c` and `c10d`, what the package's swap puts on
// torch._C and torch._C._distributed_c10d. It changes nothing of torch;
// `complete` does, as the last step.
#include <torch/csrc/python_headers.h>

#include <pybind11/pybind11.h>

#include "distributed/csrc/bindings.h"
#include "python/csrc/errors.h"

namespace py = pybind11;

namespace {

// A module that `import` does not know.
py::module_ make_module(const char* name) {
  auto module = py::reinterpret_steal<py::module_>(PyModule_New(name));
  if (!module) {
    throw py::error_already_set();
  }
  return module;
}

} // namespace

PYBIND11_MODULE(_CUDAC_distributed, m) {
  m.doc() = "NCCL's bindings of PyTorch, built outside of PyTorch.";
  torch_cuda::with_python_errors([&] {
    auto torch_c = make_module("torch._C");
    torch_cuda_distributed::bind_nccl(torch_c);
    auto c10d = make_module("torch._C._distributed_c10d");
    torch_cuda_distributed::bind_c10d(c10d);
    m.attr("torch_c") = torch_c;
    m.attr("c10d") = c10d;
  });
  m.def(
      "complete",
      [](const py::module_& torch_c) {
        torch_cuda::with_python_errors(
            [&] { torch_cuda_distributed::give_cuda_to_rpc(torch_c); });
      },
      py::arg("torch_c"),
      "Changes what is no name on a module: the constructor of RPC's agents.\n"
      "\n"
      "torch_c: the module torch._C.");
}

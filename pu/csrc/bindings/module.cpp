// The extension module torch_pu._pccl: process groups of pu for Python.
#include "pu/csrc/distributed/pccl.h"

#include <torch/csrc/utils/pybind.h>

PYBIND11_MODULE(_pccl, m) {
  m.doc() = "Process groups of pu.";
  // Knows c10d's classes.
  pybind11::module_::import("torch._C._distributed_c10d");
  m.def(
      "make_pccl",
      &torch_pu::make_pccl,
      pybind11::arg("cuda"),
      pybind11::call_guard<pybind11::gil_scoped_release>(),
      "Makes the process group of pu over one of CUDA.\n"
      "\n"
      "cuda: a process group's backend for CUDA's tensors.");
}

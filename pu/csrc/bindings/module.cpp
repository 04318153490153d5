// The extension module torch_pu._bindings: what takes and gives tensors and
// process groups of Python's.
#include "pu/csrc/distributed/pccl.h"
#include "pu/csrc/operators/other_name.h"

#include <torch/csrc/utils/pybind.h>

namespace py = pybind11;

PYBIND11_MODULE(_bindings, m) {
  m.doc() = "Tensors and process groups of pu.";
  m.def(
      "as_cuda",
      [](const at::Tensor& tensor) {
        return torch_pu::as_other_name(tensor, c10::kCUDA);
      },
      py::arg("tensor"),
      "The tensor's memory as a tensor of cuda.");
  m.def(
      "as_pu",
      [](const at::Tensor& tensor) {
        return torch_pu::as_other_name(tensor, c10::kPrivateUse1);
      },
      py::arg("tensor"),
      "The tensor's memory as a tensor of pu.");
  // The classes of its argument and its result are torch.distributed's, which
  // has been imported where it is called.
  m.def(
      "make_pccl",
      &torch_pu::make_pccl,
      py::arg("cuda"),
      py::call_guard<py::gil_scoped_release>(),
      "Makes the process group of pu over one of CUDA.\n"
      "\n"
      "cuda: a process group's backend for CUDA's tensors.");
  m.def(
      "cuda_below",
      &torch_pu::cuda_below,
      py::arg("backend"),
      "The backend for CUDA's tensors below one of pu, None for any other.");
}

// What lives here: NCCL's functions of upstream's python_nccl.cpp under the
// names that torch/csrc/cuda/Module.cpp gives them.
#include "distributed/csrc/bindings.h"

#include <torch/csrc/cuda/python_nccl.h>

namespace py = pybind11;

namespace torch_cuda_distributed {
namespace {

// Python keeps pointers to it.
PyMethodDef methods[] = {
    {"_nccl_version", THCPModule_nccl_version, METH_NOARGS, nullptr},
    {"_nccl_version_suffix",
     THCPModule_nccl_version_suffix,
     METH_NOARGS,
     nullptr},
    {"_nccl_unique_id", THCPModule_nccl_unique_id, METH_NOARGS, nullptr},
    {"_nccl_init_rank", THCPModule_nccl_init_rank, METH_VARARGS, nullptr},
    {"_nccl_reduce", THCPModule_nccl_reduce, METH_VARARGS, nullptr},
    {"_nccl_all_reduce", THCPModule_nccl_all_reduce, METH_VARARGS, nullptr},
    {"_nccl_broadcast", THCPModule_nccl_broadcast, METH_VARARGS, nullptr},
    {"_nccl_all_gather", THCPModule_nccl_all_gather, METH_VARARGS, nullptr},
    {"_nccl_reduce_scatter",
     THCPModule_nccl_reduce_scatter,
     METH_VARARGS,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void bind_nccl(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), methods) < 0) {
    throw py::error_already_set();
  }
}

} // namespace torch_cuda_distributed

// What lives here: the parts of the extension module _CUDAC_distributed. Each
// binds onto a module object that has the name which its contents have in a
// CUDA build; nothing of torch is changed.
#pragma once

#include <torch/csrc/python_headers.h>

#include <pybind11/pybind11.h>

namespace torch_cuda_distributed {

// Binds the CUDA half of torch/csrc/distributed/c10d/init.cpp: ProcessGroupNCCL
// with its options, the flight recorder, the default timeout.
//
// module: an empty module named "torch._C._distributed_c10d".
void bind_c10d(pybind11::module_& module);

// Binds NCCL's functions, `_nccl_version` and its like.
//
// module: an empty module named "torch._C".
void bind_nccl(pybind11::module_& module);

// Lets RPC agents that are made from here on say that they have CUDA, the CUDA
// half of torch/csrc/distributed/rpc/request_callback_impl.cpp. Does nothing to
// a torch without TensorPipe.
//
// torch_c: the module torch._C.
void give_cuda_to_rpc(const pybind11::module_& torch_c);

} // namespace torch_cuda_distributed

// Host code that calls a function of libtorch_cuda, without a CUDA header.
#include <pybind11/pybind11.h>
#include <torch/csrc/cuda/memory_snapshot.h>

static pybind11::bytes memory_snapshot() {
  return torch::cuda::_memory_snapshot_pickled();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("memory_snapshot", &memory_snapshot);
}

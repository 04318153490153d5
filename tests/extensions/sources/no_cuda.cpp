// Host code that has nothing to do with CUDA.
#include <pybind11/pybind11.h>

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("answer", [] { return 42; });
}

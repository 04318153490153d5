// Registers axpy.cu's function as torch.ops.torch_cuda_test.axpy.

#include <ATen/core/Tensor.h>
#include <torch/library.h>

at::Tensor axpy(const at::Tensor& x, const at::Tensor& y, double a);

TORCH_LIBRARY(torch_cuda_test, library) {
  library.def("axpy(Tensor x, Tensor y, float a) -> Tensor", &axpy);
}

"""A CUDA kernel, built and called."""

import torch
from torch.utils.cpp_extension import CUDAExtension, load_inline

module = load_inline(
    "double_it",
    cpp_sources="torch::Tensor double_it(torch::Tensor x);",
    cuda_sources="""
        #include <ATen/cuda/CUDAContext.h>
        #include <c10/cuda/CUDAGuard.h>
        #include <torch/library.h>
        __global__ void kernel(float* x, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) x[i] *= 2;
        }
        torch::Tensor double_it(torch::Tensor x) {
          TORCH_CHECK(x.is_cuda(), "needs a CUDA tensor");
          const at::cuda::OptionalCUDAGuard guard(x.device());
          auto out = x.clone();
          int n = out.numel();
          kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(out.data_ptr<float>(), n);
          C10_CUDA_KERNEL_LAUNCH_CHECK();
          return out;
        }
        TORCH_LIBRARY(rows_extension, m) {
          m.def("double_it(Tensor x) -> Tensor");
        }
        TORCH_LIBRARY_IMPL(rows_extension, CUDA, m) {
          m.impl("double_it", &double_it);
        }""",
    functions=["double_it"],
)
x = torch.randn(1000, device="cuda:1")
torch.testing.assert_close(module.double_it(x).cpu(), x.cpu() * 2)
torch.testing.assert_close(torch.ops.rows_extension.double_it(x).cpu(), x.cpu() * 2)
try:
    module.double_it(torch.ones(2))
except RuntimeError as error:
    assert "needs a CUDA tensor" in str(error)
else:
    raise AssertionError("a CPU tensor")
assert CUDAExtension("more", ["more.cu"]).name == "more"

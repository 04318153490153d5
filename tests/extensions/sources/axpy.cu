// a * x + y on a CUDA device, as an extension's author would write it.

#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

namespace {

template <typename T>
__global__ void axpy_kernel(const T* x, const T* y, T* out, T a, int64_t size) {
  const int64_t index = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (index < size) {
    out[index] = a * x[index] + y[index];
  }
}

} // namespace

at::Tensor axpy(const at::Tensor& x, const at::Tensor& y, double a) {
  TORCH_CHECK(x.is_cuda() && y.is_cuda(), "axpy needs CUDA tensors");
  const c10::cuda::CUDAGuard guard(x.device());
  const at::Tensor out = at::empty(x.sizes(), x.options());
  const int64_t size = x.numel();
  constexpr int kThreads = 128;
  const auto blocks = static_cast<unsigned>((size + kThreads - 1) / kThreads);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "axpy", [&] {
    axpy_kernel<scalar_t>
        <<<blocks, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(
            x.const_data_ptr<scalar_t>(),
            y.const_data_ptr<scalar_t>(),
            out.mutable_data_ptr<scalar_t>(),
            static_cast<scalar_t>(a),
            size);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

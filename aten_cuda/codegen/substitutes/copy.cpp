// Takes the place of native/cuda/Copy.cu in builds whose op profile leaves it
// out: copies between the host and devices, between devices, and of plain
// memory within one. All others are //router/operators' there, and so are
// changes of type.

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/native/Copy.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

namespace at::native {
namespace {

// Bytes as the destination has them, in order.
Tensor in_order(const Tensor& from, const Tensor& to) {
  return from.to(to.scalar_type())
      .expand_as(to)
      .resolve_conj()
      .resolve_neg()
      .contiguous();
}

void copy_between_devices(TensorIterator& iter, bool non_blocking) {
  const Tensor& to = iter.tensor(0);
  const Tensor from = in_order(iter.tensor(1), to);
  const bool direct = to.is_contiguous() && !to.is_conj() && !to.is_neg();
  const Tensor there =
      direct ? to : at::empty_like(to.resolve_conj(), MemoryFormat::Contiguous);
  const bool without_host = from.is_cuda() && to.is_cuda();
  if (without_host && from.device() != to.device()) {
    const c10::cuda::CUDAGuard guard(from.device());
    C10_CUDA_CHECK(
        cudaStreamSynchronize(at::cuda::getCurrentCUDAStream().stream()));
  }
  {
    const c10::cuda::CUDAGuard guard(
        to.is_cuda() ? to.device() : from.device());
    const auto stream = at::cuda::getCurrentCUDAStream();
    C10_CUDA_CHECK(cudaMemcpyAsync(
        there.mutable_data_ptr(),
        from.const_data_ptr(),
        from.nbytes(),
        cudaMemcpyDefault,
        stream.stream()));
    // The temporary one of the host goes at the end of this function.
    const bool is_kept = direct && from.is_alias_of(iter.tensor(1));
    if (!without_host && !(non_blocking && is_kept)) {
      C10_CUDA_CHECK(cudaStreamSynchronize(stream.stream()));
    }
  }
  if (!direct) {
    to.copy_(there);
  }
}

} // namespace

REGISTER_CUDA_DISPATCH(copy_stub, &copy_between_devices)

} // namespace at::native

// A function that is no operator, and that PyTorch's headers do not declare.
#include "router/operators/kernels/flatten_indices.h"

#include <ATen/core/Tensor.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/SparseTensorUtils.h>

namespace at::native {

using flatten_indices_fn = Tensor (*)(const Tensor&, IntArrayRef);
DECLARE_DISPATCH(flatten_indices_fn, flatten_indices_stub)

} // namespace at::native

namespace torch_cuda::operators {
namespace {

at::Tensor flatten_on_the_host(
    const at::Tensor& indices,
    c10::IntArrayRef sizes) {
  return at::sparse::flatten_indices(indices.cpu(), sizes).to(indices.device());
}

} // namespace

void route_flatten_indices() {
  at::native::flatten_indices_stub.set_cuda_dispatch_ptr(&flatten_on_the_host);
}

} // namespace torch_cuda::operators

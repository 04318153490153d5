// Results into tensors that a caller gives for them.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_cuda::operators {

/// Gives `out` the sizes and the numbers of a result.
/// @returns out.
template <class Out>
Out& resize_and_copy(Out& out, const at::Tensor& result) {
  out.resize_(result.sizes());
  out.copy_(result);
  return out;
}

} // namespace torch_cuda::operators

// How far a tensor reaches into its storage.
#pragma once

#include <c10/core/TensorImpl.h>

#include <cstdint>

namespace torch_cuda::operators {

/// How many elements lie between the first and the last one of a strided
/// tensor, both counted.
inline int64_t extent(const c10::TensorImpl& tensor) {
  if (tensor.numel() == 0) {
    return 0;
  }
  int64_t last = 0;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    last += (tensor.size(i) - 1) * tensor.stride(i);
  }
  return last + 1;
}

} // namespace torch_cuda::operators

// Where the versions of PyTorch differ that these sources are compiled against:
// 2.6 to 2.15.
#pragma once

#include <c10/core/TensorImpl.h>

#if __has_include(<ATen/NamedTensorUtils.h>)
#include <ATen/NamedTensorUtils.h>
#endif

namespace torch_cuda::aliasing {

/// Gives a tensor the names of another's dimensions. PyTorch 2.15 has no named
/// tensors.
inline void copy_names(const c10::TensorImpl& from, c10::TensorImpl& to) {
#if __has_include(<ATen/NamedTensorUtils.h>)
  if (C10_UNLIKELY(from.has_named_tensor_meta())) {
    to.set_named_tensor_meta(from.named_tensor_meta()->clone());
  }
#else
  (void)from;
  (void)to;
#endif
}

} // namespace torch_cuda::aliasing

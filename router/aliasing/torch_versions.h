// Where the versions of PyTorch differ that these sources are compiled against:
// 2.6 to 2.15.
#pragma once

#include <c10/core/TensorImpl.h>
#include <torch/version.h>

/// Whether it is 2.MINOR or newer.
#define TORCH_CUDA_TORCH_SINCE(minor) \
  (TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= (minor))

#define TORCH_CUDA_HAS_NAMED_TENSORS !TORCH_CUDA_TORCH_SINCE(13)

#if TORCH_CUDA_HAS_NAMED_TENSORS
#include <ATen/NamedTensorUtils.h>
#endif

namespace torch_cuda::aliasing {

/// Gives a tensor the names of another's dimensions. PyTorch 2.13 has no named
/// tensors.
inline void copy_names(const c10::TensorImpl& from, c10::TensorImpl& to) {
#if TORCH_CUDA_HAS_NAMED_TENSORS
  if (C10_UNLIKELY(from.has_named_tensor_meta())) {
    to.set_named_tensor_meta(from.named_tensor_meta()->clone());
  }
#else
  (void)from;
  (void)to;
#endif
}

} // namespace torch_cuda::aliasing

// An argument that may be left out, as operators' schemas have it.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace torch_cuda::operators {

using OptionalTensor = std::optional<at::Tensor>;

/// Whether there is a tensor: None may come as no value and as an undefined
/// one.
inline bool has(const OptionalTensor& tensor) {
  return tensor.has_value() && tensor->defined();
}

} // namespace torch_cuda::operators

// Types that the CPU's kernels have and CUDA's lack.
#pragma once

#include <ATen/core/operator_name.h>
#include <c10/core/ScalarType.h>

namespace torch_cuda::operators {

/// Tells types of an operator's first tensor for which CUDA has no kernel.
class LackedTypes {
 public:
  /// None for most operators.
  explicit LackedTypes(const c10::OperatorName& name);

  /// Whether there are such types.
  bool any() const {
    return types_ != 0;
  }

  /// Whether the CUDA kernel of the operator lacks a type.
  bool contain(c10::ScalarType type) const;

 private:
  unsigned types_ = 0;
};

} // namespace torch_cuda::operators

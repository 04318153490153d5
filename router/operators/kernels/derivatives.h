// Derivatives of what a kernel computes by PyTorch's operators.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <vector>

namespace torch_cuda::operators {

/// Switches autograd on while it lives: a kernel is called below it.
class WithAutograd {
 public:
  WithAutograd();

 private:
  c10::impl::ForceDispatchKeyGuard keys_;
  at::AutoGradMode mode_;
};

/// The tensors that results are derived by.
class Leaves {
 public:
  /// Makes a tensor a leaf, in its place.
  /// @param wanted whether there will be a derivative by it.
  void add(at::Tensor& tensor, bool wanted);

  /// Derives results; only once, for their graph is freed.
  /// @param results what was computed from the leaves.
  /// @param gradients one for each result.
  /// @return one for each leaf, in their order; undefined where none was
  /// wanted, and where no result depends on it.
  std::vector<at::Tensor> derivatives(
      const std::vector<at::Tensor>& results,
      const std::vector<at::Tensor>& gradients) const;

 private:
  std::vector<at::Tensor> leaves_;
  std::vector<bool> wanted_;
};

} // namespace torch_cuda::operators

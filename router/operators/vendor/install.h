// Vendors' kernels in PyTorch's dispatcher.
#pragma once

namespace torch_cuda::operators::vendor {

/// Registers vendors' kernels for the tensors of their devices, over what
/// serves them. Returns how many operators have one.
int install();

} // namespace torch_cuda::operators::vendor

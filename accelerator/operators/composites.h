// Composites that ask whether their tensors are CUDA's, and then choose kernels
// that the CPU does not have.
#pragma once

namespace torch_cuda::operators {

/// Registers what the CPU does in their place, for CUDA tensors.
void route_composites();

} // namespace torch_cuda::operators

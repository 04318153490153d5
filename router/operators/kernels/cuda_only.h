// Operators that PyTorch has a CUDA kernel of, and none for the CPU.
#pragma once

namespace torch_cuda::operators {

/// Registers them as what they are by definition, computed by other operators:
/// fused dropout, the steps of synchronized batch norm, products of scaled
/// 8-bit numbers, and whether cuDNN computes a loss.
void route_cuda_only();

} // namespace torch_cuda::operators

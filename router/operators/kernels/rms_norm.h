// RMS norm, for which PyTorch has a CUDA kernel over a composite.
#pragma once

namespace torch_cuda::operators {

/// Serves it and its derivative on devices that run no CUDA code of PyTorch's.
void route_rms_norm();

} // namespace torch_cuda::operators

// The operators that are named after cuDNN, which PyTorch calls where cuDNN is
// switched on (torch.backends.cudnn.enabled): there is none here.
#pragma once

namespace torch_cuda::operators {

/// Has PyTorch's own operators serve cuDNN's on devices that run no CUDA code
/// of PyTorch's.
void route_cudnn();

} // namespace torch_cuda::operators

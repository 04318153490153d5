// Recurrent networks by cuDNN's operators.
#pragma once

namespace torch_cuda::operators {

/// Registers aten::_cudnn_rnn, its backward pass, and what belongs to them.
void route_cudnn_rnn();

} // namespace torch_cuda::operators

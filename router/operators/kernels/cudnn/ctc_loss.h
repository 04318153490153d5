// The loss of connectionist temporal classification by cuDNN's operators.
#pragma once

namespace torch_cuda::operators {

/// Registers them.
void route_ctc_loss();

} // namespace torch_cuda::operators

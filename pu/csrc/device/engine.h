// Backward of tensors that a program has on cuda, beside pu.
#pragma once

namespace torch_pu {

/// Autograd's engine orders the streams of accelerators, and takes their
/// current ones from nodes of the one device type that is the process's: pu. At
/// a gradient on cuda it fails an assertion, since PyTorch 2.8
/// (github.com/pytorch/pytorch/issues/161129). Has the engine treat cuda as a
/// device without streams of its own, as before 2.8.
void let_cuda_go_backward();

} // namespace torch_pu

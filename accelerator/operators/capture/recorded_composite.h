// Composites in CUDA graphs, as a whole.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>

namespace torch_cuda::operators {

/// Records what the CPU does for an operator, autograd included: the backward
/// pass, which may be captured into another graph, computes the forward one
/// again. The stack has the arguments and gets the results, all of them
/// tensors.
void record_composite(
    const c10::OperatorHandle& op,
    c10::Device device,
    torch::jit::Stack* stack);

} // namespace torch_cuda::operators

// The fused cells of recurrent networks, which PyTorch asks of every device but
// the CPU: arguments are taken from the stack, and results put on it.
#pragma once

#include <ATen/core/stack.h>

namespace torch_cuda::composites {

/// (input_gates, hidden_gates, cx, input_bias?, hidden_bias?) make (hy, cy,
/// workspace): the activated gates are kept for the backward pass. Throws for
/// sizes that do not belong together, as all of these do.
void lstm_cell(torch::jit::Stack* stack);

/// (grad_hy?, grad_cy?, cx, cy, workspace, has_bias) make (grad_gates, grad_cx,
/// grad_bias?).
void lstm_cell_backward(torch::jit::Stack* stack);

/// (input_gates, hidden_gates, hx, input_bias?, hidden_bias?) make (hy,
/// workspace): reset, update and new gate, the state, and the hidden half of
/// the new gate.
void gru_cell(torch::jit::Stack* stack);

/// (grad_hy, workspace, has_bias) make the gradients of both gates, of the
/// state and of both biases.
void gru_cell_backward(torch::jit::Stack* stack);

} // namespace torch_cuda::composites

// Cells of recurrent networks that PyTorch asks of every device but the CPU.
#include "adapter/testing/stand_in/csrc/operators/recurrent.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>

#include <optional>
#include <tuple>
#include <vector>

namespace torch_stand_in {
namespace {

using at::Tensor;
using Optional = std::optional<Tensor>;

Tensor biased(const Tensor& gates, const Optional& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

// The derivative of sigmoid by its value, and that of tanh.
Tensor of_sigmoid(const Tensor& value) {
  return value * (1 - value);
}
Tensor of_tanh(const Tensor& value) {
  return 1 - value * value;
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell(
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& cx,
    const Optional& input_bias,
    const Optional& hidden_bias) {
  const auto gates =
      (biased(input_gates, input_bias) + biased(hidden_gates, hidden_bias))
          .chunk(4, 1);
  const auto in = at::sigmoid(gates[0]), forget = at::sigmoid(gates[1]),
             cell = at::tanh(gates[2]), out = at::sigmoid(gates[3]);
  const auto cy = forget * cx + in * cell;
  return {out * at::tanh(cy), cy, at::cat({in, forget, cell, out}, 1)};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(
    const Optional& grad_hy,
    const Optional& grad_cy,
    const Tensor& cx,
    const Tensor& cy,
    const Tensor& workspace,
    bool has_bias) {
  const auto gates = workspace.chunk(4, 1);
  const Tensor &in = gates[0], &forget = gates[1], &cell = gates[2],
               &out = gates[3];
  const auto hidden = at::tanh(cy);
  const bool has_hy = grad_hy && grad_hy->defined();
  Tensor grad_c = has_hy ? *grad_hy * out * of_tanh(hidden) : cy.mul(0);
  if (grad_cy && grad_cy->defined()) {
    grad_c = grad_c + *grad_cy;
  }
  const auto grad_out =
      has_hy ? *grad_hy * hidden * of_sigmoid(out) : out.mul(0);
  const auto grad_gates = at::cat(
      {grad_c * cell * of_sigmoid(in),
       grad_c * cx * of_sigmoid(forget),
       grad_c * in * of_tanh(cell),
       grad_out},
      1);
  return {grad_gates, grad_c * forget, has_bias ? grad_gates.sum(0) : Tensor()};
}

std::tuple<Tensor, Tensor> gru_cell(
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& hx,
    const Optional& input_bias,
    const Optional& hidden_bias) {
  const auto input = biased(input_gates, input_bias).chunk(3, 1);
  const auto hidden = biased(hidden_gates, hidden_bias).chunk(3, 1);
  const auto reset = at::sigmoid(input[0] + hidden[0]),
             update = at::sigmoid(input[1] + hidden[1]),
             fresh = at::tanh(input[2] + reset * hidden[2]);
  return {
      fresh + update * (hx - fresh),
      at::cat({reset, update, fresh, hx, hidden[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(
    const Tensor& grad_hy,
    const Tensor& workspace,
    bool has_bias) {
  const auto parts = workspace.chunk(5, 1);
  const Tensor &reset = parts[0], &update = parts[1], &fresh = parts[2],
               &hx = parts[3], &hidden = parts[4];
  const auto grad_fresh = grad_hy * (1 - update) * of_tanh(fresh);
  const auto grad_reset = grad_fresh * hidden * of_sigmoid(reset);
  const auto grad_update = grad_hy * (hx - fresh) * of_sigmoid(update);
  const auto grad_input = at::cat({grad_reset, grad_update, grad_fresh}, 1);
  const auto grad_hidden =
      at::cat({grad_reset, grad_update, grad_fresh * reset}, 1);
  return {
      grad_input,
      grad_hidden,
      grad_hy * update,
      has_bias ? grad_input.sum(0) : Tensor(),
      has_bias ? grad_hidden.sum(0) : Tensor()};
}

} // namespace

void register_recurrent(torch::Library& aten) {
  aten.impl("_thnn_fused_lstm_cell", TORCH_FN(lstm_cell));
  aten.impl(
      "_thnn_fused_lstm_cell_backward_impl", TORCH_FN(lstm_cell_backward));
  aten.impl("_thnn_fused_gru_cell", TORCH_FN(gru_cell));
  aten.impl("_thnn_fused_gru_cell_backward", TORCH_FN(gru_cell_backward));
}

} // namespace torch_stand_in

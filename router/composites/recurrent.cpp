// The cells, of differentiable operators: forward derivatives go through them.
#include "router/composites/recurrent.h"

#include "router/composites/accumulated.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

namespace torch_cuda::composites {
namespace {

using at::Tensor;
using torch::jit::Stack;

Tensor part(const Tensor& gates, int64_t index, int64_t count) {
  const int64_t size = gates.size(1) / count;
  return gates.narrow(1, index * size, size);
}

Tensor slope_of_sigmoid(const Tensor& value) {
  return value * (1 - value);
}

Tensor slope_of_tanh(const Tensor& value) {
  return 1 - value * value;
}

void check_sizes(
    const char* name,
    int64_t gates,
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& state,
    const Tensor& input_bias,
    const Tensor& hidden_bias) {
  TORCH_CHECK(
      input_gates.dim() == 2 && input_gates.sizes() == hidden_gates.sizes(),
      name,
      ": the gates of input and hidden state need the same two dimensions, but "
      "have sizes ",
      input_gates.sizes(),
      " and ",
      hidden_gates.sizes());
  TORCH_CHECK(
      state.dim() == 2 && state.size(0) == input_gates.size(0) &&
          state.size(1) * gates == input_gates.size(1),
      name,
      ": a state of sizes ",
      state.sizes(),
      " does not belong to gates of sizes ",
      input_gates.sizes());
  TORCH_CHECK(
      input_bias.defined() == hidden_bias.defined(),
      name,
      ": needs both biases or none");
  for (const auto& bias : {input_bias, hidden_bias}) {
    TORCH_CHECK(
        !bias.defined() ||
            (bias.dim() == 1 && bias.size(0) == input_gates.size(1)),
        name,
        ": a bias of sizes ",
        bias.sizes(),
        " does not belong to gates of sizes ",
        input_gates.sizes());
  }
}

} // namespace

void lstm_cell(Stack* stack) {
  auto arguments = torch::jit::pop(*stack, 5);
  const auto tensor = [&](size_t i) {
    return arguments[i].isNone() ? Tensor() : arguments[i].toTensor();
  };
  const auto type = tensor(0).scalar_type();
  check_sizes(
      "_thnn_fused_lstm_cell",
      4,
      tensor(0),
      tensor(1),
      tensor(2),
      tensor(3),
      tensor(4));
  auto gates = accumulated(tensor(0)) + accumulated(tensor(1));
  if (tensor(3).defined()) {
    gates = gates + accumulated(tensor(3)) + accumulated(tensor(4));
  }
  const auto input = part(gates, 0, 4).sigmoid();
  const auto forget = part(gates, 1, 4).sigmoid();
  const auto cell = part(gates, 2, 4).tanh();
  const auto output = part(gates, 3, 4).sigmoid();
  const auto cy = forget * accumulated(tensor(2)) + input * cell;
  torch::jit::push(
      *stack,
      (output * cy.tanh()).to(type),
      cy.to(type),
      at::cat({input, forget, cell, output}, 1).to(type));
}

void lstm_cell_backward(Stack* stack) {
  auto arguments = torch::jit::pop(*stack, 6);
  const auto tensor = [&](size_t i) {
    return arguments[i].isNone() ? Tensor() : arguments[i].toTensor();
  };
  const auto grad_hy = accumulated(tensor(0));
  const auto grad_cy = accumulated(tensor(1));
  if (!grad_hy.defined() && !grad_cy.defined()) {
    torch::jit::push(*stack, Tensor(), Tensor(), Tensor());
    return;
  }
  const auto type = tensor(4).scalar_type();
  const auto cx = accumulated(tensor(2));
  const auto tanh_cy = accumulated(tensor(3)).tanh();
  const auto gates = accumulated(tensor(4));
  const auto input = part(gates, 0, 4);
  const auto forget = part(gates, 1, 4);
  const auto cell = part(gates, 2, 4);
  const auto output = part(gates, 3, 4);
  TORCH_CHECK(
      cx.sizes() == tanh_cy.sizes() && cx.sizes() == input.sizes(),
      "_thnn_fused_lstm_cell_backward: states of sizes ",
      cx.sizes(),
      " and ",
      tanh_cy.sizes(),
      " do not belong to a workspace of sizes ",
      gates.sizes());

  auto of_cy = grad_cy;
  Tensor of_output;
  if (grad_hy.defined()) {
    of_output = grad_hy * tanh_cy * slope_of_sigmoid(output);
    const auto through_hy = grad_hy * output * slope_of_tanh(tanh_cy);
    of_cy = of_cy.defined() ? through_hy + of_cy : through_hy;
  } else {
    of_output = at::zeros_like(of_cy);
  }
  const auto of_gates = at::cat(
      {of_cy * cell * slope_of_sigmoid(input),
       of_cy * cx * slope_of_sigmoid(forget),
       of_cy * input * slope_of_tanh(cell),
       of_output},
      1);
  torch::jit::push(
      *stack,
      of_gates.to(type),
      (of_cy * forget).to(type),
      arguments[5].toBool() ? of_gates.to(type).sum(0) : Tensor());
}

void gru_cell(Stack* stack) {
  auto arguments = torch::jit::pop(*stack, 5);
  const auto tensor = [&](size_t i) {
    return arguments[i].isNone() ? Tensor() : arguments[i].toTensor();
  };
  const auto type = tensor(0).scalar_type();
  check_sizes(
      "_thnn_fused_gru_cell",
      3,
      tensor(0),
      tensor(1),
      tensor(2),
      tensor(3),
      tensor(4));
  auto of_input = accumulated(tensor(0));
  auto of_hidden = accumulated(tensor(1));
  const auto hx = accumulated(tensor(2));
  if (tensor(3).defined()) {
    of_input = of_input + accumulated(tensor(3));
    of_hidden = of_hidden + accumulated(tensor(4));
  }
  const auto reset = (part(of_input, 0, 3) + part(of_hidden, 0, 3)).sigmoid();
  const auto update = (part(of_input, 1, 3) + part(of_hidden, 1, 3)).sigmoid();
  const auto hidden = part(of_hidden, 2, 3);
  const auto fresh = (part(of_input, 2, 3) + reset * hidden).tanh();
  torch::jit::push(
      *stack,
      (fresh + update * (hx - fresh)).to(type),
      at::cat({reset, update, fresh, hx, hidden}, 1).to(type));
}

void gru_cell_backward(Stack* stack) {
  auto arguments = torch::jit::pop(*stack, 3);
  const auto grad = accumulated(arguments[0].toTensor());
  const auto type = arguments[0].toTensor().scalar_type();
  const auto workspace = accumulated(arguments[1].toTensor());
  const auto reset = part(workspace, 0, 5);
  const auto update = part(workspace, 1, 5);
  const auto fresh = part(workspace, 2, 5);
  const auto hx = part(workspace, 3, 5);
  const auto hidden = part(workspace, 4, 5);
  TORCH_CHECK(
      grad.sizes() == reset.sizes(),
      "_thnn_fused_gru_cell_backward: a gradient of sizes ",
      grad.sizes(),
      " does not belong to a workspace of sizes ",
      workspace.sizes());

  const auto of_fresh = grad * (1 - update) * slope_of_tanh(fresh);
  const auto of_update = grad * (hx - fresh) * slope_of_sigmoid(update);
  const auto of_reset = of_fresh * hidden * slope_of_sigmoid(reset);
  const auto of_input = at::cat({of_reset, of_update, of_fresh}, 1).to(type);
  const auto of_hidden =
      at::cat({of_reset, of_update, of_fresh * reset}, 1).to(type);
  const bool has_bias = arguments[2].toBool();
  torch::jit::push(
      *stack,
      of_input,
      of_hidden,
      (grad * update).to(type),
      has_bias ? of_input.sum(0) : Tensor(),
      has_bias ? of_hidden.sum(0) : Tensor());
}

} // namespace torch_cuda::composites

// The loop over layers and directions, above autograd, in terms of the operator
// of one layer, which has a derivative.
#include "router/operators/kernels/recurrent/lstm_layers.h"

#include "router/aliasing/previous_kernel.h"
#include "router/operators/dispatch/devices.h"
#include "router/operators/dispatch/registration.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/mkldnn_rnn_layer.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using torch::jit::Stack;

constexpr int64_t kLstm = 2; // the number of the kind, of mkldnn_rnn_layer

/// The arguments of aten::lstm.input.
struct Lstm {
  Tensor input;
  std::vector<Tensor> state; // all layers' hidden, and cells
  std::vector<Tensor> parameters;
  bool has_biases = false;
  int64_t layers = 0;
  double dropout = 0;
  bool train = false;
  bool bidirectional = false;
  bool batch_first = false;

  explicit Lstm(const Stack& stack) {
    size_t at = stack.size() - 9;
    input = stack[at++].toTensor();
    state = stack[at++].toTensorVector();
    parameters = stack[at++].toTensorVector();
    has_biases = stack[at++].toBool();
    layers = stack[at++].toInt();
    dropout = stack[at++].toDouble();
    train = stack[at++].toBool();
    bidirectional = stack[at++].toBool();
    batch_first = stack[at].toBool();
  }

  size_t of_direction() const {
    return has_biases ? 4 : 2;
  }
  size_t directions() const {
    return bidirectional ? 2 : 1;
  }
  // Whether all sizes belong together; upstream's cells refuse what does not.
  bool is_whole() const {
    if (input.dim() != 3 || state.size() != 2 || layers <= 0 ||
        parameters.size() !=
            static_cast<size_t>(layers) * directions() * of_direction()) {
      return false;
    }
    if (state[0].dim() != 3) {
      return false;
    }
    const int64_t hidden = state[0].size(2);
    const int64_t count = layers * static_cast<int64_t>(directions());
    const std::vector<int64_t> states = {
        count, input.size(batch_first ? 0 : 1), hidden};
    if (state[0].sizes() != states || state[1].sizes() != states) {
      return false;
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      const auto layer = i / (directions() * of_direction());
      const int64_t inputs = layer == 0
          ? input.size(2)
          : static_cast<int64_t>(directions()) * hidden;
      if (!is_parameter(i % of_direction(), parameters[i], inputs, hidden)) {
        return false;
      }
    }
    return true;
  }

 private:
  // Of input, of hidden state, and the biases of both.
  static bool is_parameter(
      size_t kind,
      const Tensor& parameter,
      int64_t inputs,
      int64_t hidden) {
    constexpr int64_t kGates = 4;
    if (kind > 1) {
      return parameter.dim() == 1 && parameter.size(0) == kGates * hidden;
    }
    return parameter.dim() == 2 && parameter.size(0) == kGates * hidden &&
        parameter.size(1) == (kind == 0 ? inputs : hidden);
  }
};

// What oneDNN computes, and nothing but autograd looks at.
bool is_plain(const Tensor& tensor) {
  return tensor.defined() && tensor.is_cuda() &&
      tensor.layout() == at::kStrided && tensor.scalar_type() == at::kFloat &&
      tensor.numel() != 0 && !tensor.key_set().has(c10::DispatchKey::Python) &&
      !tensor._fw_grad(/*level=*/0).defined();
}

bool are_plain(const std::vector<Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), is_plain);
}

bool can_be_layers(const Lstm& lstm) {
  const auto& context = at::globalContext();
  return context.userEnabledCuDNN() && context.userEnabledMkldnn() &&
      // Its types are those of the cells.
      !at::autocast::is_autocast_enabled(at::kCUDA) && lstm.is_whole() &&
      is_plain(lstm.input) && are_plain(lstm.state) &&
      are_plain(lstm.parameters) && !serves_itself(lstm.input.device().index());
}

/// Output, and both states behind the last step.
using Layer = std::tuple<Tensor, Tensor, Tensor>;

Layer run_direction(
    const Lstm& lstm,
    const Tensor& input,
    const Tensor* weights,
    const Tensor& hidden,
    const Tensor& cell,
    bool reverse) {
  const auto& of_input = weights[0];
  const auto& of_hidden = weights[1];
  const auto no_bias = lstm.has_biases
      ? Tensor()
      : at::zeros({of_input.size(0)}, of_input.options());
  const auto [output, last_hidden, last_cell, workspace] = at::mkldnn_rnn_layer(
      input,
      of_input,
      of_hidden,
      lstm.has_biases ? weights[2] : no_bias,
      lstm.has_biases ? weights[3] : no_bias,
      hidden,
      cell,
      reverse,
      /*batch_sizes=*/{},
      kLstm,
      hidden.size(-1),
      lstm.layers,
      /*has_biases=*/true,
      lstm.bidirectional,
      /*batch_first=*/false,
      lstm.train);
  return {output, last_hidden, last_cell};
}

std::tuple<Tensor, Tensor, Tensor> run(const Lstm& lstm) {
  Tensor input = lstm.batch_first ? lstm.input.transpose(0, 1) : lstm.input;
  const auto hidden = lstm.state[0].unbind(0);
  const auto cells = lstm.state[1].unbind(0);
  const Tensor* weights = lstm.parameters.data();
  std::vector<Tensor> last_hidden;
  std::vector<Tensor> last_cells;
  for (int64_t layer = 0; layer < lstm.layers; ++layer) {
    input = input.contiguous();
    std::vector<Tensor> outputs;
    for (size_t direction = 0; direction < lstm.directions(); ++direction) {
      const size_t i = layer * lstm.directions() + direction;
      auto [output, h, c] = run_direction(
          lstm, input, weights, hidden[i], cells[i], direction == 1);
      weights += lstm.of_direction();
      outputs.push_back(std::move(output));
      last_hidden.push_back(h.reshape(hidden[i].sizes()));
      last_cells.push_back(c.reshape(cells[i].sizes()));
    }
    input = lstm.bidirectional ? at::cat(outputs, -1) : outputs[0];
    if (lstm.dropout != 0 && lstm.train && layer + 1 < lstm.layers) {
      input = at::dropout(input, lstm.dropout, /*train=*/true);
    }
  }
  return {
      lstm.batch_first ? input.transpose(0, 1) : input,
      at::stack(last_hidden),
      at::stack(last_cells)};
}

class LstmKernel final : public c10::OperatorKernel {
 public:
  LstmKernel(const c10::OperatorHandle& op, c10::DispatchKey key)
      : upstream_(op, key) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      Stack* stack) {
    const Lstm lstm(*stack);
    if (!can_be_layers(lstm)) {
      upstream_(op, keys, stack);
      return;
    }
    auto [output, hidden, cells] = run(lstm);
    torch::jit::drop(*stack, 9);
    torch::jit::push(
        *stack, std::move(output), std::move(hidden), std::move(cells));
  }

 private:
  aliasing::PreviousKernel upstream_;
};

} // namespace

void route_lstm_layers() {
  if (!has_machine_code_only()) {
    return;
  }
  const auto op =
      c10::Dispatcher::singleton().findSchema({"aten::lstm", "input"});
  TORCH_CHECK(op && op->schema().arguments().size() == 9);
  for (const auto key :
       {c10::DispatchKey::AutogradCUDA, c10::DispatchKey::CUDA}) {
    register_for_all(*op, key, boxed(std::make_unique<LstmKernel>(*op, key)));
  }
}

} // namespace torch_cuda::operators

// The CPU's networks, all layers in one crossing. The backward pass computes
// them again and asks the CPU's derivatives.
#include "router/operators/kernels/cudnn/cudnn_rnn.h"

#include "router/composites/accumulated.h"
#include "router/operators/calls/boxed_call.h"
#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/derivatives.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/rnn_relu.h>
#include <ATen/ops/rnn_tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::IValue;
using composites::accumulated;
using torch::jit::Stack;
using Arguments = c10::ArrayRef<IValue>;

// cudnnRNNMode_t
enum class Mode : int64_t { Relu = 0, Tanh = 1, Lstm = 2, Gru = 3 };

// Where the arguments of the two operators are.
struct Places {
  size_t count;
  size_t mode; // it and the nine that follow
  size_t masks;
};
constexpr Places kForward{16, 6, 15}; // in the place of dropout_state
constexpr Places kBackward{22, 10, 20}; // reserve
constexpr size_t kWeightBuffer = 3;

Tensor tensor_of(const IValue& value) {
  return value.isNone() ? Tensor() : value.toTensor();
}

std::vector<int64_t> integers_of(const IValue& value) {
  std::vector<int64_t> integers;
  for (const IValue& one : value.toListRef()) {
    integers.push_back(
        one.isInt() ? one.toInt()
                    : one.toSymInt().guard_int(__FILE__, __LINE__));
  }
  return integers;
}

struct Settings {
  Mode mode = Mode::Lstm;
  int64_t out_size = 0;
  int64_t layers = 0;
  bool batch_first = false;
  double dropout = 0;
  bool train = false;
  bool bidirectional = false;
  std::vector<int64_t> batch_sizes; // of packed sequences

  Settings(Arguments arguments, const Places& places) {
    size_t at = places.mode;
    const auto number = arguments[at++].toInt();
    TORCH_CHECK(
        number >= 0 && number <= 3, "_cudnn_rnn: ", number, " is no mode");
    mode = static_cast<Mode>(number);
    const auto hidden_size = arguments[at++].toInt();
    const auto projected = arguments[at++].toInt();
    out_size = projected == 0 ? hidden_size : projected;
    layers = arguments[at++].toInt();
    batch_first = arguments[at++].toBool();
    dropout = arguments[at++].toDouble();
    train = arguments[at++].toBool();
    bidirectional = arguments[at++].toBool();
    batch_sizes = integers_of(arguments[at]);
  }

  int64_t directions() const {
    return bidirectional ? 2 : 1;
  }
  bool is_packed() const {
    return !batch_sizes.empty();
  }
  bool drops() const {
    return train && dropout != 0 && layers > 1;
  }
  // Of what a layer gives to the next.
  int64_t numbers_between(const Tensor& input) const {
    const int64_t steps =
        is_packed() ? input.size(0) : input.size(0) * input.size(1);
    return steps * out_size * directions();
  }
};

struct Network {
  Settings settings;
  Tensor input;
  std::vector<Tensor> weights;
  int64_t of_direction; // two or four, and one with a projection
  Tensor hidden;
  Tensor cells; // of LSTM
  Tensor masks; // what is kept between layers, of bytes

  Network(Arguments arguments, const Places& places)
      : settings(arguments, places),
        input(accumulated(arguments[0].toTensor())),
        of_direction(arguments[2].toInt()),
        hidden(accumulated(arguments[4].toTensor())),
        cells(accumulated(tensor_of(arguments[5]))),
        masks(tensor_of(arguments[places.masks])) {
    for (const auto& weight : arguments[1].toTensorVector()) {
      weights.push_back(accumulated(weight));
    }
    TORCH_CHECK(
        static_cast<int64_t>(weights.size()) ==
            settings.layers * settings.directions() * of_direction,
        "_cudnn_rnn: ",
        weights.size(),
        " weights were found where ",
        settings.layers * settings.directions() * of_direction,
        " are needed");
    TORCH_CHECK(
        cells.defined() == (settings.mode == Mode::Lstm),
        "_cudnn_rnn: an LSTM needs cx, and no other network takes it");
    TORCH_CHECK(
        !settings.drops() ||
            masks.numel() ==
                (settings.layers - 1) * settings.numbers_between(input),
        "_cudnn_rnn_backward: with dropout the reserve of the forward pass is "
        "needed");
  }

  // The layer's share of what has an element for each layer and direction.
  Tensor of_layers(const Tensor& states, int64_t first, int64_t count) const {
    const int64_t directions = settings.directions();
    return states.narrow(0, first * directions, count * directions);
  }
};

struct Outputs {
  Tensor output;
  Tensor hidden;
  Tensor cells;
};

Outputs run_layers(
    const Network& network,
    const Tensor& input,
    int64_t first,
    int64_t count) {
  const auto& settings = network.settings;
  const int64_t of_layer = settings.directions() * network.of_direction;
  const at::TensorList weights(
      network.weights.data() + first * of_layer, count * of_layer);
  const bool biases = network.of_direction >= 4;
  const auto hidden = network.of_layers(network.hidden, first, count);
  // The layers' own dropout is not that of `masks`.
  constexpr double kNoDropout = 0;
  const auto run =
      [&](const auto& of_steps, const auto& of_packed, const auto& states) {
        if (!settings.is_packed()) {
          return of_steps(
              input,
              states,
              weights,
              biases,
              count,
              kNoDropout,
              settings.train,
              settings.bidirectional,
              settings.batch_first);
        }
        return of_packed(
            input,
            at::tensor(settings.batch_sizes, at::kLong),
            states,
            weights,
            biases,
            count,
            kNoDropout,
            settings.train,
            settings.bidirectional);
      };
  if (settings.mode == Mode::Lstm) {
    const std::vector<Tensor> states = {
        hidden, network.of_layers(network.cells, first, count)};
    auto [output, last, cells] =
        run([](auto&&... of) { return at::lstm(of...); },
            [](auto&&... of) { return at::lstm(of...); },
            at::TensorList(states));
    return {output, last, cells};
  }
  const auto call = [&](const auto& function) -> Outputs {
    auto [output, last] = run(function, function, hidden);
    return {output, last, Tensor()};
  };
  switch (settings.mode) {
    case Mode::Relu:
      return call([](auto&&... of) { return at::rnn_relu(of...); });
    case Mode::Tanh:
      return call([](auto&&... of) { return at::rnn_tanh(of...); });
    default:
      return call([](auto&&... of) { return at::gru(of...); });
  }
}

Tensor without_dropped(
    const Network& network,
    const Tensor& output,
    int64_t layer) {
  const int64_t count = output.numel();
  const double kept = 1 - network.settings.dropout;
  const auto factors = network.masks.narrow(0, layer * count, count)
                           .reshape(output.sizes())
                           .to(output.scalar_type());
  return output.mul(kept == 0 ? factors : factors.div(kept));
}

Outputs run(const Network& network) {
  const auto& settings = network.settings;
  if (!settings.drops()) {
    return run_layers(network, network.input, 0, settings.layers);
  }
  Tensor input = network.input;
  std::vector<Tensor> hidden;
  std::vector<Tensor> cells;
  for (int64_t layer = 0; layer < settings.layers; ++layer) {
    if (layer > 0) {
      input = without_dropped(network, input, layer - 1);
    }
    auto [output, last_hidden, last_cells] =
        run_layers(network, input, layer, 1);
    input = output;
    hidden.push_back(last_hidden);
    cells.push_back(last_cells);
  }
  return {
      input,
      at::cat(hidden),
      settings.mode == Mode::Lstm ? at::cat(cells) : Tensor()};
}

Tensor nothing(const Tensor& like) {
  return at::empty({0}, like.options());
}

// On the host, as its backward pass.
void forward(Stack* stack) {
  const auto arguments = torch::jit::pop(*stack, kForward.count);
  const Network network(arguments, kForward);
  const auto result = run(network);
  const auto type = arguments[0].toTensor().scalar_type();
  const auto empty = nothing(network.input);
  torch::jit::push(
      *stack,
      result.output.to(type),
      result.hidden.to(type),
      result.cells.defined() ? result.cells.to(type) : empty.to(type),
      empty,
      empty);
}

void backward(Stack* stack) {
  const auto arguments = torch::jit::pop(*stack, kBackward.count);
  const auto type = arguments[0].toTensor().scalar_type();
  const auto mask = arguments[kBackward.count - 1].toBoolList();
  Network network(arguments, kBackward);
  const WithAutograd autograd;
  Leaves leaves;
  leaves.add(network.input, mask[0]);
  leaves.add(network.hidden, mask[1]);
  const bool has_cells = network.cells.defined();
  if (has_cells) {
    leaves.add(network.cells, mask[2]);
  }
  for (auto& weight : network.weights) {
    leaves.add(weight, mask[3]);
  }
  const auto result = run(network);
  std::vector<Tensor> results;
  std::vector<Tensor> gradients;
  const std::array<Tensor, 3> all = {
      result.output, result.hidden, result.cells};
  constexpr size_t kFirstGradient = 7;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto gradient = tensor_of(arguments[kFirstGradient + i]);
    if (all[i].defined() && gradient.defined()) {
      results.push_back(all[i]);
      gradients.push_back(accumulated(gradient));
    }
  }
  auto found = leaves.derivatives(results, gradients);
  const auto take = [&](size_t i) {
    return found[i].defined() ? found[i].detach().to(type) : Tensor();
  };
  const size_t first_weight = has_cells ? 3 : 2;
  c10::List<Tensor> of_weights;
  for (size_t i = 0; i < network.weights.size(); ++i) {
    auto derivative = take(first_weight + i);
    of_weights.push_back(
        mask[3] && !derivative.defined()
            ? at::zeros_like(network.weights[i], type)
            : derivative);
  }
  torch::jit::push(
      *stack,
      take(0),
      take(1),
      has_cells ? take(2) : Tensor(),
      std::move(of_weights));
}

// The weights one behind the other.
Tensor flat(at::TensorList weights) {
  std::vector<Tensor> all;
  for (const auto& weight : weights) {
    all.push_back(weight.reshape(-1));
  }
  return at::cat(all);
}

// Weights stay where they are, for nothing here is quicker when they lie in one
// piece.
Tensor flat_weights(
    at::TensorList weights,
    int64_t /*weights_of_layer*/,
    int64_t /*input_size*/,
    int64_t /*mode*/,
    int64_t /*hidden_size*/,
    int64_t /*proj_size*/,
    int64_t /*num_layers*/,
    bool /*batch_first*/,
    bool /*bidirectional*/) {
  return flat(weights);
}

class ForwardKernel final : public c10::OperatorKernel {
 public:
  explicit ForwardKernel(const c10::OperatorHandle& op)
      : call_(op, c10::DispatchKey::CPU, &forward) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      Stack* stack) {
    const auto at = [&](size_t i) -> IValue& {
      return torch::jit::peek(*stack, i, kForward.count);
    };
    const auto input = at(0).toTensor();
    auto buffer = tensor_of(at(kWeightBuffer));
    if (!buffer.defined()) {
      buffer = flat(at(1).toTensorVector());
    }
    at(kWeightBuffer) = IValue(); // the numbers of `weight` are the same
    const Settings settings(torch::jit::last(*stack, kForward.count), kForward);
    auto masks =
        at::empty({0}, input.options().dtype(c10::kByte)); // for `reserve`
    if (settings.drops()) {
      masks.resize_({(settings.layers - 1) * settings.numbers_between(input)})
          .bernoulli_(1 - settings.dropout);
    }
    at(kForward.masks) = masks;
    call_(op, stack);
    torch::jit::drop(*stack, 2);
    torch::jit::push(*stack, std::move(masks), std::move(buffer));
  }

 private:
  HostCall call_;
};

class BackwardKernel final : public c10::OperatorKernel {
 public:
  explicit BackwardKernel(const c10::OperatorHandle& op)
      : call_(op, c10::DispatchKey::CPU, &backward) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      Stack* stack) {
    const auto at = [&](size_t i) -> IValue& {
      return torch::jit::peek(*stack, i, kBackward.count);
    };
    TORCH_CHECK(
        Settings(torch::jit::last(*stack, kBackward.count), kBackward).train,
        "_cudnn_rnn_backward: cudnn RNN backward can only be called in "
        "training mode");
    if (at(7).isNone() && at(8).isNone() && at(9).isNone()) {
      c10::List<Tensor> none;
      none.resize(at(1).toTensorVector().size());
      torch::jit::drop(*stack, kBackward.count);
      torch::jit::push(*stack, Tensor(), Tensor(), Tensor(), std::move(none));
      return;
    }
    at(kWeightBuffer) = at(0); // not looked at
    call_(op, stack);
  }

 private:
  HostCall call_;
};

// The masks are drawn from the device's generator, which needs no state of its
// own.
Tensor dropout_state(
    double /*dropout*/,
    bool /*train*/,
    int64_t /*dropout_seed*/,
    std::optional<c10::ScalarType> type,
    std::optional<c10::Layout> layout,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory) {
  return at::empty({0}, type, layout, device, pin_memory, std::nullopt);
}

template <class Kernel>
void serve(const char* name) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  register_kernel(
      op, c10::DispatchKey::CUDA, boxed(std::make_unique<Kernel>(op)));
}

} // namespace

void route_cudnn_rnn() {
  register_function_of_lists(
      "aten::_cudnn_rnn_flatten_weight", "", &flat_weights);
  register_function("aten::_cudnn_init_dropout_state", "", &dropout_state);
  serve<ForwardKernel>("aten::_cudnn_rnn");
  serve<BackwardKernel>("aten::_cudnn_rnn_backward");
}

} // namespace torch_cuda::operators

// Recurrent networks, attention and dropout as the CPU computes them.
#include "accelerator/operators/composites.h"

#include "accelerator/aliasing/aliases.h"
#include "accelerator/aliasing/arguments.h"
#include "accelerator/operators/capture/recorded_composite.h"
#include "accelerator/operators/capture/stream_capture.h"
#include "accelerator/operators/dispatch/registration.h"
#include "accelerator/operators/tensors/device_memory.h"
#include "accelerator/operators/tensors/memory.h"
#include "accelerator/operators/tensors/order.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/autograd/custom_function.h>

#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using aliasing::Aliases;
using aliasing::each_tensor;
using aliasing::map_tensors;
using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// What stands for other tensors, as vmap's do, has no memory: it is copied.
bool has_memory(const Tensor& tensor) {
  return tensor.layout() != c10::kStrided || tensor.has_storage();
}

// The device's tensor of a result that was computed on the host.
Tensor to_device(Tensor result, c10::Device device) {
  if (!result.defined() || !result.is_cpu()) {
    return result;
  }
  if (!has_memory(result)) {
    return result.to(device);
  }
  const c10::cuda::CUDAGuard guard(device);
  wait_for_current_stream(device.index());
  Memory storages(device);
  return Aliases(storages, c10::kCUDA, c10::kCPU).near(std::move(result));
}

Tensor to_host(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) {
    return tensor;
  }
  if (!has_memory(tensor)) {
    return tensor.cpu();
  }
  wait_for_current_stream(tensor.device().index());
  Memory storages(tensor.device());
  return Aliases(storages, c10::kCUDA, c10::kCPU).far(tensor, false);
}

// Aliases that autograd sees through: above them are the device's nodes, below
// them the CPU's.
struct ToHost : Function<ToHost> {
  static Tensor forward(AutogradContext* context, const Tensor& tensor) {
    context->saved_data["device"] = tensor.device();
    context->set_materialize_grads(false);
    return to_host(tensor);
  }
  static variable_list backward(
      AutogradContext* context,
      variable_list gradients) {
    return {to_device(
        std::move(gradients[0]), context->saved_data["device"].toDevice())};
  }
};

struct ToDevice : Function<ToDevice> {
  static Tensor forward(
      AutogradContext* context,
      const Tensor& result,
      c10::Device device) {
    context->set_materialize_grads(false);
    return to_device(result, device);
  }
  static variable_list backward(
      AutogradContext* /*context*/,
      variable_list gradients) {
    return {to_host(gradients[0]), Tensor()};
  }
};

// A composite as a whole on the host, forwards and backwards.
class HostComposite : public c10::OperatorKernel {
 public:
  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    on_host(op, stack);
  }

 protected:
  static void on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
    const size_t arguments = op.schema().arguments().size();
    const size_t results = op.schema().returns().size();
    std::optional<c10::Device> device;
    for (const auto& argument : torch::jit::last(*stack, arguments)) {
      each_tensor(argument, [&](const Tensor& tensor) {
        if (!device && tensor.defined() && tensor.is_cuda()) {
          device = tensor.device();
        }
      });
    }
    TORCH_INTERNAL_ASSERT(device);
    if (is_captured(device->index())) {
      const c10::cuda::CUDAGuard guard(*device);
      record_composite(op, *device, stack);
      return;
    }
    for (auto i = stack->size() - arguments; i < stack->size(); ++i) {
      (*stack)[i] = map_tensors(std::move((*stack)[i]), host);
    }
    {
      const c10::cuda::CUDAGuard guard(*device);
      const DeviceMemory memory(*device);
      op.callBoxed(stack);
    }
    for (auto i = stack->size() - results; i < stack->size(); ++i) {
      (*stack)[i] = ToDevice::apply(std::move((*stack)[i]).toTensor(), *device);
    }
  }

 private:
  static Tensor host(const Tensor& tensor) {
    return tensor.defined() && tensor.is_cuda() ? ToHost::apply(tensor)
                                                : tensor;
  }
};

// A recurrent network, whose layers are served one by one where there is
// dropout between them: its numbers are the device's.
class RecurrentComposite final : public HostComposite {
 public:
  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    const Arguments arguments(op, *stack);
    if (arguments["num_layers"].toInt() < 2 ||
        arguments["dropout"].toDouble() == 0 || !arguments["train"].toBool()) {
      on_host(op, stack);
      return;
    }
    auto results = by_layers(op, arguments);
    torch::jit::drop(*stack, op.schema().arguments().size());
    for (auto& result : results) {
      torch::jit::push(*stack, std::move(result));
    }
  }

 private:
  class Arguments {
   public:
    Arguments(const c10::OperatorHandle& op, const torch::jit::Stack& stack)
        : schema_(op.schema()),
          values_(
              stack.end() -
                  static_cast<int64_t>(op.schema().arguments().size()),
              stack.end()) {}

    bool has(const char* name) const {
      return schema_.argumentIndexWithName(name).has_value();
    }
    c10::IValue& operator[](const char* name) {
      return values_.at(*schema_.argumentIndexWithName(name));
    }
    const c10::IValue& operator[](const char* name) const {
      return values_.at(*schema_.argumentIndexWithName(name));
    }
    const torch::jit::Stack& values() const {
      return values_;
    }

   private:
    const c10::FunctionSchema& schema_;
    torch::jit::Stack values_;
  };

  // A layer's part of the hidden state, of which there may be two.
  static c10::IValue of_layer(
      const c10::IValue& hidden,
      int64_t first,
      int64_t count) {
    if (hidden.isTensor()) {
      return hidden.toTensor().narrow(0, first, count);
    }
    std::vector<Tensor> parts;
    for (const auto& tensor : hidden.toTensorVector()) {
      parts.push_back(tensor.narrow(0, first, count));
    }
    return parts;
  }

  static std::vector<Tensor> by_layers(
      const c10::OperatorHandle& op,
      const Arguments& arguments) {
    const char* input = arguments.has("input") ? "input" : "data";
    const bool batch_first =
        arguments.has("batch_first") && arguments["batch_first"].toBool();
    const int64_t layers = arguments["num_layers"].toInt();
    const int64_t directions = arguments["bidirectional"].toBool() ? 2 : 1;
    const auto weights = arguments["params"].toTensorVector();
    const auto weights_of_layer = static_cast<int64_t>(weights.size()) / layers;
    const size_t results = op.schema().returns().size();

    // The numbers are drawn in the order of time, as the CPU draws them.
    Tensor output = arguments[input].toTensor();
    output = batch_first ? output.transpose(0, 1) : output;
    std::vector<std::vector<Tensor>> hidden(results - 1);
    for (int64_t layer = 0; layer < layers; ++layer) {
      if (layer > 0) {
        output = at::dropout(output, arguments["dropout"].toDouble(), true);
      }
      Arguments one(op, arguments.values());
      one[input] = output;
      one["hx"] = of_layer(arguments["hx"], layer * directions, directions);
      one["params"] = std::vector<Tensor>(
          weights.begin() + layer * weights_of_layer,
          weights.begin() + (layer + 1) * weights_of_layer);
      one["num_layers"] = int64_t{1};
      one["dropout"] = 0.0;
      if (batch_first) {
        one["batch_first"] = false;
      }
      torch::jit::Stack stack = one.values();
      on_host(op, &stack);
      output = stack.at(0).toTensor();
      for (size_t i = 1; i < results; ++i) {
        hidden[i - 1].push_back(stack.at(i).toTensor());
      }
    }
    std::vector<Tensor> all{batch_first ? output.transpose(0, 1) : output};
    for (const auto& parts : hidden) {
      all.push_back(at::cat(parts, 0));
    }
    return all;
  }
};

// Attention: with dropout the CPU computes it step by step, and so does the
// device, with numbers of its own.
class AttentionComposite final : public HostComposite {
 public:
  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    const auto arguments = torch::jit::last(*stack, kArguments);
    const Tensor query = arguments[0].toTensor();
    const double dropout = arguments[4].toDouble();
    if (dropout <= 0) {
      on_host(op, stack);
      return;
    }
    auto result = std::get<0>(at::_scaled_dot_product_attention_math(
        query,
        arguments[1].toTensor(),
        arguments[2].toTensor(),
        added_mask(arguments[3].toOptional<Tensor>(), query),
        dropout,
        arguments[5].toBool(),
        std::nullopt,
        arguments[6].toOptional<double>(),
        arguments[7].toBool()));
    torch::jit::drop(*stack, kArguments);
    torch::jit::push(*stack, std::move(result));
  }

 private:
  static constexpr size_t kArguments = 8;

  // A mask of flags as numbers to be added.
  static std::optional<Tensor> added_mask(
      std::optional<Tensor> mask,
      const Tensor& query) {
    if (!mask || !mask->defined() || mask->scalar_type() != c10::kBool) {
      return mask;
    }
    return at::zeros_like(*mask, query.options())
        .masked_fill_(
            mask->logical_not(), -std::numeric_limits<double>::infinity());
  }
};

// The CPU's dropout; CUDA's own draws other numbers and rounds otherwise.
Tensor dropout(const Tensor& input, double p, bool train) {
  TORCH_CHECK(
      p >= 0 && p <= 1,
      "dropout probability has to be between 0 and 1, but got ",
      p);
  if (p == 0 || !train || input.numel() == 0) {
    return input;
  }
  if (p == 1) {
    return input.mul(at::zeros({}, input.options()));
  }
  return input.mul(at::empty_like(input).bernoulli_(1 - p).div_(1 - p));
}

std::tuple<Tensor, Tensor> native_dropout(
    const Tensor& input,
    double p,
    std::optional<bool> train) {
  const auto flags = input.options().dtype(c10::kBool);
  if (input.numel() == 0) {
    return {input, at::empty_like(input, input.options())};
  }
  if (train.has_value() && !*train) {
    return {input.clone(), at::ones_like(input, flags)};
  }
  const double kept = 1. - p;
  auto mask = at::empty_like(input, flags).bernoulli_(kept);
  return {input.mul(mask).mul_(kept == 0 ? 0. : 1. / kept), mask};
}

// The CPU's kernel serves the loss.
bool no_cudnn_ctc_loss(
    const Tensor& /*log_probs*/,
    const Tensor& /*targets*/,
    c10::IntArrayRef /*input_lengths*/,
    c10::IntArrayRef /*target_lengths*/,
    int64_t /*blank*/) {
  return false;
}

bool no_cudnn_ctc_loss_of_tensors(
    const Tensor& /*log_probs*/,
    const Tensor& /*targets*/,
    const Tensor& /*input_lengths*/,
    const Tensor& /*target_lengths*/,
    int64_t /*blank*/) {
  return false;
}

// The operators of a name, with all overloads that a program can call.
std::vector<c10::OperatorHandle> operators(
    const char* name,
    std::initializer_list<const char*> overloads) {
  std::vector<c10::OperatorHandle> found;
  for (const char* overload : overloads) {
    found.push_back(
        c10::Dispatcher::singleton().findSchemaOrThrow(name, overload));
  }
  return found;
}

template <class Kernel>
void serve(
    const std::vector<c10::OperatorHandle>& operators,
    c10::DispatchKey key) {
  for (const auto& op : operators) {
    register_kernel(op, key, boxed(std::make_unique<Kernel>()));
  }
}

} // namespace

void route_composites() {
  using c10::DispatchKey;
  using c10::KernelFunction;
  for (const auto key : {DispatchKey::AutogradCUDA, DispatchKey::CUDA}) {
    for (const char* name :
         {"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu"}) {
      serve<RecurrentComposite>(operators(name, {"input", "data"}), key);
    }
    serve<HostComposite>(operators("aten::lstm_cell", {""}), key);
    serve<HostComposite>(operators("aten::gru_cell", {""}), key);
    serve<AttentionComposite>(
        operators("aten::scaled_dot_product_attention", {""}), key);
    for (const auto& op : operators("aten::dropout", {""})) {
      register_kernel(
          op, key, KernelFunction::makeFromUnboxedRuntimeFunction(&dropout));
    }
  }
  const auto serve_cuda =
      [](const char* name, const char* overload, KernelFunction kernel) {
        register_kernel(
            c10::Dispatcher::singleton().findSchemaOrThrow(name, overload),
            DispatchKey::CUDA,
            std::move(kernel));
      };
  serve_cuda(
      "aten::native_dropout",
      "",
      KernelFunction::makeFromUnboxedRuntimeFunction(&native_dropout));
  serve_cuda(
      "aten::_use_cudnn_ctc_loss",
      "",
      KernelFunction::makeFromUnboxedRuntimeFunction(&no_cudnn_ctc_loss));
  serve_cuda(
      "aten::_use_cudnn_ctc_loss",
      "Tensor",
      KernelFunction::makeFromUnboxedRuntimeFunction(
          &no_cudnn_ctc_loss_of_tensors));
}

} // namespace torch_cuda::operators

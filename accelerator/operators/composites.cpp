// Recurrent networks, attention and dropout as the CPU computes them.
#include "accelerator/operators/composites.h"

#include "accelerator/operators/alias.h"
#include "accelerator/operators/device_memory.h"
#include "accelerator/operators/order.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

const c10::OperatorName& crossing() {
  static const c10::OperatorName name("torch_cuda::backward", "");
  return name;
}

// The device's tensor of a result that was computed on the host.
Tensor to_device(Tensor result, c10::Device device) {
  if (!result.defined() || !result.is_cpu()) {
    return result;
  }
  const c10::cuda::CUDAGuard guard(device);
  wait_for_current_stream(device.index(), crossing());
  return Aliases(device).device(std::move(result));
}

Tensor to_host(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) {
    return tensor;
  }
  wait_for_current_stream(tensor.device().index(), crossing());
  return Aliases(tensor.device()).host(tensor, false);
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
class HostComposite final : public c10::OperatorKernel {
 public:
  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    const size_t arguments = op.schema().arguments().size();
    const size_t results = op.schema().returns().size();
    std::optional<c10::Device> device;
    for (auto i = stack->size() - arguments; i < stack->size(); ++i) {
      (*stack)[i] = host((*stack)[i], device);
    }
    TORCH_INTERNAL_ASSERT(device);
    {
      const c10::cuda::CUDAGuard guard(*device);
      const DeviceMemory memory;
      op.callBoxed(stack);
    }
    for (auto i = stack->size() - results; i < stack->size(); ++i) {
      (*stack)[i] =
          ToDevice::apply(std::move((*stack)[i]).toTensor(), *device);
    }
  }

 private:
  static c10::IValue host(
      const c10::IValue& value,
      std::optional<c10::Device>& device) {
    if (value.isTensor()) {
      return host(value.toTensor(), device);
    }
    if (value.isTensorList()) {
      std::vector<Tensor> tensors;
      for (const auto& tensor : value.toTensorVector()) {
        tensors.push_back(host(tensor, device));
      }
      return tensors;
    }
    return value;
  }

  static Tensor host(const Tensor& tensor, std::optional<c10::Device>& device) {
    if (!tensor.defined() || !tensor.is_cuda()) {
      return tensor;
    }
    if (!device) {
      device = tensor.device();
    }
    return ToHost::apply(tensor);
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

void route_host_composite(torch::Library& library, const char* name) {
  library.impl(
      name,
      torch::CppFunction::makeFromBoxedFunctor(
          std::make_unique<HostComposite>()));
}

constexpr const char* kHostComposites[] = {
    "lstm.input",
    "lstm.data",
    "gru.input",
    "gru.data",
    "lstm_cell",
    "gru_cell",
    "scaled_dot_product_attention",
};

} // namespace

void route_composites() {
  // Registrations last as long as the process.
  for (const auto key : {c10::DispatchKey::AutogradCUDA, c10::DispatchKey::CUDA}) {
    auto* library = new torch::Library(
        torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
    for (const char* name : kHostComposites) {
      route_host_composite(*library, name);
    }
    library->impl("dropout", TORCH_FN(dropout));
    if (key == c10::DispatchKey::CUDA) {
      library->impl("native_dropout", TORCH_FN(native_dropout));
    }
  }
}

} // namespace torch_cuda::operators

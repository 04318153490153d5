// Arguments across, the CPU's kernel, results back.
#include "adapter/testing/stand_in/csrc/operators/call.h"

#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "accelerator/aliasing/aliases.h"
#include "adapter/testing/stand_in/csrc/device/generator.h"
#include "adapter/testing/stand_in/csrc/operators/storages.h"
#include "c10/stand/StandFunctions.h"
#include "c10/stand/StandStream.h"

namespace torch_stand_in {
namespace {

using at::Tensor;
using c10::IValue;
using torch_cuda::aliasing::Aliases;
using torch_cuda::aliasing::Kind;

constexpr auto kStandIn = c10::DeviceType::PrivateUse1;

// Operators that take tensors of the CPU beside those of a device.
constexpr std::array<std::string_view, 16> kMixed = {
    "aten::copy_",
    "aten::copy",
    "aten::_copy_from",
    "aten::_copy_from_and_resize",
    "aten::is_set_to",
    "aten::index",
    "aten::index_put_",
    "aten::index_put",
    "aten::_index_put_impl_",
    "aten::_unsafe_index",
    "aten::_unsafe_index_put",
    "aten::_pack_padded_sequence",
    "aten::_ctc_loss",
    "aten::_ctc_loss_backward",
    "aten::repeat_interleave",
    "aten::set_",
};

// The argument that a result is by the schema: Tensor(a!).
int32_t same_argument(
    const c10::FunctionSchema& schema,
    const c10::Argument& result) {
  const auto* alias = result.alias_info();
  if (alias == nullptr || !alias->isWrite()) {
    return -1;
  }
  const auto& arguments = schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* other = arguments[i].alias_info();
    if (other != nullptr && other->isWrite() &&
        other->beforeSets() == alias->beforeSets()) {
      return static_cast<int32_t>(i);
    }
  }
  return -1;
}

c10::Device with_index(c10::Device device) {
  return device.has_index()
      ? device
      : c10::Device(kStandIn, c10::stand::current_device());
}

// Tensors as they are, whatever becomes of them later.
torch::jit::Stack frozen(c10::ArrayRef<IValue> values) {
  torch::jit::Stack copies;
  for (const auto& value : values) {
    copies.push_back(
        torch_cuda::aliasing::map_tensors(value, [](const Tensor& tensor) {
          return tensor.defined()
              ? Tensor(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(
                    c10::VariableVersion(0), true))
              : tensor;
        }));
  }
  return copies;
}

void overwrite(const Tensor& to, const Tensor& from) {
  if (!to.defined() || !from.defined() || to.is_alias_of(from)) {
    return;
  }
  TORCH_CHECK(
      to.has_storage() && from.nbytes() == to.nbytes(),
      "stand-in error: an operator of a graph gives tensors of another size "
      "than it did when it was captured");
  const c10::DeviceGuard guard(to.device());
  C10_STAND_CHECK(standMemcpyAsync(
      to.storage().mutable_data(),
      from.storage().data(),
      std::min(to.storage().nbytes(), from.storage().nbytes()),
      standMemcpyDefault,
      c10::stand::getCurrentStandStream()));
}

void overwrite(const IValue& to, const IValue& from) {
  std::vector<Tensor> targets;
  torch_cuda::aliasing::each_tensor(
      to, [&](const Tensor& tensor) { targets.push_back(tensor); });
  size_t i = 0;
  torch_cuda::aliasing::each_tensor(
      from, [&](const Tensor& tensor) { overwrite(targets.at(i++), tensor); });
}

} // namespace

Call::Call(const c10::OperatorHandle& op, c10::DispatchKey target)
    : target_(target),
      crossing_(torch_cuda::aliasing::crossing_arguments(op.schema())),
      arguments_(op.schema().arguments().size()),
      mutates_(std::any_of(
          crossing_.begin(),
          crossing_.end(),
          [](const auto& argument) { return argument.written; })),
      any_device_(
          std::find(kMixed.begin(), kMixed.end(), op.schema().name()) !=
          kMixed.end()),
      waits_(op.schema().name() == "aten::_local_scalar_dense") {
  for (const auto& result : op.schema().returns()) {
    same_as_.push_back(same_argument(op.schema(), result));
  }
}

// As CUDA has it: a number may be on the CPU, all else is on one device.
void Call::check_devices(
    const c10::OperatorHandle& op,
    const torch::jit::Stack& stack,
    size_t first) const {
  std::optional<c10::Device> common;
  for (const auto& argument : crossing_) {
    const IValue& value = stack[first + argument.index];
    if (argument.kind != Kind::Tensor || !value.isTensor() ||
        !value.toTensor().defined()) {
      continue;
    }
    const auto& tensor = value.toTensor();
    if (tensor.is_cpu() && tensor.dim() == 0) {
      continue;
    }
    common = common ? common : tensor.device();
    TORCH_CHECK(
        *common == tensor.device(),
        "Expected all tensors to be on the same device, but found at least "
        "two devices, ",
        *common,
        " and ",
        tensor.device(),
        "! (in operator ",
        op.operator_name(),
        ")");
  }
}

void Call::operator()(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet /*keys*/,
    torch::jit::Stack* stack) {
  if (auto* recording = Recording::active()) {
    run_recorded(*recording, op, stack);
  } else {
    run(op, stack);
  }
}

void Call::run_recorded(
    Recording& recording,
    const c10::OperatorHandle& op,
    torch::jit::Stack* stack) const {
  TORCH_CHECK(
      !waits_,
      "stand-in error: operation not permitted when a graph is captured: the "
      "host waits for it (in operator ",
      op.operator_name(),
      ")");
  const Recording::Whole whole;
  const auto arguments = frozen(torch::jit::last(*stack, arguments_));
  run(op, stack);
  const auto results = frozen(torch::jit::last(*stack, same_as_.size()));
  recording.add([this, op, arguments, results] {
    auto again = frozen(arguments);
    run(op, &again);
    for (size_t i = 0; i < results.size(); ++i) {
      if (same_as_[i] < 0) {
        overwrite(results[i], again[i]);
      }
    }
  });
}

void Call::run(const c10::OperatorHandle& op, torch::jit::Stack* stack) const {
  const size_t first = stack->size() - arguments_;
  if (!any_device_) {
    check_devices(op, *stack, first);
  }
  CallStorages storages;
  Aliases aliases(storages, kStandIn, c10::kCPU);
  bool stays = false; // the results do, where a device is asked for
  c10::SmallVector<IValue, 2> own; // arguments that are results
  for (const int32_t index : same_as_) {
    own.push_back(index >= 0 ? (*stack)[first + index] : IValue());
  }
  const torch_cuda::aliasing::Argument* generator = nullptr;
  for (const auto& argument : crossing_) {
    IValue& value = (*stack)[first + argument.index];
    if (argument.kind == Kind::Generator) {
      generator = &argument;
      continue;
    }
    if (value.isNone()) {
      continue;
    }
    switch (argument.kind) {
      case Kind::Tensor:
        value = aliases.far(value.toTensor(), argument.written);
        break;
      case Kind::TensorList:
        value = torch_cuda::aliasing::map_tensors(
            std::move(value), [&](const Tensor& tensor) {
              return aliases.far(tensor, argument.written);
            });
        break;
      case Kind::Device:
        stays = value.toDevice().type() != kStandIn;
        if (!stays) {
          storages.set_home(with_index(value.toDevice()));
          value = storages.far(value.toDevice());
        }
        break;
      case Kind::Storage:
        value = aliases.far(value.toStorage(), argument.written);
        break;
      case Kind::Generator:
      case Kind::Stream:
        break;
    }
  }
  if (generator) {
    IValue& value = (*stack)[first + generator->index];
    value = cpu_generator(
        value.isNone() ? default_generator(storages.home().index())
                       : value.toGenerator());
  }
  const c10::DeviceGuard guard(storages.home());
  op.redispatchBoxed(target_, stack);
  if (mutates_) {
    aliases.take_over();
  }
  const size_t result = stack->size() - same_as_.size();
  for (size_t i = 0; i < same_as_.size(); ++i) {
    IValue& value = (*stack)[result + i];
    if (same_as_[i] >= 0) {
      value = std::move(own[i]);
    } else if (!stays) {
      value = torch_cuda::aliasing::map_tensors(
          std::move(value),
          [&](Tensor tensor) { return aliases.near(std::move(tensor)); });
    }
  }
}

} // namespace torch_stand_in

// Arguments across, the CPU's kernel, results back.
#include "accelerator/operators/calls/boxed_call.h"

#include "accelerator/aliasing/aliases.h"
#include "accelerator/operators/calls/half_precision.h"
#include "accelerator/operators/calls/lists.h"
#include "accelerator/operators/calls/writes.h"
#include "accelerator/operators/capture/data_dependence.h"
#include "accelerator/operators/capture/recorded_call.h"
#include "accelerator/operators/capture/stream_capture.h"
#include "accelerator/operators/random/generator.h"
#include "accelerator/operators/tensors/device_memory.h"
#include "accelerator/operators/tensors/memory.h"
#include "accelerator/operators/tensors/order.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace torch_cuda::operators {
namespace {

using aliasing::Aliases;
using aliasing::each_tensor;
using aliasing::Kind;
using aliasing::map_tensors;
using at::Tensor;
using c10::IValue;
using torch::jit::Stack;

// The CPU's kernels of these call another operator for each tensor, which may
// be wherever it is.
bool is_one_by_one(const c10::OperatorName& name) {
  constexpr std::string_view prefix = "aten::_foreach_";
  return name.name.compare(0, prefix.size(), prefix) == 0;
}

} // namespace

// The CPU's kernels look at their arguments only once all of them are the
// CPU's, so that they cannot tell.
HostCall::Place HostCall::place_of(
    const std::string& name,
    const std::string& argument) {
  struct Exception {
    std::string_view name;
    std::string_view argument;
    Place place;
  };
  static constexpr Exception exceptions[] = {
      {"aten::index.Tensor", "indices", Place::DeviceOrHost},
      {"aten::index.Tensor_out", "indices", Place::DeviceOrHost},
      {"aten::_unsafe_index.Tensor", "indices", Place::DeviceOrHost},
      {"aten::_index_put_impl_", "indices", Place::DeviceOrHost},
      {"aten::_pack_padded_sequence", "lengths", Place::DeviceOrHost},
      {"aten::_nested_from_padded",
       "cpu_nested_shape_example",
       Place::DeviceOrHost},
      {"aten::_nested_view_from_buffer", "nested_size", Place::DeviceOrHost},
      {"aten::_nested_view_from_buffer", "nested_strides", Place::DeviceOrHost},
      {"aten::_nested_view_from_buffer", "offsets", Place::DeviceOrHost},
      {"aten::copy_", "src", Place::Anywhere},
      {"aten::_copy_from_and_resize", "self", Place::Anywhere},
      {"aten::_copy_from_and_resize", "dst", Place::Anywhere},
      {"aten::set_.source_Tensor", "source", Place::Anywhere},
      {"aten::is_set_to", "tensor", Place::Anywhere},
  };
  for (const auto& exception : exceptions) {
    if (name == exception.name && argument == exception.argument) {
      return exception.place;
    }
  }
  return Place::Device;
}

// An alias is the CPU's, and its kernel's own calls are no business of what a
// program asked autocast to do with the CPU's tensors, nor of a trace, which
// would keep the alias as a constant.
void HostCall::call_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet target,
    HostKernel kernel,
    Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(
      c10::autocast_dispatch_keyset.add(c10::DispatchKey::Tracer));
  if (kernel != nullptr) {
    const at::AutoDispatchBelowADInplaceOrView below;
    kernel(stack);
  } else {
    op.redispatchBoxed(target, stack);
  }
}

HostCall::HostCall(
    const c10::OperatorHandle& op,
    c10::DispatchKey target,
    HostKernel kernel)
    : target_(target),
      kernel_(kernel),
      arguments_(op.schema().arguments().size()),
      results_(op.schema().returns().size()),
      writes_(writes_all(op) ? Writes::All : Writes::Some),
      asks_for_gradients_(asks_for_gradients(op.operator_name())),
      out_may_be_self_(compares_references(op.operator_name())),
      one_by_one_(is_one_by_one(op.operator_name())) {
  const std::string name = c10::toString(op.operator_name());
  for (auto argument : aliasing::crossing_arguments(op.schema())) {
    const auto& said = op.schema().arguments().at(argument.index).name();
    const Place place = place_of(name, said);
    argument.written = argument.written || writes_in_silence(name, said);
    mutates_ = mutates_ || argument.written;
    several_devices_ = several_devices_ || place == Place::Anywhere;
    crossing_.push_back({argument, place});
  }
}

// Copies between devices read one's memory and write to the other's.
void HostCall::wait_for_others(const Stack& stack, c10::Device device) const {
  const auto arguments = torch::jit::last(stack, arguments_);
  for (const auto& argument : crossing_) {
    each_tensor(arguments[argument.index], [&](const Tensor& tensor) {
      if (tensor.defined() && tensor.is_cuda() && tensor.device() != device) {
        wait_for_current_stream(tensor.device().index());
      }
    });
  }
}

void HostCall::refuse(
    const c10::OperatorHandle& op,
    const Stack& stack,
    c10::Device expected,
    c10::Device found) const {
  const auto arguments = torch::jit::last(stack, arguments_);
  for (const auto& argument : crossing_) {
    if (argument.place != Place::DeviceOrHost || !arguments[0].isTensor()) {
      continue;
    }
    const auto indexed = arguments[0].toTensor().device();
    each_tensor(arguments[argument.index], [&](const Tensor& index) {
      TORCH_CHECK(
          !index.defined() || index.is_cpu() || index.device() == indexed,
          "indices should be either on cpu or on the same device as the "
          "indexed tensor (",
          indexed,
          ")");
    });
  }
  TORCH_CHECK(
      false,
      "Expected all tensors to be on the same device, but found at least two "
      "devices, ",
      expected,
      " and ",
      found,
      "! (in operator ",
      op.operator_name(),
      ")");
}

void HostCall::run(
    const c10::OperatorHandle& op,
    Stack* stack,
    c10::Device device) const {
  wait_for_current_stream(device.index());
  if (C10_UNLIKELY(several_devices_)) {
    wait_for_others(*stack, device);
  }
  Memory storages(device, writes_);
  Aliases aliases(storages, c10::kCUDA, c10::kCPU);
  std::optional<HostGenerator> generator;
  bool to_host = false;
  const size_t first = stack->size() - arguments_;
  for (const auto& argument : crossing_) {
    IValue& value = (*stack)[first + argument.index];
    switch (argument.kind) {
      case Kind::Tensor:
        if (value.isTensor()) {
          const bool gradient = asks_for_gradients_ &&
              value.toTensor().defined() && value.toTensor().requires_grad();
          value = aliases.far(value.toTensor(), argument.written);
          if (C10_UNLIKELY(gradient)) {
            value.toTensor().set_requires_grad(true);
          }
        }
        break;
      case Kind::TensorList:
        if (!value.isNone()) {
          value = map_tensors(std::move(value), [&](const Tensor& tensor) {
            return aliases.far(tensor, argument.written);
          });
        }
        break;
      case Kind::Device:
        if (value.isDevice()) {
          to_host = value.toDevice().is_cpu();
        }
        value = c10::Device(c10::kCPU);
        break;
      case Kind::Generator:
        generator.emplace(value.toOptional<at::Generator>(), device);
        value = generator->host();
        break;
      case Kind::Storage:
        value = aliases.far(value.toStorage(), argument.written);
        break;
      case Kind::Stream:
        break;
    }
  }
  if (to_host) {
    call_kernel(op, target_, kernel_, stack);
  } else {
    const DeviceMemory memory(device);
    call_kernel(op, target_, kernel_, stack);
  }
  if (mutates_) {
    if (C10_UNLIKELY(out_may_be_self_)) {
      aliases.check_kept_sizes();
    }
    aliases.take_over();
  }
  if (generator) {
    generator->move_on();
  }
  if (to_host) {
    return;
  }
  for (size_t i = stack->size() - results_; i < stack->size(); ++i) {
    (*stack)[i] = map_tensors(std::move((*stack)[i]), [&](Tensor tensor) {
      return aliases.near(std::move(tensor));
    });
  }
}

void HostCall::operator()(const c10::OperatorHandle& op, Stack* stack) const {
  std::optional<c10::Device> device;
  std::optional<c10::Device> foreign;
  bool half = false;
  const size_t first = stack->size() - arguments_;
  for (const auto& argument : crossing_) {
    const IValue& value = (*stack)[first + argument.index];
    if (argument.kind == Kind::Device) {
      if (!device && value.isDevice() && value.toDevice().is_cuda()) {
        device = value.toDevice();
      }
      continue;
    }
    each_tensor(value, [&](const Tensor& tensor) {
      if (!tensor.defined()) {
        return;
      }
      half = half || is_half_precision(tensor.scalar_type());
      const auto its = tensor.device();
      if (!its.is_cuda()) {
        const bool is_number = tensor.dim() == 0 && !argument.written &&
            !(one_by_one_ && argument.kind == Kind::TensorList);
        if (argument.place == Place::Device && !is_number && !foreign) {
          foreign = its;
        }
      } else if (!device) {
        device = its;
      } else if (*device != its && argument.place != Place::Anywhere) {
        foreign = its;
      }
    });
  }
  if (C10_UNLIKELY(foreign.has_value())) {
    if (one_by_one_) {
      op.redispatchBoxed(target_, stack);
      return;
    }
    refuse(op, *stack, device.value_or(c10::Device(c10::kCUDA, 0)), *foreign);
  }
  const auto current = c10::cuda::current_device();
  if (!device || !device->has_index()) {
    device = c10::Device(c10::kCUDA, current);
  }
  // A guard that has nothing to do asks the driver for its context all the
  // same.
  c10::cuda::OptionalCUDAGuard guard;
  if (C10_UNLIKELY(current != device->index())) {
    guard.set_device(*device);
  }
  if (C10_UNLIKELY(
          c10::cuda::warning_state().get_sync_debug_mode() !=
          c10::cuda::SyncDebugMode::L_DISABLED) &&
      synchronizes(op, torch::jit::last(*stack, arguments_))) {
    c10::cuda::warn_or_error_on_sync();
  }
  if (C10_LIKELY(!half)) {
    serve(op, stack, *device);
    return;
  }
  call_with_half_precision(op.schema(), stack, [&](Stack* arguments) {
    serve(op, arguments, *device);
  });
}

void HostCall::serve(
    const c10::OperatorHandle& op,
    Stack* stack,
    c10::Device device) const {
  if (C10_UNLIKELY(is_captured(device.index())) &&
      can_be_captured(op, *stack)) {
    record(op, stack, device);
  } else {
    run(op, stack, device);
  }
}

// Not where the host gets an answer, or other devices' streams have a part.
bool HostCall::can_be_captured(
    const c10::OperatorHandle& op,
    const Stack& stack) const {
  const auto arguments = torch::jit::last(stack, arguments_);
  if (asks_for_gradients_ || depends_on_data(op, arguments)) {
    return false;
  }
  std::optional<c10::Device> device;
  bool one_device = true;
  for (const auto& argument : crossing_) {
    const IValue& value = arguments[argument.index];
    if (argument.kind == Kind::Storage ||
        (value.isDevice() && value.toDevice().is_cpu())) {
      return false;
    }
    each_tensor(value, [&](const Tensor& tensor) {
      if (tensor.defined() && tensor.is_cuda()) {
        one_device = one_device && (!device || *device == tensor.device());
        device = tensor.device();
      }
    });
  }
  return one_device;
}

void HostCall::record(
    const c10::OperatorHandle& op,
    Stack* stack,
    c10::Device device) const {
  Stack arguments = torch::jit::pop(*stack, size_t{arguments_});
  HostFunction function;
  function.name = c10::toString(op.operator_name());
  function.results = results_;
  function.draws_by_data = draws_by_data(op.operator_name());
  function.run = [op, target = target_, kernel = kernel_](Stack* values) {
    const at::AutoDispatchBelowADInplaceOrView below;
    call_kernel(op, target, kernel, values);
  };
  for (const auto& argument : crossing_) {
    IValue& value = arguments[argument.index];
    if (argument.written) {
      function.written.push_back(argument.index);
    }
    if (argument.kind == Kind::Device) {
      value = c10::Device(c10::kCPU);
    } else if (argument.kind == Kind::Generator) {
      function.generator = argument.index;
      function.numbers = std::make_shared<CapturedGenerator>(
          value.toOptional<at::Generator>(), device);
      value = IValue();
    }
  }
  operators::record(std::move(function), device, &arguments);
  for (auto& result : arguments) {
    stack->push_back(std::move(result));
  }
}

} // namespace torch_cuda::operators

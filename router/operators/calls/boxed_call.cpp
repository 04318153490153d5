// Arguments across, the CPU's kernel, results back.
#include "router/operators/calls/boxed_call.h"

#include "router/aliasing/aliases.h"
#include "router/operators/calls/half_precision.h"
#include "router/operators/calls/lists.h"
#include "router/operators/calls/writes.h"
#include "router/operators/capture/data_dependence.h"
#include "router/operators/capture/recorded_call.h"
#include "router/operators/capture/stream_capture.h"
#include "router/operators/dispatch/profiled_kernel.h"
#include "router/operators/random/generator.h"
#include "router/operators/tensors/device_memory.h"
#include "router/operators/tensors/memory.h"
#include "router/operators/tensors/order.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <optional>
#include <utility>

namespace torch_cuda::operators {
namespace {

using aliasing::Aliases;
using aliasing::each_tensor;
using aliasing::Kind;
using at::Tensor;
using c10::IValue;
using torch::jit::Stack;

// What differs from crossings of other devices.
struct Across {
  const Aliases& aliases;
  c10::Device home;
  bool compares_sizes;
  c10::function_ref<void(Stack*)> call;
  std::optional<HostGenerator> numbers;

  static c10::Device device(c10::Device /*near*/) {
    return c10::kCPU;
  }
  static c10::Stream stream(const c10::Stream& stream) {
    return stream;
  }
  IValue generator(const IValue& value) {
    numbers.emplace(value.toOptional<at::Generator>(), home);
    return numbers->host();
  }
  void kernel(Stack* stack, bool elsewhere) {
    if (elsewhere) {
      call(stack);
    } else {
      const DeviceMemory memory(home);
      call(stack);
    }
    if (C10_UNLIKELY(compares_sizes)) {
      aliases.check_kept_sizes();
    }
    if (numbers) {
      numbers->move_on();
    }
  }
};

} // namespace

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
      crossing_(op.schema()),
      writes_(writes_all(op) ? Writes::All : Writes::Some),
      lacked_types_(op.operator_name()),
      nondeterminism_(op),
      asks_for_gradients_(asks_for_gradients(op.operator_name())),
      out_may_be_self_(compares_references(op.operator_name())),
      one_by_one_(aliasing::is_one_by_one(op.operator_name())) {
  for (const auto& argument : crossing_.crossing()) {
    several_devices_ = several_devices_ ||
        (argument.place == aliasing::Place::Anywhere && !one_by_one_);
  }
}

// Copies between devices read one's memory and write to the other's.
void HostCall::wait_for_others(const Stack& stack, c10::Device device) const {
  const auto arguments = crossing_.arguments(stack);
  for (const auto& argument : crossing_.crossing()) {
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
  const auto arguments = crossing_.arguments(stack);
  for (const auto& argument : crossing_.crossing()) {
    if (argument.place != aliasing::Place::DeviceOrHost ||
        !arguments[0].isTensor()) {
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
  aliasing::refuse_devices(op, expected, found);
}

void HostCall::refuse_lacked_type(
    const c10::OperatorHandle& op,
    const Stack& stack) const {
  const auto arguments = crossing_.arguments(stack);
  for (const auto& argument : crossing_.crossing()) {
    const IValue& value = arguments[argument.index];
    if (!value.isTensor() || !value.toTensor().defined()) {
      continue;
    }
    const Tensor& tensor = value.toTensor();
    TORCH_CHECK_NOT_IMPLEMENTED(
        tensor.layout() == c10::kSparse || tensor.numel() == 0 ||
            !lacked_types_.contain(tensor.scalar_type()),
        op.operator_name(),
        ": CUDA has no kernel for tensors of the type ",
        c10::toString(tensor.scalar_type()),
        ", so that this fails on a GPU, too. Convert them to another type "
        "first, or call the operator with tensors of the CPU.");
    return;
  }
}

void HostCall::move(Stack* stack, c10::Device device) const {
  const size_t first = stack->size() - crossing_.count();
  for (const auto& argument : crossing_.crossing()) {
    if (argument.place == aliasing::Place::Moved ||
        argument.place == aliasing::Place::NumberMoved) {
      IValue& value = (*stack)[first + argument.index];
      value = aliasing::map_tensors(std::move(value), [&](Tensor tensor) {
        return tensor.defined() && tensor.is_cuda() ? tensor.to(device)
                                                    : tensor;
      });
    }
  }
}

void HostCall::run(
    const c10::OperatorHandle& op,
    Stack* stack,
    c10::Device device) const {
  wait_for_current_stream(device.index());
  if (C10_UNLIKELY(several_devices_)) {
    wait_for_others(*stack, device);
  }
  const ProfiledKernel profiled(op, device.index());
  Memory storages(device, writes_);
  Aliases aliases(storages, c10::kCUDA, c10::kCPU);
  c10::SmallVector<size_t, 2> with_gradients;
  if (C10_UNLIKELY(asks_for_gradients_)) {
    for (size_t i = stack->size() - crossing_.count(); i < stack->size(); ++i) {
      const IValue& value = (*stack)[i];
      if (value.isTensor() && value.toTensor().requires_grad()) {
        with_gradients.push_back(i);
      }
    }
  }
  const auto call = [&](Stack* arguments) {
    for (const size_t i : with_gradients) {
      (*arguments)[i].toTensor().set_requires_grad(true);
    }
    call_kernel(op, target_, kernel_, arguments);
  };
  Across across{aliases, device, out_may_be_self_, call, std::nullopt};
  crossing_.run(aliases, stack, across);
}

void HostCall::operator()(const c10::OperatorHandle& op, Stack* stack) const {
  aliasing::Devices devices{c10::kCUDA, std::nullopt, std::nullopt};
  bool half = false;
  const size_t first = stack->size() - crossing_.count();
  for (const auto& argument : crossing_.crossing()) {
    const IValue& value = (*stack)[first + argument.index];
    if (argument.kind == Kind::Device) {
      if (!devices.common && value.isDevice() && value.toDevice().is_cuda()) {
        devices.common = value.toDevice();
      }
      continue;
    }
    each_tensor(value, [&](const Tensor& tensor) {
      if (tensor.defined()) {
        half = half || is_half_precision(tensor.scalar_type());
        devices.see(tensor, argument, one_by_one_);
      }
    });
  }
  if (C10_UNLIKELY(lacked_types_.any())) {
    refuse_lacked_type(op, *stack);
  }
  if (C10_UNLIKELY(nondeterminism_.any())) {
    nondeterminism_.alert(op.schema(), *stack);
  }
  auto device = devices.common;
  if (C10_UNLIKELY(devices.foreign.has_value())) {
    if (one_by_one_) {
      op.redispatchBoxed(target_, stack);
      return;
    }
    refuse(
        op,
        *stack,
        device.value_or(c10::Device(c10::kCUDA, 0)),
        *devices.foreign);
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
  if (C10_UNLIKELY(devices.has_to_move)) {
    move(stack, *device);
  }
  if (C10_UNLIKELY(
          c10::cuda::warning_state().get_sync_debug_mode() !=
          c10::cuda::SyncDebugMode::L_DISABLED) &&
      synchronizes(op, crossing_.arguments(*stack))) {
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
  const auto arguments = crossing_.arguments(stack);
  if (asks_for_gradients_ || depends_on_data(op, arguments)) {
    return false;
  }
  std::optional<c10::Device> device;
  bool one_device = true;
  for (const auto& argument : crossing_.crossing()) {
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
  Stack arguments = torch::jit::pop(*stack, size_t{crossing_.count()});
  HostFunction function;
  function.name = c10::toString(op.operator_name());
  function.results = crossing_.results();
  function.draws_by_data = draws_by_data(op.operator_name());
  function.run = [op, target = target_, kernel = kernel_](Stack* values) {
    const at::AutoDispatchBelowADInplaceOrView below;
    call_kernel(op, target, kernel, values);
  };
  for (const auto& argument : crossing_.crossing()) {
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

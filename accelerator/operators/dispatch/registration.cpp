// The choice by device, where a process has devices of both kinds.
#include "accelerator/operators/dispatch/registration.h"

#include "accelerator/aliasing/arguments.h"
#include "accelerator/aliasing/previous_kernel.h"
#include "accelerator/operators/dispatch/devices.h"
#include "accelerator/operators/dispatch/served.h"

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAFunctions.h>

#include <optional>
#include <utility>

namespace torch_cuda::operators {
namespace {

using c10::IValue;
using torch::jit::Stack;

std::optional<c10::DeviceIndex> device_of(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cuda()
      ? std::optional(tensor.device().index())
      : std::nullopt;
}

std::optional<c10::DeviceIndex> device_of(const IValue& value) {
  if (value.isTensor()) {
    return device_of(value.toTensor());
  }
  if (value.isTensorList() || aliasing::is_optional_tensor_list(value)) {
    for (const IValue& element : value.toListRef()) {
      if (const auto device = device_of(element)) {
        return device;
      }
    }
  }
  return std::nullopt;
}

class ChoosingKernel final : public c10::OperatorKernel {
 public:
  ChoosingKernel(
      const c10::OperatorHandle& op,
      c10::DispatchKey key,
      c10::KernelFunction kernel)
      : kernel_(std::move(kernel)),
        previous_(op, key),
        arguments_(op.schema().arguments().size()) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      Stack* stack) {
    if (serves_itself(device_of_call(*stack, arguments_))) {
      previous_(op, keys, stack);
    } else {
      kernel_.callBoxed(op, keys, stack);
    }
  }

 private:
  c10::KernelFunction kernel_;
  aliasing::PreviousKernel previous_;
  size_t arguments_;
};

void refuse_call(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet /*keys*/,
    Stack* stack) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      op.operator_name(),
      " on cuda:",
      static_cast<int>(device_of_call(*stack, op.schema().arguments().size())),
      ": PyTorch has CUDA code only for it, and this device runs none. Needed is "
      "a kernel of the device's vendor, or a device that runs CUDA code "
      "(TORCH_CUDA_DEVICES=sim).");
}

} // namespace

c10::DeviceIndex device_of_call(const Stack& stack, size_t arguments) {
  std::optional<c10::DeviceIndex> asked;
  for (size_t i = stack.size() - arguments; i < stack.size(); ++i) {
    if (const auto device = device_of(stack[i])) {
      return *device;
    }
    if (stack[i].isDevice()) {
      const auto device = stack[i].toDevice();
      if (device.is_cuda() && device.has_index()) {
        asked = device.index();
      }
    }
  }
  return asked ? *asked : c10::cuda::current_device();
}

void register_for_all(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel,
    std::optional<c10::impl::CppSignature> signature,
    std::unique_ptr<c10::FunctionSchema> schema,
    std::string origin) {
  if (key == c10::DispatchKey::CUDA && origin == kHosts) {
    note_hosts(op.operator_name());
  }
  aliasing::register_for_good(
      op,
      key,
      std::move(kernel),
      std::move(origin),
      std::move(signature),
      std::move(schema));
}

void register_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel,
    std::string origin) {
  register_for_all(
      op,
      key,
      mixed()
          ? boxed(std::make_unique<ChoosingKernel>(op, key, std::move(kernel)))
          : std::move(kernel),
      std::nullopt,
      nullptr,
      std::move(origin));
}

void refuse(const c10::OperatorHandle& op, c10::DispatchKey key) {
  note_refused(op.operator_name());
  register_kernel(
      op,
      key,
      c10::KernelFunction::makeFromBoxedFunction<&refuse_call>(),
      "accelerator/operators (refused)");
}

} // namespace torch_cuda::operators

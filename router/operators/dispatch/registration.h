// Kernels of this library in PyTorch's dispatcher.
#pragma once

#include "router/aliasing/operators.h"

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/infer_schema.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace torch_cuda::operators {

using aliasing::boxed;

/// The CUDA device that a call is for: the first tensor's, or the one that is
/// asked for, or the current one.
/// @param arguments how many of the stack's last values are the call's.
c10::DeviceIndex device_of_call(
    const torch::jit::Stack& stack,
    size_t arguments);

/// The origin of kernels of this library.
constexpr const char* kHosts = "router/operators";

/// Registers a kernel for the tensors of all devices, over what is there, for
/// as long as the process lasts.
/// @param signature and @param schema of the kernel's function, where they are
/// known: the dispatcher compares them with the operator's. @param origin who
/// is named where the dispatcher names kernels.
void register_for_all(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel,
    std::optional<c10::impl::CppSignature> signature = std::nullopt,
    std::unique_ptr<c10::FunctionSchema> schema = nullptr,
    std::string origin = kHosts);

/// Registers a kernel for the devices that the CUDA kernel which is there does
/// not serve: they run no CUDA code, or the kernel's library has machine code
/// only. What is there goes on serving the others.
/// @returns whether there are such devices.
bool register_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel,
    std::string origin = kHosts);

/// Has an operator that CUDA code alone computes raise NotImplementedError with
/// its name on devices that cannot run it, rather than launch what is not
/// there.
void refuse(const c10::OperatorHandle& op, c10::DispatchKey key);

/// Registers a kernel as register_kernel does, after it was compared with the
/// operator; an operator that this version of PyTorch does not have is left
/// out.
/// @throws c10::Error where the types of arguments or results differ: called
/// past the dispatcher's checks, they would be taken for others.
void register_checked(
    const char* name,
    const char* overload,
    const c10::FunctionSchema& inferred,
    c10::KernelFunction kernel);

/// Whether a function takes and returns what an operator does.
bool fits(const c10::OperatorHandle& op, const c10::FunctionSchema& inferred);

/// Registers a function for the devices that run no CUDA code of PyTorch's.
template <class Function>
void register_function(
    const char* name,
    const char* overload,
    Function* function) {
  register_checked(
      name,
      overload,
      c10::inferFunctionSchemaFlattenedReturns<Function>(),
      c10::KernelFunction::makeFromUnboxedRuntimeFunction(function));
}

/// Calls a kernel with a stack, whoever calls it.
class CalledWithStack final : public c10::OperatorKernel {
 public:
  explicit CalledWithStack(c10::KernelFunction kernel)
      : kernel_(std::move(kernel)) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    kernel_.callBoxed(op, keys, stack);
  }

 private:
  c10::KernelFunction kernel_;
};

/// The same of a function that takes lists of tensors: C++ code passes them to
/// an operator in one of two types, which differ by operator and version and
/// which no schema tells apart (at::TensorList, at::ITensorListRef). With a
/// stack there is one.
template <class Function>
void register_function_of_lists(
    const char* name,
    const char* overload,
    Function* function) {
  register_checked(
      name,
      overload,
      c10::inferFunctionSchemaFlattenedReturns<Function>(),
      boxed(std::make_unique<CalledWithStack>(
          c10::KernelFunction::makeFromUnboxedRuntimeFunction(function))));
}

/// The same of two functions: the one that fits this version of PyTorch, the
/// second where neither does.
template <class First, class Second>
void register_one_of(
    const char* name,
    const char* overload,
    First* first,
    Second* second) {
  const auto op = c10::Dispatcher::singleton().findSchema({name, overload});
  if (op && fits(*op, c10::inferFunctionSchemaFlattenedReturns<First>())) {
    register_function(name, overload, first);
  } else {
    register_function(name, overload, second);
  }
}

} // namespace torch_cuda::operators

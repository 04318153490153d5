// What backends ask of the dispatcher's operators when they register kernels.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DispatchKey.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace torch_cuda::aliasing {

/// The layouts that have keys of their own, on every device.
constexpr c10::DispatchKey kLayouts[] = {
    c10::DispatchKey::Dense,
    c10::DispatchKey::Sparse,
    c10::DispatchKey::SparseCsr,
    c10::DispatchKey::Quantized,
    c10::DispatchKey::NestedTensor,
};

/// The key of a device's tensors of a layout, such as SparseCUDA.
constexpr c10::DispatchKey key_of(
    c10::DispatchKey layout,
    c10::BackendComponent device) {
  return c10::toRuntimePerBackendFunctionalityKey(layout, device);
}

/// Whether a result is a view of an argument.
bool returns_view(const c10::FunctionSchema& schema);

/// Whether an operator is made of others, below autograd.
bool is_explicit_composite(const c10::OperatorHandle& op);

/// The kernel that a functor is, which is called with operator, keys and stack.
template <class Functor>
c10::KernelFunction boxed(std::unique_ptr<Functor> functor) {
  return c10::KernelFunction::makeFromBoxedFunctor(std::move(functor));
}

/// The kernel of another key as it is: it looks at sizes and strides only, or
/// calls other operators.
c10::KernelFunction kernel_of(c10::DispatchKey key);

/// Registers a kernel, over what is there, for as long as the process lasts.
/// @param signature and @param schema of the kernel's function, where they are
/// known: the dispatcher compares them with the operator's. @param origin who
/// is named where the dispatcher names kernels.
void register_for_good(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel,
    std::string origin,
    std::optional<c10::impl::CppSignature> signature = std::nullopt,
    std::unique_ptr<c10::FunctionSchema> schema = nullptr);

} // namespace torch_cuda::aliasing

// A look into a kernel of the dispatcher.
#include "router/aliasing/kernel_address.h"

#include "router/aliasing/previous_kernel.h"

#include <ATen/core/boxing/KernelFunction.h>
#include <dlfcn.h>

#include <cstring>
#include <typeinfo>

namespace torch_cuda::aliasing {
namespace {

// What a kernel was made of is private, and PyTorch has no function for it. An
// explicit instantiation may name private members ([temp.spec.general]).
using Function = void* c10::KernelFunction::*;
using Boxed = c10::BoxedKernel c10::KernelFunction::*;
using Functor = c10::intrusive_ptr<c10::OperatorKernel> c10::BoxedKernel::*;

Function unboxed_function();
Function unboxed_function_of_symbols(); // of symbolic sizes
Boxed boxed_kernel();
Functor functor();

template <Function unboxed, Function of_symbols, Boxed boxed>
struct Members {
  friend Function unboxed_function() {
    return unboxed;
  }
  friend Function unboxed_function_of_symbols() {
    return of_symbols;
  }
  friend Boxed boxed_kernel() {
    return boxed;
  }
};

template <Functor member>
struct MembersOfBoxed {
  friend Functor functor() {
    return member;
  }
};

template struct Members<
    &c10::KernelFunction::unboxed_kernel_func_,
    &c10::KernelFunction::sym_unboxed_kernel_func_,
    &c10::KernelFunction::boxed_kernel_func_>;
template struct MembersOfBoxed<&c10::BoxedKernel::functor_>;

// Libraries with PyTorch's stable ABI register functions that take a stack.
// PyTorch keeps each in an object of its own, whose class no header has: the
// function's address is its first member.
const void* stable_function(const c10::KernelFunction& kernel) {
  const auto& object = (kernel.*boxed_kernel()).*functor();
  if (!object ||
      std::strstr(typeid(*object).name(), "StableIValueBoxedKernel") ==
          nullptr) {
    return nullptr;
  }
  const void* function = nullptr;
  std::memcpy(
      &function,
      reinterpret_cast<const char*>(object.get()) + sizeof(c10::OperatorKernel),
      sizeof(function));
  Dl_info info{};
  return dladdr(function, &info) == 0 ? nullptr : function;
}

} // namespace

const void* kernel_address(
    const c10::OperatorHandle& op,
    c10::DispatchKey key) {
  if (!op.hasComputedKernelForDispatchKey(key)) {
    return nullptr;
  }
  const c10::KernelFunction& kernel = computed_kernel(op, key);
  const void* function = kernel.*unboxed_function();
  if (function == nullptr) {
    function = kernel.*unboxed_function_of_symbols();
  }
  return function != nullptr ? function : stable_function(kernel);
}

} // namespace torch_cuda::aliasing

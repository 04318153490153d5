// A look into a kernel of the dispatcher.
#include "accelerator/aliasing/kernel_address.h"

#include "accelerator/aliasing/previous_kernel.h"

#include <ATen/core/boxing/KernelFunction.h>

namespace torch_cuda::aliasing {
namespace {

// What a kernel was made of is private, and PyTorch has no function for it. An
// explicit instantiation may name private members ([temp.spec.general]).
using Member = void* c10::KernelFunction::*;

Member unboxed_function();
Member unboxed_function_of_symbols(); // of symbolic sizes

template <Member unboxed, Member of_symbols>
struct Members {
  friend Member unboxed_function() {
    return unboxed;
  }
  friend Member unboxed_function_of_symbols() {
    return of_symbols;
  }
};

template struct Members<
    &c10::KernelFunction::unboxed_kernel_func_,
    &c10::KernelFunction::sym_unboxed_kernel_func_>;

} // namespace

const void* kernel_address(
    const c10::OperatorHandle& op,
    c10::DispatchKey key) {
  if (!op.hasComputedKernelForDispatchKey(key)) {
    return nullptr;
  }
  const c10::KernelFunction& kernel = computed_kernel(op, key);
  const void* function = kernel.*unboxed_function();
  return function != nullptr ? function : kernel.*unboxed_function_of_symbols();
}

} // namespace torch_cuda::aliasing

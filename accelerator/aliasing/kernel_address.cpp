// A look into a kernel of the dispatcher.
#include "accelerator/aliasing/kernel_address.h"

#include "accelerator/aliasing/previous_kernel.h"

#include <ATen/core/boxing/KernelFunction.h>

namespace torch_cuda::aliasing {
namespace {

// What a kernel was made of is private, and PyTorch has no function for it. An
// explicit instantiation may name private members ([temp.spec.general]).
void* c10::KernelFunction::* unboxed_function();

template <void* c10::KernelFunction::* member>
struct Member {
  friend void* c10::KernelFunction::* unboxed_function() {
    return member;
  }
};

template struct Member<&c10::KernelFunction::unboxed_kernel_func_>;

} // namespace

const void* kernel_address(
    const c10::OperatorHandle& op,
    c10::DispatchKey key) {
  if (!op.hasComputedKernelForDispatchKey(key)) {
    return nullptr;
  }
  return computed_kernel(op, key).*unboxed_function();
}

} // namespace torch_cuda::aliasing

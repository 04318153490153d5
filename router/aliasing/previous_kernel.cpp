// A look into the dispatcher's table.
#include "router/aliasing/previous_kernel.h"

#include <c10/util/Exception.h>

namespace torch_cuda::aliasing {
namespace {

struct Table;

} // namespace
} // namespace torch_cuda::aliasing

// The dispatcher gives a kernel to nobody but its friends, of which this
// template is one, for any type (PyTorch 2.9 has a function for it,
// getComputedKernelForDispatchKey).
template <>
class c10::TypedOperatorHandle<torch_cuda::aliasing::Table> {
 public:
  static const c10::KernelFunction& lookup(
      const c10::OperatorHandle& op,
      c10::DispatchKey key) {
    return op.operatorDef_->op.lookup(c10::DispatchKeySet(key));
  }
};

namespace torch_cuda::aliasing {

const c10::KernelFunction& computed_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key) {
  return c10::TypedOperatorHandle<Table>::lookup(op, key);
}

PreviousKernel::PreviousKernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey key)
    : key_(key) {
  if (op.hasComputedKernelForDispatchKey(key)) {
    kernel_ = computed_kernel(op, key);
  }
}

void PreviousKernel::operator()(
    const c10::OperatorHandle& op,
    c10::DispatchKeySet keys,
    torch::jit::Stack* stack) const {
  TORCH_CHECK_NOT_IMPLEMENTED(
      kernel_.isValid() && !kernel_.isFallthrough(),
      "Could not run '",
      op.operator_name(),
      "' with arguments from the '",
      key_,
      "' backend: PyTorch has no kernel of it for CUDA.");
  kernel_.callBoxed(op, keys, stack);
}

} // namespace torch_cuda::aliasing

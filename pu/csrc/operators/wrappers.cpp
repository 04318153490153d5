// Composites at AutogradOther.
#include "pu/csrc/operators/wrappers.h"

#include "router/aliasing/previous_kernel.h"

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DispatchKeySet.h>

#include <memory>

namespace torch_pu {
namespace {

using c10::DispatchKey;
using c10::OperatorHandle;

class Composite final : public c10::OperatorKernel {
 public:
  // At the key of pu nothing but the composite is registered yet.
  explicit Composite(const OperatorHandle& op)
      : kernel_(op, DispatchKey::AutogradPrivateUse1) {}

  void operator()(
      const OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    kernel_(op, keys, stack);
  }

 private:
  torch_cuda::aliasing::PreviousKernel kernel_;
};

bool is_ambiguous(const OperatorHandle& op) {
  if (!op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) ||
      op.hasKernelForDispatchKey(DispatchKey::AutogradOther)) {
    return false;
  }
  for (const auto key : c10::autogradother_backends) {
    if (op.hasKernelForDispatchKey(key)) {
      return true;
    }
  }
  return false;
}

} // namespace

void register_for_wrappers(torch::Library& autograd_other) {
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (op && op->hasSchema() && name.getNamespace() == "aten" &&
        is_ambiguous(*op)) {
      autograd_other.impl(
          c10::toString(name).c_str(),
          torch::CppFunction::makeFromBoxedFunctor(
              std::make_unique<Composite>(*op)));
    }
  }
}

} // namespace torch_pu

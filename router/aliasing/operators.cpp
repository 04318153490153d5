// Questions to schemas, and registrations that nothing ends.
#include "router/aliasing/operators.h"

#include <ATen/core/stack.h>

#include <vector>

namespace torch_cuda::aliasing {
namespace {

class KernelOfKey final : public c10::OperatorKernel {
 public:
  explicit KernelOfKey(c10::DispatchKey key) : keys_(key) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    op.redispatchBoxed(keys_, stack);
  }

 private:
  c10::DispatchKeySet keys_;
};

} // namespace

bool returns_view(const c10::FunctionSchema& schema) {
  for (const auto& result : schema.returns()) {
    const auto* alias = result.alias_info();
    if (alias != nullptr && !alias->isWrite()) {
      return true;
    }
  }
  return false;
}

bool is_explicit_composite(const c10::OperatorHandle& op) {
  using c10::DispatchKey;
  return op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
      op.hasKernelForDispatchKey(
          DispatchKey::CompositeExplicitAutogradNonFunctional);
}

c10::KernelFunction kernel_of(c10::DispatchKey key) {
  return boxed(std::make_unique<KernelOfKey>(key));
}

void register_for_good(
    const c10::OperatorHandle& op,
    c10::DispatchKey key,
    c10::KernelFunction kernel,
    std::string origin,
    std::optional<c10::impl::CppSignature> signature,
    std::unique_ptr<c10::FunctionSchema> schema) {
  // Never destroyed, as a registration ends with it.
  static auto* registrations = new std::vector<c10::RegistrationHandleRAII>;
  registrations->push_back(c10::Dispatcher::singleton().registerImpl(
      op.operator_name(),
      key,
      std::move(kernel),
      std::move(signature),
      std::move(schema),
      std::move(origin)));
}

} // namespace torch_cuda::aliasing

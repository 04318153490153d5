// The CPU's kernels for all that they serve.
#include <ATen/core/Tensor.h>
#include <ATen/core/enum_tag.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "adapter/testing/stand_in/csrc/operators/call.h"
#include "adapter/testing/stand_in/csrc/operators/factories.h"
#include "adapter/testing/stand_in/csrc/operators/recurrent.h"
#include "router/aliasing/operators.h"
#include "router/facade/registration.h"

namespace torch_stand_in {
namespace {

using c10::DispatchKey;
using c10::OperatorHandle;
using torch_cuda::aliasing::boxed;

// Releases before 1.0 lack the logarithm of float64 in place, as backends of
// others lacked it: for what mends such releases.
class Gap final : public c10::OperatorKernel {
 public:
  explicit Gap(const OperatorHandle& op) : call_(op, DispatchKey::CPU) {}

  void operator()(
      const OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        stack->back().toTensor().scalar_type() != at::kDouble,
        "\"log_\" not implemented for 'Double' on the stand-in before 1.0");
    call_(op, keys, stack);
  }

 private:
  Call call_;
};

void register_gap() {
  const char* release = std::getenv("TORCH_STAND_IN_RELEASE");
  if (release != nullptr && std::string_view(release).substr(0, 2) == "0.") {
    const auto log =
        c10::Dispatcher::singleton().findSchemaOrThrow("aten::log_", "");
    torch_cuda::aliasing::register_for_good(
        log,
        DispatchKey::PrivateUse1,
        boxed(std::make_unique<Gap>(log)),
        "torch_stand_in");
  }
}

[[maybe_unused]] const bool operators_registered = [] {
  // Never destroyed, as a registration ends with it.
  auto& aten = *new torch::Library(
      torch::Library::IMPL,
      "aten",
      DispatchKey::PrivateUse1,
      __FILE__,
      __LINE__);
  register_own(aten);
  register_recurrent(aten);
  register_gap();
  torch_cuda::facade::register_operators(
      {c10::BackendComponent::CPUBit,
       [](const OperatorHandle& op, DispatchKey cpu) {
         return boxed(std::make_unique<Call>(op, cpu));
       },
       // What goes from device to device, and what draws random numbers from a
       // device's generator.
       [](const OperatorHandle& op) {
         return op.operator_name().name == "aten::_to_copy" ||
             op.hasTag(at::Tag::nondeterministic_seeded);
       }},
      "torch_stand_in");
  return true;
}();

} // namespace
} // namespace torch_stand_in

// The change of type before the CPU's kernel, or after it.
#include "router/operators/kernels/softmax.h"

#include "router/operators/calls/boxed_call.h"
#include "router/operators/dispatch/registration.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <memory>

namespace torch_cuda::operators {
namespace {

using torch::jit::Stack;

// (self, dim, half_to_float)
class Forward final : public c10::OperatorKernel {
 public:
  Forward(const c10::OperatorHandle& op, c10::DispatchKey target)
      : call_(op, target) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      Stack* stack) {
    auto& converts = torch::jit::peek(*stack, 2, 3);
    if (converts.toBool()) {
      auto& self = torch::jit::peek(*stack, 0, 3);
      self = self.toTensor().to(c10::kFloat);
      converts = false;
    }
    call_(op, stack);
  }

 private:
  HostCall call_;
};

// (grad_output, output, dim, input_dtype)
class Backward final : public c10::OperatorKernel {
 public:
  Backward(const c10::OperatorHandle& op, c10::DispatchKey target)
      : call_(op, target) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      Stack* stack) {
    const auto computed =
        torch::jit::peek(*stack, 0, 4).toTensor().scalar_type();
    auto& type = torch::jit::peek(*stack, 3, 4);
    const auto wanted = type.toScalarType();
    type = computed;
    call_(op, stack);
    if (wanted != computed) {
      auto& result = stack->back();
      result = result.toTensor().to(wanted);
    }
  }

 private:
  HostCall call_;
};

bool is_forward(const c10::OperatorName& name) {
  return name.overload_name.empty() &&
      (name.name == "aten::_softmax" || name.name == "aten::_log_softmax");
}

bool is_backward(const c10::OperatorName& name) {
  return name.overload_name.empty() &&
      (name.name == "aten::_softmax_backward_data" ||
       name.name == "aten::_log_softmax_backward_data");
}

} // namespace

bool is_softmax(const c10::OperatorName& name) {
  return is_forward(name) || is_backward(name);
}

c10::KernelFunction softmax_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey target) {
  return is_forward(op.operator_name())
      ? boxed(std::make_unique<Forward>(op, target))
      : boxed(std::make_unique<Backward>(op, target));
}

} // namespace torch_cuda::operators

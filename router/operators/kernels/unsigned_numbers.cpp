// They come as tensors instead.
#include "router/operators/kernels/unsigned_numbers.h"

#include "router/operators/calls/boxed_call.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/Scalar.h>

#include <memory>
#include <utility>

namespace torch_cuda::operators {
namespace {

class UnsignedNumber : public c10::OperatorKernel {
 public:
  UnsignedNumber(const c10::OperatorHandle& op, c10::DispatchKey target)
      : op_(op),
        of_tensors_(c10::Dispatcher::singleton().findSchemaOrThrow(
            op.operator_name().name.c_str(),
            "Tensor")),
        call_(op, target) {}

 protected:
  at::Tensor call(const at::Tensor& self, const at::Scalar& value) {
    const bool fits = value.type() != c10::kUInt64;
    torch::jit::Stack stack{self};
    if (fits) {
      stack.emplace_back(value);
      call_(op_, &stack);
    } else {
      stack.emplace_back(at::scalar_tensor(value, c10::kUInt64));
      of_tensors_.callBoxed(stack);
    }
    return std::move(stack.back()).toTensor();
  }

 private:
  c10::OperatorHandle op_;
  c10::OperatorHandle of_tensors_;
  HostCall call_;
};

struct Fill final : UnsignedNumber {
  using UnsignedNumber::UnsignedNumber;
  at::Tensor& operator()(at::Tensor& self, const at::Scalar& value) {
    call(self, value);
    return self;
  }
};

struct Comparison final : UnsignedNumber {
  using UnsignedNumber::UnsignedNumber;
  at::Tensor operator()(const at::Tensor& self, const at::Scalar& value) {
    return call(self, value);
  }
};

bool is_fill(const c10::OperatorName& name) {
  return name.name == "aten::fill_";
}

// The CPU has no other comparisons of such numbers.
bool is_comparison(const c10::OperatorName& name) {
  return name.name == "aten::eq" || name.name == "aten::ne";
}

} // namespace

bool takes_unsigned_number(const c10::OperatorName& name) {
  return name.overload_name == "Scalar" &&
      (is_fill(name) || is_comparison(name));
}

c10::KernelFunction unsigned_number_kernel(
    const c10::OperatorHandle& op,
    c10::DispatchKey target) {
  if (is_fill(op.operator_name())) {
    return c10::KernelFunction::makeFromUnboxedFunctor<false, Fill>(
        std::make_unique<Fill>(op, target));
  }
  return c10::KernelFunction::makeFromUnboxedFunctor<false, Comparison>(
      std::make_unique<Comparison>(op, target));
}

} // namespace torch_cuda::operators

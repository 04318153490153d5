// Composites as a whole: autograd sees through to CUDA's nodes.
#include "pu/csrc/operators/composites.h"

#include "accelerator/aliasing/previous_kernel.h"
#include "pu/csrc/device/names.h"
#include "pu/csrc/operators/errors.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch_pu {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::IValue;

// While one lives, CUDA's tensors are cast as pu's are.
class CastAlike {
 public:
  CastAlike()
      : enabled_(at::autocast::is_autocast_enabled(kCuda)),
        type_(at::autocast::get_autocast_dtype(kCuda)) {
    at::autocast::set_autocast_enabled(
        kCuda, at::autocast::is_autocast_enabled(kPu));
    at::autocast::set_autocast_dtype(
        kCuda, at::autocast::get_autocast_dtype(kPu));
  }
  ~CastAlike() {
    at::autocast::set_autocast_enabled(kCuda, enabled_);
    at::autocast::set_autocast_dtype(kCuda, type_);
  }
  CastAlike(const CastAlike&) = delete;
  CastAlike& operator=(const CastAlike&) = delete;

 private:
  bool enabled_;
  c10::ScalarType type_;
};

Tensor on(const Tensor& tensor, c10::DeviceType from, c10::DeviceType to) {
  return tensor.defined() && tensor.device().type() == from
      ? tensor.to(c10::Device(to, tensor.device().index()))
      : tensor;
}

IValue on(const IValue& value, c10::DeviceType from, c10::DeviceType to) {
  if (value.isTensor()) {
    return on(value.toTensor(), from, to);
  }
  if (value.isTensorList()) {
    std::vector<Tensor> tensors;
    for (const auto& tensor : value.toTensorVector()) {
      tensors.push_back(on(tensor, from, to));
    }
    return tensors;
  }
  return value;
}

class Whole final : public c10::OperatorKernel {
 public:
  explicit Whole(const c10::OperatorHandle& op)
      : composite_(op, DispatchKey::AutogradPrivateUse1) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    if (!op.hasKernelForDispatchKey(DispatchKey::AutogradCUDA)) {
      composite_(op, keys, stack);
      return;
    }
    const size_t arguments = op.schema().arguments().size();
    const size_t results = op.schema().returns().size();
    for (size_t i = stack->size() - arguments; i < stack->size(); ++i) {
      (*stack)[i] = on((*stack)[i], kPu, kCuda);
    }
    try {
      const CastAlike alike;
      op.callBoxed(stack);
    } catch (const c10::Error&) {
      rethrow_in_words_of_pu();
    }
    for (size_t i = stack->size() - results; i < stack->size(); ++i) {
      (*stack)[i] = on((*stack)[i], kCuda, kPu);
    }
  }

 private:
  torch_cuda::aliasing::PreviousKernel composite_;
};

} // namespace

void register_composites(torch::Library& aten) {
  constexpr std::pair<const char*, const char*> kComposites[] = {
      {"lstm", "input"},
      {"lstm", "data"},
      {"gru", "input"},
      {"gru", "data"},
      {"rnn_tanh", "input"},
      {"rnn_tanh", "data"},
      {"rnn_relu", "input"},
      {"rnn_relu", "data"},
      {"lstm_cell", ""},
      {"gru_cell", ""},
      {"scaled_dot_product_attention", ""},
      {"dropout", ""},
  };
  for (const auto& [name, overload] : kComposites) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
        (std::string("aten::") + name).c_str(), overload);
    aten.impl(
        c10::toString(op.operator_name()).c_str(),
        torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Whole>(op)));
  }
}

} // namespace torch_pu

// The loop over all operators.
#include "router/facade/registration.h"

#include "router/aliasing/operators.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace torch_cuda::facade {
namespace {

using aliasing::is_explicit_composite;
using aliasing::key_of;
using aliasing::register_for_good;
using aliasing::returns_view;
using at::Tensor;
using c10::BackendComponent;
using c10::DispatchKey;
using c10::OperatorHandle;

// Operators that come later, with a library of their own.
class Late final : public c10::OperatorKernel {
 public:
  explicit Late(Far far) : far_(std::move(far)) {}

  void operator()(
      const OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    call(op).callBoxed(op, keys, stack);
  }

 private:
  const c10::KernelFunction& call(const OperatorHandle& op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& call = calls_[op.operator_name()];
    if (!call.isValid()) {
      call = far_.call(op, key_of(DispatchKey::Dense, far_.device));
    }
    return call;
  }

  Far far_;
  std::mutex mutex_;
  std::unordered_map<c10::OperatorName, c10::KernelFunction> calls_;
};

// Tensor.set_data, and Module.to with it, puts a tensor of PrivateUse1 into a
// Parameter of another device and back: they are of one class.
bool has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from) {
  const auto is_dense = [](const Tensor& tensor) {
    return tensor.layout() == c10::kStrided && !tensor.is_quantized() &&
        !tensor.is_nested() &&
        (tensor.is_privateuseone() || tensor.is_cuda() || tensor.is_cpu());
  };
  const auto is_sparse = [](const Tensor& tensor) {
    return tensor.layout() == c10::kSparse;
  };
  return (is_dense(self) && is_dense(from)) ||
      (is_sparse(self) && is_sparse(from));
}

void register_general(torch::Library& own, torch::Library& autograd) {
  for (auto* library : {&own, &autograd}) {
    library->impl(
        "_has_compatible_shallow_copy_type",
        TORCH_FN(has_compatible_shallow_copy_type));
  }
  // These look at sizes and strides only.
  own.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  own.impl("view", TORCH_FN(at::native::view));
  own.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  own.impl("unfold", TORCH_FN(at::native::unfold));
  own.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  own.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
}

// These ask the process group for the device's backend.
bool is_collective(c10::string_view space) {
  return space.find("c10d") != c10::string_view::npos || space == "_dtensor";
}

// Never destroyed, as a registration ends with it.
torch::Library& library(const char* space, DispatchKey key) {
  return *new torch::Library(
      torch::Library::IMPL, space, key, __FILE__, __LINE__);
}

class Registrar {
 public:
  Registrar(const Far& far, const char* origin) : far_(far), origin_(origin) {}

  // Returns whether the operator goes to the far device.
  bool serve(const OperatorHandle& op, DispatchKey layout) const {
    const auto own = key_of(layout, BackendComponent::PrivateUse1Bit);
    const auto far = key_of(layout, far_.device);
    const auto cpu = key_of(layout, BackendComponent::CPUBit);
    const bool composite =
        layout == DispatchKey::Dense && is_explicit_composite(op);
    // Not so below autograd: composites that it sees through.
    const bool on_cpu = op.hasKernelForDispatchKey(cpu) &&
        (op.hasKernelForDispatchKey(DispatchKey::Autograd) ||
         !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd));
    const bool on_far = far == cpu ? on_cpu : op.hasKernelForDispatchKey(far);
    const auto space = op.operator_name().getNamespace();
    if (op.hasKernelForDispatchKey(own) || !space || is_collective(*space) ||
        !(on_far || on_cpu || (composite && !far_.is_seen_through(op)))) {
      return false;
    }
    if (!returns_view(op.schema())) {
      register_for_good(op, own, far_.call(op, far), origin_);
      return true;
    }
    if ((on_far && far != cpu) || (on_cpu && !composite)) {
      register_for_good(op, own, aliasing::kernel_of(far), origin_);
    }
    return false;
  }

 private:
  const Far& far_;
  const char* origin_;
};

} // namespace

int register_operators(const Far& far, const char* origin) {
  register_general(
      library("aten", DispatchKey::PrivateUse1),
      library("aten", DispatchKey::AutogradPrivateUse1));
  const Registrar registrar(far, origin);
  int served = 0;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (op && op->hasSchema()) {
      for (const auto layout : aliasing::kLayouts) {
        served += registrar.serve(*op, layout) ? 1 : 0;
      }
    }
  }
  library("_", DispatchKey::PrivateUse1)
      .fallback(torch::CppFunction::makeFromBoxedFunctor(
          std::make_unique<Late>(far)));
  // As PyTorch has it for the devices that it knows.
  library("_", DispatchKey::AutogradPrivateUse1)
      .fallback(torch::autograd::basicAutogradNotImplementedFallback());
  return served;
}

} // namespace torch_cuda::facade

// Which operators are served, and how.
//
// What has a kernel of the CPU's or an explicit composite goes to the CPU as a
// whole. Composites whose autograd formula is implicit run on tensors of the
// stand-in, and what they are made of goes to the CPU.
#include <ATen/core/enum_tag.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "adapter/testing/stand_in/csrc/operators/call.h"
#include "adapter/testing/stand_in/csrc/operators/factories.h"
#include "adapter/testing/stand_in/csrc/operators/recurrent.h"

namespace torch_stand_in {
namespace {

using c10::DispatchKey;
using c10::OperatorHandle;

struct Side {
  DispatchKey own;
  DispatchKey cpu;
};

constexpr Side kSides[] = {
    {DispatchKey::PrivateUse1, DispatchKey::CPU},
    {DispatchKey::SparsePrivateUse1, DispatchKey::SparseCPU},
    {DispatchKey::SparseCsrPrivateUse1, DispatchKey::SparseCsrCPU},
    {DispatchKey::QuantizedPrivateUse1, DispatchKey::QuantizedCPU},
    {DispatchKey::NestedTensorPrivateUse1, DispatchKey::NestedTensorCPU},
};

// The CPU's kernel of a view: it looks at sizes and strides only.
class View final : public c10::OperatorKernel {
 public:
  explicit View(DispatchKey target) : target_(target) {}

  void operator()(
      const OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      torch::jit::Stack* stack) {
    op.redispatchBoxed(target_, stack);
  }

 private:
  c10::DispatchKeySet target_;
};

// Operators that come later, with a library of their own.
class Late final : public c10::OperatorKernel {
 public:
  void operator()(
      const OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        op.hasKernelForDispatchKey(DispatchKey::CPU) ||
            op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd),
        "Could not run '",
        op.operator_name(),
        "' with arguments from the '",
        c10::get_privateuse1_backend(),
        "' backend: it has no kernel for PrivateUse1 and none for the CPU.");
    call(op)(op, keys, stack);
  }

 private:
  Call& call(const OperatorHandle& op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& call = calls_[op.operator_name()];
    if (!call) {
      call = std::make_unique<Call>(op, DispatchKey::CPU);
    }
    return *call;
  }

  std::mutex mutex_;
  std::unordered_map<c10::OperatorName, std::unique_ptr<Call>> calls_;
};

// Releases before 1.0 lack the logarithm of float64 in place, as backends of
// others lacked it: for what mends such releases.
bool is_gap(const OperatorHandle& op) {
  const char* release = std::getenv("TORCH_STAND_IN_RELEASE");
  return release != nullptr && std::string_view(release).substr(0, 2) == "0." &&
      op.operator_name().name == "aten::log_";
}

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

template <class Kernel>
torch::CppFunction boxed(std::unique_ptr<Kernel> kernel) {
  return torch::CppFunction::makeFromBoxedFunctor(std::move(kernel));
}

bool returns_view(const c10::FunctionSchema& schema) {
  for (const auto& result : schema.returns()) {
    const auto* alias = result.alias_info();
    if (alias != nullptr && !alias->isWrite()) {
      return true;
    }
  }
  return false;
}

// These ask the process group for the stand-in's backend.
bool is_collective(c10::string_view space) {
  return space.find("c10d") != c10::string_view::npos || space == "_dtensor";
}

// Composites that have to be seen through: those that go from device to device,
// and those that draw random numbers from a device's generator.
bool is_seen_through(const OperatorHandle& op) {
  return op.operator_name().name == "aten::_to_copy" ||
      op.hasTag(at::Tag::nondeterministic_seeded);
}

bool is_explicit_composite(const OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
      op.hasKernelForDispatchKey(
          DispatchKey::CompositeExplicitAutogradNonFunctional);
}

// Never destroyed, as a registration ends with it.
torch::Library& library(const std::string& space, DispatchKey key) {
  static auto* libraries =
      new std::unordered_map<std::string, std::unique_ptr<torch::Library>>;
  auto& library = (*libraries)[space + c10::toString(key)];
  if (!library) {
    library = std::make_unique<torch::Library>(
        torch::Library::IMPL, space, key, __FILE__, __LINE__);
  }
  return *library;
}

template <class Kernel>
void implement(
    const OperatorHandle& op,
    DispatchKey key,
    std::unique_ptr<Kernel> kernel) {
  const auto& name = op.operator_name();
  library(std::string(*name.getNamespace()), key)
      .impl(c10::toString(name).c_str(), boxed(std::move(kernel)));
}

void serve(const OperatorHandle& op, const Side& side) {
  const bool dense = side.own == DispatchKey::PrivateUse1;
  const bool composite = is_explicit_composite(op);
  // Not so below autograd: composites that it sees through.
  const bool on_cpu = op.hasKernelForDispatchKey(side.cpu) &&
      (op.hasKernelForDispatchKey(DispatchKey::Autograd) ||
       !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd));
  if (op.hasKernelForDispatchKey(side.own) ||
      !(on_cpu || (dense && composite && !is_seen_through(op)))) {
    return;
  }
  const auto space = op.operator_name().getNamespace();
  if (!space || is_collective(*space)) {
    return;
  }
  if (dense && is_gap(op)) {
    implement(op, side.own, std::make_unique<Gap>(op));
  } else if (!returns_view(op.schema())) {
    implement(op, side.own, std::make_unique<Call>(op, side.cpu));
  } else if (on_cpu && !(dense && composite)) {
    implement(op, side.own, std::make_unique<View>(side.cpu));
  }
}

[[maybe_unused]] const bool registered = [] {
  register_own(library("aten", DispatchKey::PrivateUse1));
  register_recurrent(library("aten", DispatchKey::PrivateUse1));
  for (const auto key :
       {DispatchKey::PrivateUse1, DispatchKey::AutogradPrivateUse1}) {
    register_set_data(library("aten", key));
  }
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (op && op->hasSchema()) {
      for (const auto& side : kSides) {
        serve(*op, side);
      }
    }
  }
  library("_", DispatchKey::PrivateUse1)
      .fallback(boxed(std::make_unique<Late>()));
  // As PyTorch has it for the devices that it knows.
  library("_", DispatchKey::AutogradPrivateUse1)
      .fallback(torch::autograd::basicAutogradNotImplementedFallback());
  return true;
}();

} // namespace
} // namespace torch_stand_in

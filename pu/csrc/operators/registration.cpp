// Which operators of pu are served, and how.
//
// What has a kernel of CUDA's, of the CPU's (devices that run no CUDA code have
// it served by the CPU, once CUDA is in use) or an explicit composite goes to
// CUDA as a whole. Composites whose autograd formula is implicit run on tensors
// of pu, and what they are made of goes to CUDA.
#include "pu/csrc/operators/registration.h"

#include "pu/csrc/operators/call.h"
#include "pu/csrc/operators/factories.h"
#include "pu/csrc/operators/wrappers.h"

#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace torch_pu {
namespace {

using c10::DispatchKey;
using c10::OperatorHandle;

struct Side {
  DispatchKey pu;
  DispatchKey cuda;
  DispatchKey cpu;
};

constexpr Side kSides[] = {
    {DispatchKey::PrivateUse1, DispatchKey::CUDA, DispatchKey::CPU},
    {DispatchKey::SparsePrivateUse1,
     DispatchKey::SparseCUDA,
     DispatchKey::SparseCPU},
    {DispatchKey::SparseCsrPrivateUse1,
     DispatchKey::SparseCsrCUDA,
     DispatchKey::SparseCsrCPU},
    {DispatchKey::QuantizedPrivateUse1,
     DispatchKey::QuantizedCUDA,
     DispatchKey::QuantizedCPU},
    {DispatchKey::NestedTensorPrivateUse1,
     DispatchKey::NestedTensorCUDA,
     DispatchKey::NestedTensorCPU},
};

// CUDA's kernel of a view: it looks at sizes and strides only.
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
    call(op)(op, keys, stack);
  }

 private:
  Call& call(const OperatorHandle& op) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& call = calls_[op.operator_name()];
    if (!call) {
      call = std::make_unique<Call>(op, DispatchKey::CUDA);
    }
    return *call;
  }

  std::mutex mutex_;
  std::unordered_map<c10::OperatorName, std::unique_ptr<Call>> calls_;
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

// These ask the process group for pu's backend.
bool is_collective(c10::string_view space) {
  return space.find("c10d") != c10::string_view::npos || space == "_dtensor";
}

bool is_explicit_composite(const OperatorHandle& op) {
  return op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
      op.hasKernelForDispatchKey(
          DispatchKey::CompositeExplicitAutogradNonFunctional);
}

class Registrar {
 public:
  int run() {
    register_for_wrappers(library("aten", DispatchKey::AutogradOther));
    auto& own = library("aten", DispatchKey::PrivateUse1);
    register_own(own);
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
    return served_;
  }

 private:
  void serve(const OperatorHandle& op, const Side& side) {
    const bool dense = side.pu == DispatchKey::PrivateUse1;
    const bool on_cuda = op.hasKernelForDispatchKey(side.cuda);
    const bool composite = is_explicit_composite(op);
    // Not so below autograd: composites that it sees through.
    const bool on_cpu = op.hasKernelForDispatchKey(side.cpu) &&
        (op.hasKernelForDispatchKey(DispatchKey::Autograd) ||
         !op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd));
    if (op.hasKernelForDispatchKey(side.pu) ||
        !(on_cuda || on_cpu || (dense && composite))) {
      return;
    }
    const auto& name = op.operator_name();
    const auto space = name.getNamespace();
    if (!space || is_collective(*space)) {
      return;
    }
    if (!returns_view(op.schema())) {
      impl(*space, name, side.pu, std::make_unique<Call>(op, side.cuda));
      ++served_;
    } else if (on_cuda || (on_cpu && !(dense && composite))) {
      impl(*space, name, side.pu, std::make_unique<View>(side.cuda));
    }
  }

  template <class Kernel>
  void impl(
      c10::string_view space,
      const c10::OperatorName& name,
      DispatchKey key,
      std::unique_ptr<Kernel> kernel) {
    library(std::string(space), key)
        .impl(c10::toString(name).c_str(), boxed(std::move(kernel)));
  }

  // Never destroyed, as a registration ends with it.
  static torch::Library& library(const std::string& space, DispatchKey key) {
    static auto* libraries =
        new std::unordered_map<std::string, std::unique_ptr<torch::Library>>;
    auto& library = (*libraries)[space + c10::toString(key)];
    if (!library) {
      library = std::make_unique<torch::Library>(
          torch::Library::IMPL, space, key, __FILE__, __LINE__);
    }
    return *library;
  }

  int served_ = 0;
};

} // namespace

int register_operators() {
  return Registrar().run();
}

} // namespace torch_pu

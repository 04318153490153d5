// Casts of arguments, by policies that can change.
#include "pu/csrc/amp/autocast.h"

#include "pu/csrc/device/names.h"
#include "router/aliasing/arguments.h"
#include "router/aliasing/torch_versions.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch_pu {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::IValue;
using torch::jit::Stack;

bool is_eligible(const Tensor& tensor) {
  return at::autocast::is_eligible(tensor, kPu);
}

IValue cast(const IValue& value, c10::ScalarType type) {
  return torch_cuda::aliasing::map_tensors(value, [&](const Tensor& tensor) {
    return at::autocast::cached_cast(type, tensor, kPu);
  });
}

c10::ScalarType widest(const Stack& stack, size_t arguments) {
  auto type = at::autocast::get_autocast_dtype(kPu);
  for (size_t i = stack.size() - arguments; i < stack.size(); ++i) {
    if (stack[i].isTensor()) {
      type = at::autocast::prioritize(type, stack[i].toTensor(), kPu);
    } else if (stack[i].isTensorList()) {
      const auto tensors = stack[i].toTensorVector();
      type = at::autocast::prioritize(type, at::TensorList(tensors), kPu);
    }
  }
  return type;
}

class Casting final : public c10::OperatorKernel {
 public:
  explicit Casting(const std::atomic<CastPolicy>& policy) : policy_(policy) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet /*keys*/,
      Stack* stack) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(
        DispatchKey::AutocastPrivateUse1);
    const size_t arguments = op.schema().arguments().size();
    const auto cast_all = [&](c10::ScalarType type) {
      for (size_t i = stack->size() - arguments; i < stack->size(); ++i) {
        (*stack)[i] = cast((*stack)[i], type);
      }
    };
    switch (policy_.load(std::memory_order_relaxed)) {
      case CastPolicy::None:
        break;
      case CastPolicy::LowerPrecision:
        cast_all(at::autocast::get_autocast_dtype(kPu));
        break;
      case CastPolicy::Float32:
        cast_all(c10::kFloat);
        break;
      case CastPolicy::Promote:
        cast_all(widest(*stack, arguments));
        break;
      case CastPolicy::Float32OfDtype:
        set_dtype(op, *stack);
        break;
      case CastPolicy::Float32Appended:
        call_with_dtype(op, stack);
        return;
      case CastPolicy::Banned:
        TORCH_CHECK(
            false,
            op.schema().name(),
            " is unsafe to autocast. Many models use a sigmoid layer right "
            "before it: combine the two with "
            "torch.nn.functional.binary_cross_entropy_with_logits or "
            "torch.nn.BCEWithLogitsLoss, which are safe.");
    }
    op.callBoxed(stack);
  }

 private:
  static void set_dtype(const c10::OperatorHandle& op, Stack& stack) {
    const auto& arguments = op.schema().arguments();
    const size_t first = stack.size() - arguments.size();
    if (!stack[first].isTensor() || !is_eligible(stack[first].toTensor())) {
      return;
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].name() == "dtype" && stack[first + i].isNone()) {
        stack[first + i] = c10::kFloat;
      }
    }
  }

  // norm.Scalar calls norm.ScalarOpt_dtype; the others append to their names.
  static void call_with_dtype(const c10::OperatorHandle& op, Stack* stack) {
    const auto& name = op.operator_name();
    const auto& self =
        (*stack)[stack->size() - op.schema().arguments().size()].toTensor();
    const auto type = is_eligible(self) ? c10::kFloat : self.scalar_type();
    const auto with_dtype = c10::Dispatcher::singleton().findSchemaOrThrow(
        name.name.c_str(),
        ((name.overload_name == "Scalar" ? "ScalarOpt" : name.overload_name) +
         "_dtype")
            .c_str());
    torch::jit::push(*stack, type);
    with_dtype.callBoxed(stack);
  }

  const std::atomic<CastPolicy>& policy_;
};

// Policies by operators; never destroyed, as registrations end with it.
class Policies {
 public:
  static Policies& instance() {
    static auto* policies = new Policies;
    return *policies;
  }

  void set(const std::string& op, CastPolicy policy) {
    const auto dot = op.find('.');
    const auto overload =
        dot == std::string::npos ? std::string() : op.substr(dot + 1);
    const auto handle =
        c10::Dispatcher::singleton().findSchema({op.substr(0, dot), overload});
    TORCH_CHECK_VALUE(
        handle,
        "torch_pu: there is no operator ",
        op,
        ". Write it as its schema does, such as \"aten::mm\" or "
        "\"aten::pow.Scalar\".");
    TORCH_CHECK_VALUE(
        policy != CastPolicy::Float32Appended ||
            handle->schema().name() == "aten::norm",
        "torch_pu: only overloads of aten::norm have a policy that appends.");
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& held = policies_[handle->operator_name()];
    if (held) {
      *held = policy;
      return;
    }
    held = std::make_unique<std::atomic<CastPolicy>>(policy);
    registrations_.push_back(c10::Dispatcher::singleton().registerImpl(
        handle->operator_name(),
        DispatchKey::AutocastPrivateUse1,
        c10::KernelFunction::makeFromBoxedFunctor(
            std::make_unique<Casting>(*held)),
        std::nullopt,
        nullptr,
        "torch_pu autocast"));
  }

 private:
  std::mutex mutex_;
  std::
      unordered_map<c10::OperatorName, std::unique_ptr<std::atomic<CastPolicy>>>
          policies_;
  std::vector<c10::RegistrationHandleRAII> registrations_;
};

constexpr const char* kNorms[] = {
    "aten::norm.Scalar",
    "aten::norm.ScalarOpt_dim",
#if TORCH_CUDA_HAS_NAMED_TENSORS
    "aten::norm.names_ScalarOpt_dim",
#endif
};

// "pow, Scalar" of PyTorch's lists.
void set_listed(std::string op, CastPolicy policy) {
  const auto comma = op.find(", ");
  if (comma != std::string::npos) {
    op.replace(comma, 2, ".");
  }
  set_cast_policy("aten::" + op, policy);
}

} // namespace

void set_cast_policy(const std::string& op, CastPolicy policy) {
  Policies::instance().set(op, policy);
}

void register_cast_policies() {
#define LOWER_PRECISION(...) \
  set_listed(#__VA_ARGS__, CastPolicy::LowerPrecision);
#define FLOAT32(...) set_listed(#__VA_ARGS__, CastPolicy::Float32);
#define FLOAT32_OF_DTYPE(...) \
  set_listed(#__VA_ARGS__, CastPolicy::Float32OfDtype);
#define PROMOTE(...) set_listed(#__VA_ARGS__, CastPolicy::Promote);
  AT_FORALL_LOWER_PRECISION_FP(LOWER_PRECISION)
  AT_FORALL_FP32(FLOAT32)
  AT_FORALL_FP32_SET_OPT_DTYPE(FLOAT32_OF_DTYPE)
  AT_FORALL_PROMOTE(PROMOTE)
#undef LOWER_PRECISION
#undef FLOAT32
#undef FLOAT32_OF_DTYPE
#undef PROMOTE
  for (const char* norm : kNorms) {
    set_cast_policy(norm, CastPolicy::Float32Appended);
  }
  set_cast_policy("aten::binary_cross_entropy", CastPolicy::Banned);
  static auto* rest = new torch::Library(
      torch::Library::IMPL,
      "_",
      DispatchKey::AutocastPrivateUse1,
      __FILE__,
      __LINE__);
  rest->fallback(torch::CppFunction::makeFallthrough());
}

} // namespace torch_pu

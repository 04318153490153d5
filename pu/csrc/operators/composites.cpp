// Composites as a whole: autograd sees through to CUDA's nodes.
#include "pu/csrc/operators/composites.h"

#include "accelerator/aliasing/arguments.h"
#include "accelerator/aliasing/previous_kernel.h"
#include "pu/csrc/device/names.h"
#include "pu/csrc/operators/errors.h"
#include "pu/csrc/operators/other_name.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch_pu {
namespace {

using at::Tensor;
using c10::DispatchKey;
using c10::IValue;
using torch_cuda::aliasing::PreviousKernel;

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

// The tensors of one call: what is lent to CUDA is given back as what it was,
// and nobody else has it.
class Loan {
 public:
  static bool concerns(const IValue& value) {
    bool concerns = false;
    torch_cuda::aliasing::each_tensor(value, [&](const Tensor& tensor) {
      concerns = concerns || is_on(tensor, kPu);
    });
    return concerns;
  }

  // False for what can only be copied: within torch.func, with gradients of
  // forward mode.
  static bool takes(const IValue& value) {
    bool takes = true;
    torch_cuda::aliasing::each_tensor(value, [&](const Tensor& tensor) {
      takes = takes && (!is_on(tensor, kPu) || can_be_lent(tensor));
    });
    return takes;
  }

  IValue lent(IValue value) {
    return torch_cuda::aliasing::map_tensors(
        std::move(value), [this](const Tensor& tensor) {
          if (!is_on(tensor, kPu)) {
            return tensor;
          }
          for (const auto& [pu, cuda] : pairs_) {
            if (tensor.is_same(pu)) {
              return cuda;
            }
          }
          pairs_.emplace_back(tensor, lend(tensor));
          return pairs_.back().second;
        });
  }

  IValue given_back(IValue value) const {
    return torch_cuda::aliasing::map_tensors(
        std::move(value),
        [this](const Tensor& tensor) { return given_back(tensor); });
  }

 private:
  static bool is_on(const Tensor& tensor, c10::DeviceType type) {
    return tensor.defined() && tensor.device().type() == type;
  }

  Tensor given_back(const Tensor& tensor) const {
    if (!is_on(tensor, kCuda)) {
      return tensor;
    }
    for (const auto& [pu, cuda] : pairs_) {
      if (tensor.is_same(cuda)) {
        return pu;
      }
    }
    for (const auto& [pu, cuda] : pairs_) {
      // A view of an argument, of which autograd would not know on pu.
      if (can_be_lent(tensor) && can_be_lent(cuda) &&
          tensor.is_alias_of(cuda)) {
        return tensor.to(to_pu(tensor.device()));
      }
    }
    return lend(tensor);
  }

  std::vector<std::pair<Tensor, Tensor>> pairs_;
};

class Whole final : public c10::OperatorKernel {
 public:
  Whole(const PreviousKernel& composite, bool in_parts)
      : composite_(composite), in_parts_(in_parts) {}

  void operator()(
      const c10::OperatorHandle& op,
      c10::DispatchKeySet keys,
      torch::jit::Stack* stack) {
    const size_t arguments = op.schema().arguments().size();
    const size_t results = op.schema().returns().size();
    const auto first = stack->end() - static_cast<std::ptrdiff_t>(arguments);
    if (!op.hasKernelForDispatchKey(DispatchKey::AutogradCUDA) ||
        std::none_of(first, stack->end(), Loan::concerns) ||
        (in_parts_ && !std::all_of(first, stack->end(), Loan::takes))) {
      composite_(op, keys, stack);
      return;
    }
    Loan loan;
    for (size_t i = stack->size() - arguments; i < stack->size(); ++i) {
      (*stack)[i] = loan.lent(std::move((*stack)[i]));
    }
    try {
      const CastAlike alike;
      op.callBoxed(stack);
    } catch (const c10::Error&) {
      rethrow_in_words_of_pu();
    }
    for (size_t i = stack->size() - results; i < stack->size(); ++i) {
      (*stack)[i] = loan.given_back(std::move((*stack)[i]));
    }
  }

 private:
  PreviousKernel composite_;
  bool in_parts_;
};

} // namespace

void register_composites(torch::Library& pu, torch::Library& wrappers) {
  struct Composite {
    const char* name;
    const char* overload;
    // Whether what it is made of can be had in such a process. The fused cells
    // of lstm and gru cannot: the CPU has no kernel of them.
    bool in_parts;
  };
  constexpr Composite kComposites[] = {
      {"lstm", "input", false},
      {"lstm", "data", false},
      {"gru", "input", false},
      {"gru", "data", false},
      {"rnn_tanh", "input", true},
      {"rnn_tanh", "data", true},
      {"rnn_relu", "input", true},
      {"rnn_relu", "data", true},
      {"lstm_cell", "", false},
      {"gru_cell", "", false},
      {"scaled_dot_product_attention", "", true},
      {"dropout", "", true},
  };
  for (const auto& [name, overload, in_parts] : kComposites) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
        (std::string("aten::") + name).c_str(), overload);
    const auto full_name = c10::toString(op.operator_name());
    const PreviousKernel composite(op, DispatchKey::AutogradPrivateUse1);
    const auto kernel = [&, in_parts = in_parts] {
      return torch::CppFunction::makeFromBoxedFunctor(
          std::make_unique<Whole>(composite, in_parts));
    };
    pu.impl(full_name.c_str(), kernel());
    if (!in_parts) {
      wrappers.impl(full_name.c_str(), kernel());
    }
  }
}

} // namespace torch_pu

// One call of an operator: arguments across, the far device's kernel, results
// back.
#pragma once

#include "router/aliasing/aliases.h"
#include "router/aliasing/arguments.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace torch_cuda::aliasing {

/// The near device of a call's tensors, and one that has no business there.
struct Devices {
  c10::DeviceType near;
  std::optional<c10::Device> common;
  std::optional<c10::Device> foreign;
  /// Whether there are tensors of other near devices that PyTorch moves.
  bool has_to_move = false;

  /// Looks at a tensor of an argument. Single numbers that are only read may be
  /// elsewhere. `one_by_one` says that the kernel can go through lists tensor
  /// by tensor: what of them is elsewhere has to be known, whichever it is.
  void see(
      const at::Tensor& tensor,
      const Argument& argument,
      bool one_by_one = false) {
    const auto its = tensor.device();
    const bool anywhere = argument.place == Place::Anywhere && !one_by_one;
    if (its.type() != near) {
      const bool is_number = tensor.dim() == 0 && !argument.written &&
          !(one_by_one && argument.kind == Kind::TensorList);
      const bool may = anywhere || argument.place == Place::DeviceOrHost ||
          argument.place == Place::Moved;
      if (!may && !is_number && !foreign) {
        foreign = its;
      }
    } else if (!common) {
      common = its;
    } else if (*common != its && !anywhere) {
      if (argument.place == Place::Moved ||
          (argument.place == Place::NumberMoved && tensor.dim() == 0)) {
        has_to_move = true;
      } else {
        foreign = its;
      }
    }
  }
};

/// Whether the CPU's kernel of an operator calls another one for each tensor,
/// which may be wherever it is: a call with foreign tensors goes to that kernel
/// as it is.
bool is_one_by_one(const c10::OperatorName& name);

/// Throws PyTorch's error for tensors that are not on one device.
/// @param advice what follows the error's sentence.
[[noreturn]] void refuse_devices(
    const c10::OperatorHandle& op,
    c10::Device expected,
    c10::Device found,
    const char* advice = "");

/// What there is to know of an operator's schema before a call.
class Crossing {
 public:
  explicit Crossing(const c10::FunctionSchema& schema);

  /// The arguments that have to be looked at.
  const std::vector<Argument>& crossing() const {
    return crossing_;
  }

  /// All arguments of a call.
  c10::ArrayRef<c10::IValue> arguments(const torch::jit::Stack& stack) const {
    return torch::jit::last(stack, arguments_);
  }

  uint32_t count() const {
    return arguments_;
  }

  uint32_t results() const {
    return results_;
  }

  /// Whether the operator writes to an argument.
  bool writes() const {
    return writes_;
  }

  /// Takes the arguments from the stack and puts the results on it. What the
  /// kernel did to tensors that it writes to is taken over. Results are the
  /// near device's, except where the call asks for another device.
  /// @param call has what differs from backend to backend:
  ///   c10::Device device(c10::Device near): the far device of one asked for;
  ///   c10::IValue generator(c10::IValue value), once the tensors are across:
  ///     the far generator of a generator or None;
  ///   c10::Stream stream(c10::Stream near): the far stream;
  ///   void kernel(torch::jit::Stack* stack, bool elsewhere): calls the far
  ///     kernel; whether results are asked for on a device that is not near.
  template <class Call>
  void run(Aliases& aliases, torch::jit::Stack* stack, Call& call) const {
    bool elsewhere = false;
    c10::IValue* generator = nullptr;
    const size_t first = stack->size() - arguments_;
    for (const auto& argument : crossing_) {
      c10::IValue& value = (*stack)[first + argument.index];
      if (argument.kind == Kind::Generator) {
        generator = &value;
        continue;
      }
      if (value.isNone()) {
        continue;
      }
      switch (argument.kind) {
        case Kind::Tensor:
          value = aliases.far(value.toTensor(), argument.written);
          break;
        case Kind::TensorList:
          value = map_tensors(std::move(value), [&](const at::Tensor& tensor) {
            return aliases.far(tensor, argument.written);
          });
          break;
        case Kind::Storage:
          value = aliases.far(value.toStorage(), argument.written);
          break;
        case Kind::Device:
          elsewhere = value.toDevice().type() != aliases.near();
          if (!elsewhere) {
            value = call.device(value.toDevice());
          }
          break;
        case Kind::Stream:
          value = call.stream(value.toStream());
          break;
        case Kind::Generator:
          break;
      }
    }
    if (generator != nullptr) {
      *generator = call.generator(std::move(*generator));
    }
    call.kernel(stack, elsewhere);
    if (writes_) {
      aliases.take_over();
    }
    if (elsewhere) {
      return;
    }
    for (size_t i = stack->size() - results_; i < stack->size(); ++i) {
      (*stack)[i] = map_tensors(std::move((*stack)[i]), [&](at::Tensor tensor) {
        return aliases.near(std::move(tensor));
      });
    }
  }

 private:
  std::vector<Argument> crossing_;
  uint32_t arguments_;
  uint32_t results_;
  bool writes_;
};

} // namespace torch_cuda::aliasing

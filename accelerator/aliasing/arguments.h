// The arguments of an operator that have to do with devices, by its schema.
#pragma once

#include "accelerator/aliasing/aliases.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <vector>

namespace torch_cuda::aliasing {

/// What an argument is, if it does not cross as it is.
enum class Kind : uint8_t {
  Tensor, // or an optional one
  TensorList, // of tensors or optional tensors
  Device,
  Generator,
  Storage,
  Stream,
};

/// An argument that has to be looked at.
struct Argument {
  uint32_t index;
  Kind kind;
  bool written;
};

/// The arguments of an operator that have to be looked at, in their order.
std::vector<Argument> crossing_arguments(const c10::FunctionSchema& schema);

/// A list of tensors or of optional tensors as one of their aliases.
c10::IValue list_across(
    const c10::IValue& value,
    bool written,
    Aliases& aliases);

/// A result of the kernel as the near device's.
c10::IValue result_back(c10::IValue&& value, Aliases& aliases);

/// Visits the tensors of an argument.
template <class Visit>
void each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const auto& tensor : value.toTensorList()) {
      visit(static_cast<const at::Tensor&>(
          static_cast<const c10::IValue&>(tensor.get()).toTensor()));
    }
  } else if (value.isOptionalTensorList()) {
    for (const auto& tensor : value.toOptionalTensorVector()) {
      if (tensor) {
        visit(*tensor);
      }
    }
  }
}

} // namespace torch_cuda::aliasing

// Reading schemas, and lists of tensors across.
#include "accelerator/aliasing/arguments.h"

#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <optional>
#include <utility>

namespace torch_cuda::aliasing {
namespace {

using at::Tensor;
using c10::IValue;

std::optional<Kind> kind_of(c10::TypePtr type) {
  if (auto optional = type->cast<c10::OptionalType>()) {
    type = optional->getElementType();
  }
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return Kind::Tensor;
    case c10::TypeKind::ListType:
      return type->containedType(0)->isSubtypeOf(*c10::OptionalType::ofTensor())
          ? std::optional(Kind::TensorList)
          : std::nullopt;
    case c10::TypeKind::DeviceObjType:
      return Kind::Device;
    case c10::TypeKind::GeneratorType:
      return Kind::Generator;
    case c10::TypeKind::StorageType:
      return Kind::Storage;
    case c10::TypeKind::StreamObjType:
      return Kind::Stream;
    default:
      return std::nullopt;
  }
}

} // namespace

std::vector<Argument> crossing_arguments(const c10::FunctionSchema& schema) {
  std::vector<Argument> crossing;
  const auto& arguments = schema.arguments();
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    if (const auto kind = kind_of(arguments[i].real_type())) {
      const auto* alias = arguments[i].alias_info();
      crossing.push_back({i, *kind, alias != nullptr && alias->isWrite()});
    }
  }
  return crossing;
}

IValue list_across(const IValue& value, bool written, Aliases& aliases) {
  if (value.isTensorList()) {
    c10::List<Tensor> list;
    const auto tensors = value.toTensorVector();
    list.reserve(tensors.size());
    for (const auto& tensor : tensors) {
      list.push_back(aliases.far(tensor, written));
    }
    return list;
  }
  c10::List<std::optional<Tensor>> list;
  const auto tensors = value.toOptionalTensorVector();
  list.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    list.push_back(
        tensor ? std::optional<Tensor>(aliases.far(*tensor, written))
               : std::nullopt);
  }
  return list;
}

IValue result_back(IValue&& value, Aliases& aliases) {
  if (value.isTensor()) {
    return aliases.near(std::move(value).toTensor());
  }
  if (value.isTensorList()) {
    auto tensors = value.toTensorVector();
    value = IValue(); // it holds the tensors too
    c10::List<Tensor> list;
    list.reserve(tensors.size());
    for (auto& tensor : tensors) {
      list.push_back(aliases.near(std::move(tensor)));
    }
    return list;
  }
  return std::move(value);
}

} // namespace torch_cuda::aliasing

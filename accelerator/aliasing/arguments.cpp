// Reading schemas.
#include "accelerator/aliasing/arguments.h"

#include <ATen/core/jit_type.h>

#include <optional>

namespace torch_cuda::aliasing {
namespace {

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

bool is_optional_tensor_list(const c10::IValue& value) {
  if (!value.isList() || value.isTensorList()) {
    return false;
  }
  const auto type = value.toList().elementType();
  return type->kind() == c10::TypeKind::OptionalType &&
      type->isSubtypeOf(*c10::OptionalType::ofTensor());
}

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

} // namespace torch_cuda::aliasing

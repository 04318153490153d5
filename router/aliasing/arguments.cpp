// Reading schemas, and what no schema says.
#include "router/aliasing/arguments.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

// Kernels look at their arguments only once all of them are of one device, so
// that they cannot tell.
Place place_of(std::string_view op, std::string_view argument) {
  // All overloads, all tensors.
  static constexpr std::string_view copies[] = {
      "aten::_copy_from",
      "aten::_copy_from_and_resize",
      "aten::_foreach_copy",
      "aten::_foreach_copy_",
      "aten::_to_copy",
      "aten::copy",
      "aten::copy_",
      "aten::is_set_to",
  };
  if (std::find(
          std::begin(copies), std::end(copies), op.substr(0, op.find('.'))) !=
      std::end(copies)) {
    return Place::Anywhere;
  }
  struct Exception {
    std::string_view op;
    std::string_view argument;
    Place place;
  };
  static constexpr Exception exceptions[] = {
      {"aten::index.Tensor", "indices", Place::DeviceOrHost},
      {"aten::index.Tensor_out", "indices", Place::DeviceOrHost},
      {"aten::_unsafe_index.Tensor", "indices", Place::DeviceOrHost},
      {"aten::index_put", "indices", Place::Moved},
      {"aten::index_put_", "indices", Place::Moved},
      {"aten::_unsafe_index_put", "indices", Place::Moved},
      {"aten::_index_put_impl_", "indices", Place::Moved},
      {"aten::index_put", "values", Place::NumberMoved},
      {"aten::index_put_", "values", Place::NumberMoved},
      {"aten::_unsafe_index_put", "values", Place::NumberMoved},
      {"aten::_index_put_impl_", "values", Place::NumberMoved},
      {"aten::bernoulli_.Tensor", "p", Place::Moved},
      {"aten::where.self", "self", Place::NumberMoved},
      {"aten::where.self", "other", Place::NumberMoved},
      {"aten::where.self_out", "self", Place::NumberMoved},
      {"aten::where.self_out", "other", Place::NumberMoved},
      {"aten::fill.Tensor", "value", Place::NumberMoved},
      {"aten::fill_.Tensor", "value", Place::NumberMoved},
      {"aten::masked_fill.Tensor", "value", Place::NumberMoved},
      {"aten::masked_fill_.Tensor", "value", Place::NumberMoved},
      {"aten::index_fill.int_Tensor", "value", Place::NumberMoved},
      {"aten::index_fill_.int_Tensor", "value", Place::NumberMoved},
      {"aten::_pack_padded_sequence", "lengths", Place::DeviceOrHost},
      {"aten::_nested_from_padded",
       "cpu_nested_shape_example",
       Place::DeviceOrHost},
      {"aten::_nested_view_from_buffer", "nested_size", Place::DeviceOrHost},
      {"aten::_nested_view_from_buffer", "nested_strides", Place::DeviceOrHost},
      {"aten::_nested_view_from_buffer", "offsets", Place::DeviceOrHost},
  };
  for (const auto& exception : exceptions) {
    if (op == exception.op && argument == exception.argument) {
      return exception.place;
    }
  }
  return Place::Device;
}

bool is_written_in_silence(std::string_view op, std::string_view argument) {
  using Argument = std::pair<std::string_view, std::string_view>;
  static constexpr Argument silent[] = {
      {"aten::mkldnn_rnn_layer_backward", "workspace"},
      {"aten::native_batch_norm", "running_mean"},
      {"aten::native_batch_norm", "running_var"},
      {"aten::native_batch_norm.out", "running_mean"},
      {"aten::native_batch_norm.out", "running_var"},
      {"aten::batch_norm_update_stats", "running_mean"},
      {"aten::batch_norm_update_stats", "running_var"},
      {"aten::batch_norm_update_stats.out", "running_mean"},
      {"aten::batch_norm_update_stats.out", "running_var"},
  };
  return std::any_of(
      std::begin(silent), std::end(silent), [&](const Argument& known) {
        return known.first == op && known.second == argument;
      });
}

} // namespace

bool is_written(const c10::FunctionSchema& schema, const c10::Argument& which) {
  const auto* alias = which.alias_info();
  return (alias != nullptr && alias->isWrite()) ||
      is_written_in_silence(
             c10::toString(schema.operator_name()), which.name());
}

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
  const std::string name = c10::toString(schema.operator_name());
  const auto& arguments = schema.arguments();
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    if (const auto kind = kind_of(arguments[i].real_type())) {
      crossing.push_back(
          {i,
           *kind,
           place_of(name, arguments[i].name()),
           is_written(schema, arguments[i])});
    }
  }
  return crossing;
}

} // namespace torch_cuda::aliasing

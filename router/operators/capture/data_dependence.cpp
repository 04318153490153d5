// PyTorch's tags, and what they do not say.
#include "router/operators/capture/data_dependence.h"

#include "router/aliasing/arguments.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/enum_tag.h>

#include <string>
#include <string_view>
#include <unordered_set>

namespace torch_cuda::operators {
namespace {

using Names = std::unordered_set<std::string_view>;

bool is_tensors(const c10::Type& type) {
  return type.isSubtypeOf(*c10::OptionalType::ofTensor()) ||
      (type.kind() == c10::TypeKind::ListType &&
       is_tensors(*type.containedType(0)));
}

bool returns_tensors_only(const c10::FunctionSchema& schema) {
  for (const auto& result : schema.returns()) {
    if (!is_tensors(*result.type())) {
      return false;
    }
  }
  return true;
}

// Flags choose as many elements as there are of them.
bool has_flags(c10::ArrayRef<c10::IValue> arguments) {
  bool found = false;
  for (const auto& argument : arguments) {
    if (aliasing::is_optional_tensor_list(argument)) {
      aliasing::each_tensor(argument, [&](const at::Tensor& index) {
        found = found ||
            (index.defined() &&
             (index.scalar_type() == c10::kBool ||
              index.scalar_type() == c10::kByte));
      });
    }
  }
  return found;
}

bool has_indices_of_host(c10::ArrayRef<c10::IValue> arguments) {
  bool found = false;
  for (const auto& argument : arguments) {
    if (aliasing::is_optional_tensor_list(argument)) {
      aliasing::each_tensor(argument, [&](const at::Tensor& index) {
        found = found || (index.defined() && index.is_cpu());
      });
    }
  }
  return found;
}

bool is_one_number(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().numel() == 1;
}

} // namespace

bool depends_on_data(
    const c10::OperatorHandle& op,
    c10::ArrayRef<c10::IValue> arguments) {
  static const Names of_geometry = {
      "aten::_fused_sdp_choice", // an answer about shapes
      "aten::_ctc_loss", // lengths are numbers
  };
  static const Names indexing = {
      "aten::index.Tensor",
      "aten::index.Tensor_out",
      "aten::_unsafe_index.Tensor",
  };
  static const Names untagged = {
      "aten::_unique",
      "aten::_unique.out",
      "aten::unique_dim.out",
      "aten::unique_consecutive.out",
      "aten::unique_dim_consecutive.out",
      "aten::_unique2.out",
      "aten::bincount.out",
  };
  const std::string name = c10::toString(op.operator_name());
  if (of_geometry.count(name) != 0) {
    return false;
  }
  if (indexing.count(name) != 0) {
    return has_flags(arguments);
  }
  if (name == "aten::_index_put_impl_") {
    return has_flags(arguments) && !is_one_number(arguments[2]);
  }
  return op.hasTag(at::Tag::dynamic_output_shape) ||
      op.hasTag(at::Tag::data_dependent_output) || untagged.count(name) != 0 ||
      !returns_tensors_only(op.schema());
}

bool synchronizes(
    const c10::OperatorHandle& op,
    c10::ArrayRef<c10::IValue> arguments) {
  if (has_indices_of_host(arguments)) {
    return true; // they are copied to the device
  }
  const std::string name = c10::toString(op.operator_name());
  if (name == "aten::_index_put_impl_") {
    // CUDA fills where the flags say only with a number of the host.
    return has_flags(arguments) &&
        !(is_one_number(arguments[2]) && arguments[2].toTensor().is_cpu());
  }
  if (name == "aten::repeat_interleave.Tensor" && !arguments[1].isNone()) {
    return false; // the program says how many
  }
  return depends_on_data(op, arguments);
}

bool draws_by_data(const c10::OperatorName& name) {
  static const Names names = {
      "aten::poisson",
      "aten::binomial",
      "aten::_standard_gamma",
      "aten::_sample_dirichlet",
      "aten::rrelu_with_noise",
      "aten::rrelu_with_noise_",
      "aten::rrelu_with_noise.out",
  };
  return names.count(c10::toString(name)) != 0;
}

} // namespace torch_cuda::operators

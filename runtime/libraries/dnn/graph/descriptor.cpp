#include "runtime/libraries/dnn/graph/descriptor.h"

#include <algorithm>

namespace accelerator::dnn {

double State::number(cudnnBackendAttributeName_t name, double otherwise) const {
  const Value* value = find(name);
  if (value == nullptr) {
    return otherwise;
  }
  return value->type == CUDNN_TYPE_FLOAT ? static_cast<double>(get<float>(name))
                                         : get<double>(name);
}

Dims State::integers(cudnnBackendAttributeName_t name) const {
  const Value* value = find(name);
  if (value == nullptr) {
    return {};
  }
  Dims result(static_cast<std::size_t>(value->count));
  if (value->type == CUDNN_TYPE_FRACTION) {
    std::vector<cudnnFraction_t> fractions(result.size());
    std::memcpy(fractions.data(), value->bytes.data(), value->bytes.size());
    std::transform(
        fractions.begin(),
        fractions.end(),
        result.begin(),
        [](const cudnnFraction_t& fraction) {
          require_supported(
              fraction.denominator != 0 &&
                  fraction.numerator % fraction.denominator == 0,
              "fractions of elements are not supported");
          return fraction.numerator / fraction.denominator;
        });
    return result;
  }
  std::memcpy(
      result.data(), value->bytes.data(), result.size() * sizeof(result[0]));
  return result;
}

std::string State::text(cudnnBackendAttributeName_t name) const {
  const Value* value = find(name);
  return value == nullptr
      ? std::string()
      : std::string(value->bytes.begin(), value->bytes.end());
}

const State& State::child(
    cudnnBackendAttributeName_t name,
    cudnnBackendDescriptorType_t kind) const {
  const Value* value = find(name);
  require_valid(
      value != nullptr && value->children.size() == 1,
      "a descriptor that is needed is not set");
  require(
      value->children[0]->kind == kind,
      CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE,
      "a descriptor is of another kind than is needed");
  return *value->children[0];
}

Tensor tensor_of(const State& state) {
  Tensor tensor;
  tensor.uid = state.get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  tensor.layout.type =
      state.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
  tensor.layout.dims = state.integers(CUDNN_ATTR_TENSOR_DIMENSIONS);
  tensor.layout.strides = state.integers(CUDNN_ATTR_TENSOR_STRIDES);
  tensor.alignment =
      state.get<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1);
  tensor.is_virtual = state.flag(CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  tensor.is_by_value = state.flag(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  if (const Value* constant = state.find(CUDNN_ATTR_TENSOR_CONSTANT_VALUE)) {
    tensor.constant = constant->bytes;
    tensor.constant.resize(tensor.layout.bytes());
  }
  if (const Value* ragged = state.find(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC);
      ragged != nullptr && !ragged->children.empty()) {
    tensor.ragged =
        ragged->children[0]->get<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
    tensor.ragged_multiplier =
        state.get<std::int64_t>(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER, 1);
  }
  return tensor;
}

} // namespace accelerator::dnn

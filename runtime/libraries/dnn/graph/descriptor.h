// What a cudnnBackendDescriptor_t stands for.
// Source: cuDNN graph API, cudnnBackendSetAttribute() and its like.
#pragma once

#include <cudnn.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/libraries/dnn/array.h"
#include "runtime/libraries/dnn/status.h"

namespace accelerator::dnn {

class Program;
struct State;

/// What a program set for one attribute.
struct Value {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  std::int64_t count = 0;
  std::vector<unsigned char> bytes; // of all but descriptors
  std::vector<std::shared_ptr<const State>> children; // finalized
};

/// A descriptor's attributes. Nothing changes once it is finalized, so that
/// descriptors share it which are made of one another.
struct State {
  cudnnBackendDescriptorType_t kind = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, Value> values;
  /// Of an operation graph: how it is computed. Null where it is not supported;
  /// `reason` says why then.
  std::shared_ptr<const Program> program;
  std::string reason;

  bool has(cudnnBackendAttributeName_t name) const {
    return values.count(name) != 0;
  }
  /// Null where it is not set.
  const Value* find(cudnnBackendAttributeName_t name) const {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  }
  /// One element of an enumeration or an integer.
  template <typename T>
  T get(cudnnBackendAttributeName_t name, T otherwise = {}) const {
    const Value* value = find(name);
    if (value != nullptr && value->bytes.size() >= sizeof(T)) {
      std::memcpy(&otherwise, value->bytes.data(), sizeof(T));
    }
    return otherwise;
  }
  /// A float or a double.
  double number(cudnnBackendAttributeName_t name, double otherwise) const;
  bool flag(cudnnBackendAttributeName_t name) const {
    return get<char>(name) != 0;
  }
  Dims integers(cudnnBackendAttributeName_t name) const;
  std::string text(cudnnBackendAttributeName_t name) const;
  /// A descriptor that is set.
  /// @throws Refusal: it is of another kind, or there is none.
  const State& child(
      cudnnBackendAttributeName_t name,
      cudnnBackendDescriptorType_t kind) const;
};

/// The object behind the handle.
struct Descriptor {
  std::shared_ptr<State> state;
};

/// A tensor of an operation graph.
struct Tensor {
  std::int64_t uid = 0;
  Layout layout;
  std::int64_t alignment = 1;
  bool is_virtual = false; // there is no memory for it
  bool is_by_value = false; // the pointer is the host's
  std::vector<unsigned char> constant; // its value, if that never changes
  /// The tensor with the first element of each batch; -1: there is none.
  std::int64_t ragged = -1;
  std::int64_t ragged_multiplier = 1;
};

Tensor tensor_of(const State& state);

/// Checks a descriptor that is about to be finalized, and completes it.
/// @throws Refusal: it cannot be.
void finalize(State& state);

/// What a finalized descriptor answers for an attribute that is not set but
/// computed, or has a default; none where nothing is known.
std::optional<Value> computed_value(
    const std::shared_ptr<const State>& state,
    cudnnBackendAttributeName_t name);

/// Values of one element and of several.
template <typename T>
Value value_of(
    cudnnBackendAttributeType_t type,
    const std::vector<T>& elements) {
  Value value;
  value.type = type;
  value.count = static_cast<std::int64_t>(elements.size());
  value.bytes.resize(elements.size() * sizeof(T));
  if (!elements.empty()) {
    std::memcpy(value.bytes.data(), elements.data(), value.bytes.size());
  }
  return value;
}

} // namespace accelerator::dnn

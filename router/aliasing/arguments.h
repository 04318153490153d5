// The arguments of an operator that have to do with devices, by its schema.
#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <utility>
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

/// Where PyTorch lets an argument's tensors be.
enum class Place : uint8_t {
  Device, // the other arguments'; single numbers may be on the host
  DeviceOrHost,
  NumberMoved, // as Device; single numbers may be on any device
  Moved, // anywhere, and PyTorch moves it to the other arguments' device
  Anywhere,
};

/// An argument that has to be looked at.
struct Argument {
  uint32_t index;
  Kind kind;
  Place place;
  bool written;
};

/// The arguments of an operator that have to be looked at, in their order.
std::vector<Argument> crossing_arguments(const c10::FunctionSchema& schema);

/// Whether an operator writes to an argument. Kernels write to some although
/// their schemas do not say so:
/// router/operators/tests/exhaustive/watched_writes_test.py watches what
/// they do.
bool is_written(const c10::FunctionSchema& schema, const c10::Argument& which);

/// Whether a value is a list of optional tensors, whoever made it:
/// TorchScript's lists have types of their own, which
/// IValue::isOptionalTensorList does not know.
bool is_optional_tensor_list(const c10::IValue& value);

/// Visits the tensors of an argument: itself, or the elements of a list.
template <class Visit>
void each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const auto& tensor : value.toTensorList()) {
      visit(static_cast<const at::Tensor&>(
          static_cast<const c10::IValue&>(tensor.get()).toTensor()));
    }
  } else if (is_optional_tensor_list(value)) {
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor()) {
        visit(element.toTensor());
      }
    }
  }
}

/// The argument with other tensors in it. What is given as a value is given
/// up: `map` gets its tensors as the only references where they were that.
template <class Map>
c10::IValue map_tensors(c10::IValue value, const Map& map) {
  if (value.isTensor()) {
    return map(std::move(value).toTensor());
  }
  if (value.isTensorList()) {
    auto tensors = value.toTensorVector();
    value = c10::IValue(); // it holds the tensors too
    c10::List<at::Tensor> list;
    list.reserve(tensors.size());
    for (auto& tensor : tensors) {
      list.push_back(map(std::move(tensor)));
    }
    return list;
  }
  if (is_optional_tensor_list(value)) {
    c10::List<std::optional<at::Tensor>> list;
    const auto elements = value.toListRef();
    list.reserve(elements.size());
    for (const c10::IValue& element : elements) {
      list.push_back(
          element.isTensor()
              ? std::optional<at::Tensor>(map(element.toTensor()))
              : std::nullopt);
    }
    return list;
  }
  return value;
}

} // namespace torch_cuda::aliasing

// Operators in CUDA graphs: recorded when they are called, done at each replay.
#pragma once

#include "router/operators/capture/captured_generator.h"

#include <ATen/core/stack.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch_cuda::operators {

/// What the host does for an operator.
struct HostFunction {
  /// For messages.
  std::string name;
  /// Takes arguments from the stack, where tensors are the host's, and puts the
  /// results on it. Is called on placeholders first, and at each replay on a
  /// thread of the device.
  std::function<void(torch::jit::Stack*)> run;
  size_t results = 0;
  /// Arguments that it writes to.
  std::vector<uint32_t> written;
  /// The argument that is the generator, and what is behind it.
  std::optional<uint32_t> generator;
  std::shared_ptr<CapturedGenerator> numbers;
  /// How many numbers it draws depends on what the tensors hold.
  bool draws_by_data = false;
};

/// Records a function in the graph that the current stream of a device is
/// captured into. The stack has the function's arguments, tensors of the
/// device among them, and gets the results, tensors of the device with nothing
/// in them. Tensors of the host and all other arguments are those of now.
///
/// Throws what the function throws on placeholders, errors of captures
/// (router/operators/tensors/order.h) where a result is of a sparse
/// layout, and CUDA's own.
void record(
    HostFunction function,
    c10::Device device,
    torch::jit::Stack* stack);

} // namespace torch_cuda::operators

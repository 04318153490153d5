// What a schema says of a call, and who is refused.
#include "router/aliasing/crossing.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <string_view>

namespace torch_cuda::aliasing {

bool is_one_by_one(const c10::OperatorName& name) {
  constexpr std::string_view prefix = "aten::_foreach_";
  return name.name.compare(0, prefix.size(), prefix) == 0;
}

void refuse_devices(
    const c10::OperatorHandle& op,
    c10::Device expected,
    c10::Device found,
    const char* advice) {
  TORCH_CHECK(
      false,
      "Expected all tensors to be on the same device, but found at least two "
      "devices, ",
      expected,
      " and ",
      found,
      "! (in operator ",
      op.operator_name(),
      ")",
      advice);
}

Crossing::Crossing(const c10::FunctionSchema& schema)
    : crossing_(crossing_arguments(schema)),
      arguments_(schema.arguments().size()),
      results_(schema.returns().size()),
      writes_(std::any_of(
          crossing_.begin(),
          crossing_.end(),
          [](const Argument& argument) { return argument.written; })) {}

} // namespace torch_cuda::aliasing

// Tags, and what they do not say.
#include "accelerator/operators/calls/writes.h"

#include "accelerator/operators/calls/lists.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <string_view>

namespace torch_cuda::operators {
namespace {

bool starts_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

} // namespace

// Not what is given as out: some kernels write between its elements.
bool writes_all(const c10::OperatorHandle& op) {
  // Elementwise ones without the tag.
  static constexpr std::string_view untagged[] = {
      "aten::elu_",
      "aten::fill_",
      "aten::hardtanh_",
      "aten::leaky_relu_",
      "aten::threshold_",
      "aten::zero_",
  };
  const std::string_view name = op.operator_name().name;
  return is_copy(op.operator_name()) || starts_with(name, "aten::_foreach_") ||
      std::find(std::begin(untagged), std::end(untagged), name) !=
      std::end(untagged) ||
      op.hasTag(at::Tag::pointwise) ||
      op.hasTag(at::Tag::nondeterministic_seeded);
}

} // namespace torch_cuda::operators

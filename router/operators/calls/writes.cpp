// Tags, and what they do not say.
#include "router/operators/calls/writes.h"

#include "router/operators/calls/lists.h"
#include "router/operators/calls/name_pattern.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace torch_cuda::operators {

// Not what is given as out: some kernels write between its elements.
bool writes_all(const c10::OperatorHandle& op) {
  // Elementwise ones without the tag.
  static constexpr std::string_view untagged[] = {
      "aten::_foreach_*",
      "aten::elu_",
      "aten::fill_",
      "aten::hardtanh_",
      "aten::leaky_relu_",
      "aten::threshold_",
      "aten::zero_",
  };
  const std::string_view name = op.operator_name().name;
  const bool is_untagged = std::any_of(
      std::begin(untagged), std::end(untagged), [&](std::string_view known) {
        return is_named(known, name);
      });
  return is_copy(op.operator_name()) || is_untagged ||
      op.hasTag(at::Tag::pointwise) ||
      op.hasTag(at::Tag::nondeterministic_seeded);
}

} // namespace torch_cuda::operators

// Tags, and what no schema says.
#include "accelerator/operators/calls/writes.h"

#include "accelerator/operators/calls/lists.h"

#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <utility>

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
  const auto tags = op.getTags();
  const std::string_view name = op.operator_name().name;
  return is_copy(op.operator_name()) || starts_with(name, "aten::_foreach_") ||
      std::find(std::begin(untagged), std::end(untagged), name) !=
      std::end(untagged) ||
      std::any_of(tags.begin(), tags.end(), [](at::Tag tag) {
           return tag == at::Tag::pointwise ||
               tag == at::Tag::nondeterministic_seeded;
         });
}

bool writes_in_silence(std::string_view op, std::string_view argument) {
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

} // namespace torch_cuda::operators

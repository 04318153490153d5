// What CUDA's kernels say, by operator and by arguments. The names are
// upstream's: //tests/stock:deterministic_2.15_test holds them against
// PyTorch's own kernels, which speak before they launch anything.
#include "router/operators/calls/nondeterminism.h"

#include "router/aliasing/torch_versions.h"
#include "router/operators/calls/name_pattern.h"

#include <ATen/Context.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace torch_cuda::operators {
namespace {

using torch::jit::Stack;

thread_local bool alerts_are_off = false;

// An argument by its name.
const c10::IValue& argument_of(
    const c10::FunctionSchema& schema,
    const Stack& stack,
    std::string_view name) {
  const auto& all = schema.arguments();
  const auto one =
      std::find_if(all.begin(), all.end(), [&](const c10::Argument& each) {
        return each.name() == name;
      });
  TORCH_INTERNAL_ASSERT(one != all.end(), schema, " has no ", name);
  return *(stack.end() - (all.end() - one));
}

// Not before PyTorch 2.9.
[[maybe_unused]] bool is_of_floats(
    const c10::FunctionSchema& schema,
    const Stack& stack) {
  return c10::isFloatingType(
      argument_of(schema, stack, "self").toTensor().scalar_type());
}

bool is_weighted(const c10::FunctionSchema& schema, const Stack& stack) {
  return !argument_of(schema, stack, "weights").isNone();
}

bool is_bag_of_largest(const c10::FunctionSchema& schema, const Stack& stack) {
  return argument_of(schema, stack, "mode").toInt() == 2;
}

bool is_summed_up(const c10::FunctionSchema& schema, const Stack& stack) {
  return argument_of(schema, stack, "reduction").toInt() != at::Reduction::None;
}

bool accumulates_places(const c10::FunctionSchema& schema, const Stack& stack) {
  return argument_of(schema, stack, "accumulate").toBool();
}

bool gives_indices(const c10::FunctionSchema& schema, const Stack&) {
  return schema.returns().size() == 2;
}

bool has_places(const c10::FunctionSchema& schema, const Stack& stack) {
  return argument_of(schema, stack, "index").toTensor().numel() != 0;
}

// Sums of floating-point numbers are index_put's, in order.
bool scatters_by_atomics(
    const c10::FunctionSchema& schema,
    const Stack& stack) {
#if TORCH_CUDA_TORCH_SINCE(10)
  const auto type = argument_of(schema, stack, "self").toTensor().scalar_type();
  const bool in_order = !c10::isIntegralType(type, /*includeBool=*/true);
#else
  const bool in_order = true;
#endif
  return has_places(schema, stack) &&
      !(in_order &&
        argument_of(schema, stack, "reduce").toStringView() == "add");
}

bool scatters_products(const c10::FunctionSchema& schema, const Stack& stack) {
  return has_places(schema, stack) &&
      argument_of(schema, stack, "reduce").toStringView() == "prod";
}

struct Alert {
  std::string_view name; // a pattern, see is_named
  const char* says;
  /// In which calls; without it, in all.
  bool (*when)(const c10::FunctionSchema&, const Stack&) = nullptr;
  /// Of its overloads, this one; empty: all.
  std::string_view overload = {};
};

// The first that fits counts.
constexpr Alert kAlerts[] = {
    {"aten::_adaptive_avg_pool2d_backward",
     "adaptive_avg_pool2d_backward_cuda"},
    {"aten::_adaptive_avg_pool3d_backward",
     "adaptive_avg_pool3d_backward_cuda"},
    {"aten::adaptive_avg_pool3d_backward",
     "adaptive_avg_pool3d_backward_out_cuda"},
    {"aten::adaptive_max_pool2d_backward", "adaptive_max_pool2d_backward_cuda"},
    {"aten::avg_pool3d_backward", "avg_pool3d_backward_cuda"},
    {"aten::max_pool3d_with_indices_backward",
     "max_pool3d_with_indices_backward_out_cuda",
     nullptr,
     "grad_input"},
    {"aten::max_pool3d_with_indices_backward",
     "max_pool3d_with_indices_backward_cuda"},
    {"aten::fractional_max_pool2d_backward",
     "fractional_max_pool2d_backward_cuda"},
    {"aten::fractional_max_pool3d_backward",
     "fractional_max_pool3d_backward_out_cuda",
     nullptr,
     "grad_input"},
    {"aten::fractional_max_pool3d_backward",
     "fractional_max_pool3d_backward_cuda"},
    {"aten::reflection_pad1d_backward", "reflection_pad1d_backward_out_cuda"},
    {"aten::reflection_pad3d_backward", "reflection_pad3d_backward_out_cuda"},
    {"aten::replication_pad1d_backward", "replication_pad1d_backward_cuda"},
    {"aten::replication_pad2d_backward",
     "replication_pad2d_backward_out_cuda",
     nullptr,
     "grad_input"},
    {"aten::replication_pad2d_backward", "replication_pad2d_backward_cuda"},
    {"aten::replication_pad3d_backward",
     "replication_pad3d_backward_out_cuda",
     nullptr,
     "grad_input"},
    {"aten::replication_pad3d_backward", "replication_pad3d_backward_cuda"},
    {"aten::upsample_linear1d_backward", "upsample_linear1d_backward_out_cuda"},
    {"aten::upsample_bilinear2d_backward",
     "upsample_bilinear2d_backward_out_cuda"},
    {"aten::_upsample_bilinear2d_aa_backward",
     "upsample_bilinear2d_aa_backward_out_cuda"},
    {"aten::upsample_bicubic2d_backward",
     "upsample_bicubic2d_backward_out_cuda"},
    {"aten::_upsample_bicubic2d_aa_backward",
     "upsample_bicubic2d_aa_backward_out_cuda"},
    {"aten::upsample_trilinear3d_backward",
     "upsample_trilinear3d_backward_out_cuda"},
    {"aten::grid_sampler_2d_backward", "grid_sampler_2d_backward_cuda"},
    {"aten::grid_sampler_3d_backward", "grid_sampler_3d_backward_cuda"},
    {"aten::nll_loss2d_forward",
     "nll_loss2d_forward_out_cuda_template",
     is_summed_up},
    {"aten::_ctc_loss_backward", "ctc_loss_backward_gpu"},
    {"aten::_embedding_bag_dense_backward",
     "embedding_bag_backward_cuda_max",
     is_bag_of_largest},
    {"aten::median", "median CUDA with indices output", gives_indices},
    {"aten::nanmedian", "median CUDA with indices output", gives_indices},
    {"aten::bincount", "_bincount_cuda", is_weighted},
    {"aten::index_reduce", "index_reduce_cuda"},
    {"aten::index_reduce_", "index_reduce_cuda"},
    {"aten::put_", "put_", accumulates_places}, // else the host's says it
    {"aten::scatter",
     "scatter_reduce_cuda_kernel",
     scatters_by_atomics,
     "reduce"},
    {"aten::scatter",
     "scatter_reduce_cuda_kernel",
     scatters_by_atomics,
     "reduce_out"},
    {"aten::scatter_",
     "scatter_reduce_cuda_kernel",
     scatters_by_atomics,
     "reduce"},
    {"aten::scatter_reduce", "scatter_reduce_cuda_prod_", scatters_products},
    {"aten::scatter_reduce_", "scatter_reduce_cuda_prod_", scatters_products},
#if TORCH_CUDA_TORCH_SINCE(9)
    {"aten::histc", "_histc_cuda with floating point input", is_of_floats},
#else
    {"aten::histc", "_histc_cuda"},
    {"aten::reflection_pad2d_backward",
     "reflection_pad2d_backward_out_cuda",
     nullptr,
     "grad_input"},
    {"aten::reflection_pad2d_backward", "reflection_pad2d_backward_cuda"},
#endif
#if !TORCH_CUDA_TORCH_SINCE(10)
    {"aten::kthvalue", "kthvalue CUDA"},
#endif
};

} // namespace

Nondeterminism::Nondeterminism(const c10::OperatorHandle& op) {
  const auto* alert = std::find_if(
      std::begin(kAlerts), std::end(kAlerts), [&](const Alert& candidate) {
        return is_named(candidate.name, op.operator_name().name) &&
            (candidate.overload.empty() ||
             candidate.overload == op.operator_name().overload_name);
      });
  if (alert != std::end(kAlerts)) {
    says_ = alert->says;
    when_ = alert->when;
  }
}

void Nondeterminism::alert(
    const c10::FunctionSchema& schema,
    const Stack& stack) const {
  if (!alerts_are_off && at::globalContext().deterministicAlgorithms() &&
      (when_ == nullptr || when_(schema, stack))) {
    at::Context::alertNotDeterministic(says_);
  }
}

WithoutAlerts::WithoutAlerts() : before_(std::exchange(alerts_are_off, true)) {}

WithoutAlerts::~WithoutAlerts() {
  alerts_are_off = before_;
}

} // namespace torch_cuda::operators

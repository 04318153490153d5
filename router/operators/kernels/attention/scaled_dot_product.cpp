// scaled_dot_product_attention's operators: [batch, heads, length, size].
#include "router/operators/kernels/attention/scaled_dot_product.h"

#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/attention/arguments.h"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <c10/core/SymInt.h>

#include <array>
#include <tuple>
#include <utility>

namespace torch_cuda::operators::attention {
namespace {

using c10::SymInt;

using FlashResult = std::tuple<
    Tensor,
    Tensor,
    Tensor,
    Tensor,
    SymInt,
    SymInt,
    Tensor,
    Tensor,
    Tensor>;

void check_causal(const char* name, bool is_causal, const Problem& problem) {
  // Versions of the kernel have differed in what they then compute.
  TORCH_CHECK_NOT_IMPLEMENTED(
      !is_causal || problem.query.size(-2) == problem.key.size(-2),
      name,
      " with is_causal=True for ",
      problem.query.size(-2),
      " queries and ",
      problem.key.size(-2),
      " keys. Needed are as many of both, or a mask.");
}

// The CPU has a fused kernel of this form, which takes no memory by the product
// of lengths.
bool is_the_cpus(const Problem& problem) {
  return problem.query.dim() == 4 && problem.query.numel() != 0 &&
      problem.key.numel() != 0 &&
      problem.query.size(1) == problem.key.size(1) &&
      problem.query.size(-1) == problem.value.size(-1) &&
      problem.query.stride(-1) == 1 && problem.key.stride(-1) == 1 &&
      problem.value.stride(-1) == 1;
}

Result attend_as_the_cpu(const Problem& problem, bool is_causal) {
  auto [output, log_sums] = at::_scaled_dot_product_flash_attention_for_cpu(
      problem.query,
      problem.key,
      problem.value,
      /*dropout_p=*/0,
      is_causal,
      /*attn_mask=*/{},
      problem.scale);
  return {output, log_sums};
}

FlashResult sdp_flash(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    double dropout,
    bool is_causal,
    bool /*return_debug_mask*/,
    std::optional<double> scale) {
  constexpr auto kName = "aten::_scaled_dot_product_flash_attention";
  refuse_dropout(kName, dropout);
  const Problem problem{
      query, key, value, {}, causal(is_causal, true), scale_of(query, scale)};
  check_causal(kName, is_causal, problem);
  const auto result = is_the_cpus(problem)
      ? attend_as_the_cpu(problem, is_causal)
      : attend(problem);
  auto random = no_random_state_of_flash(query);
  return {
      laid_out(result.output, query),
      result.log_sums.contiguous(),
      Tensor(),
      Tensor(),
      query.size(2),
      key.size(2),
      std::move(random.seed),
      std::move(random.offset),
      nothing(query)};
}

std::tuple<Tensor, Tensor, Tensor> sdp_flash_backward(
    const Tensor& gradient,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& output,
    const Tensor& log_sums,
    const Tensor& /*cum_seq_q*/,
    const Tensor& /*cum_seq_k*/,
    int64_t /*max_q*/,
    int64_t /*max_k*/,
    double dropout,
    bool is_causal,
    const Tensor& /*philox_seed*/,
    const Tensor& /*philox_offset*/,
    std::optional<double> scale) {
  constexpr auto kName = "aten::_scaled_dot_product_flash_attention_backward";
  refuse_dropout(kName, dropout);
  const Problem problem{
      query, key, value, {}, causal(is_causal, true), scale_of(query, scale)};
  check_causal(kName, is_causal, problem);
  if (is_the_cpus(problem)) {
    const auto [dq, dk, dv] =
        at::_scaled_dot_product_flash_attention_for_cpu_backward(
            gradient,
            query,
            key,
            value,
            output,
            log_sums,
            dropout,
            is_causal,
            /*attn_mask=*/{},
            problem.scale);
    return {laid_out(dq, query), laid_out(dk, key), laid_out(dv, value)};
  }
  const auto result = derive(problem, gradient, output, log_sums);
  return {
      laid_out(result.query, query),
      laid_out(result.key, key),
      laid_out(result.value, value)};
}

FlashResult sdp_cudnn(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const OptionalTensor& bias,
    bool /*compute_log_sums*/,
    double dropout,
    bool is_causal,
    bool /*return_debug_mask*/,
    std::optional<double> scale) {
  constexpr auto kName = "aten::_scaled_dot_product_cudnn_attention";
  refuse_dropout(kName, dropout);
  const Problem problem{
      query, key, value, bias, causal(is_causal, true), scale_of(query, scale)};
  check_causal(kName, is_causal, problem);
  const auto result = attend(problem);
  auto random = no_random_state(query);
  return {
      laid_out(result.output, query),
      result.log_sums.unsqueeze(-1),
      Tensor(),
      Tensor(),
      query.size(2),
      key.size(2),
      std::move(random.seed),
      std::move(random.offset),
      Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> sdp_cudnn_backward(
    const Tensor& gradient,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& output,
    const Tensor& log_sums,
    const Tensor& /*philox_seed*/,
    const Tensor& /*philox_offset*/,
    const Tensor& bias,
    const Tensor& /*cum_seq_q*/,
    const Tensor& /*cum_seq_k*/,
    int64_t /*max_q*/,
    int64_t /*max_k*/,
    double dropout,
    bool is_causal,
    std::optional<double> scale) {
  constexpr auto kName = "aten::_scaled_dot_product_cudnn_attention_backward";
  refuse_dropout(kName, dropout);
  const Problem problem{
      query, key, value, bias, causal(is_causal, true), scale_of(query, scale)};
  check_causal(kName, is_causal, problem);
  const auto result = derive(problem, gradient, output, log_sums.squeeze(-1));
  return {
      laid_out(result.query, query),
      laid_out(result.key, key),
      laid_out(result.value, value)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> sdp_efficient(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const OptionalTensor& bias,
    bool compute_log_sums,
    double dropout,
    bool is_causal,
    std::optional<double> scale) {
  refuse_dropout("aten::_scaled_dot_product_efficient_attention", dropout);
  const auto result = attend(
      {query,
       key,
       value,
       bias,
       causal(is_causal, false),
       scale_of(query, scale)});
  auto random = no_random_state(query);
  return {
      lengths_before_heads(result.output),
      padded_log_sums(result.log_sums, compute_log_sums),
      std::move(random.seed),
      std::move(random.offset)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> sdp_efficient_backward(
    const Tensor& gradient,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& bias,
    const Tensor& output,
    const Tensor& log_sums,
    const Tensor& /*philox_seed*/,
    const Tensor& /*philox_offset*/,
    double dropout,
    std::array<bool, 4> wanted,
    bool is_causal,
    std::optional<double> scale) {
  refuse_dropout(
      "aten::_scaled_dot_product_efficient_attention_backward", dropout);
  if (!gradient.defined()) {
    return {};
  }
  const auto result = derive(
      {query,
       key,
       value,
       bias,
       causal(is_causal, false),
       scale_of(query, scale)},
      gradient,
      output,
      log_sums.slice(2, 0, query.size(2)));
  return {
      lengths_before_heads(result.query),
      lengths_before_heads(result.key),
      lengths_before_heads(result.value),
      wanted[3] && bias.defined() ? gradient_of_bias(result.scores, bias)
                                  : Tensor()};
}

} // namespace

void route_scaled_dot_product() {
  register_function(
      "aten::_scaled_dot_product_flash_attention", "", &sdp_flash);
  register_function(
      "aten::_scaled_dot_product_flash_attention_backward",
      "",
      &sdp_flash_backward);
  register_function(
      "aten::_scaled_dot_product_cudnn_attention", "", &sdp_cudnn);
  register_function(
      "aten::_scaled_dot_product_cudnn_attention_backward",
      "",
      &sdp_cudnn_backward);
  register_function(
      "aten::_scaled_dot_product_efficient_attention", "", &sdp_efficient);
  register_function(
      "aten::_scaled_dot_product_efficient_attention_backward",
      "",
      &sdp_efficient_backward);
}

} // namespace torch_cuda::operators::attention

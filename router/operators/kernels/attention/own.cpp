// The kernels' own operators: [batch, length, heads, size], or sequences of
// different lengths.
#include "router/operators/kernels/attention/own.h"

#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/attention/arguments.h"

#include <c10/core/SymInt.h>

#include <tuple>
#include <utility>

namespace torch_cuda::operators::attention {
namespace {

using c10::SymInt;

Sight window(
    bool is_causal,
    std::optional<int64_t> left,
    std::optional<int64_t> right) {
  Sight sight = causal(is_causal, true);
  if (left && *left >= 0) {
    sight.left = left;
  }
  if (right && *right >= 0 && !is_causal) {
    sight.right = right;
  }
  return sight;
}

Problem by_heads(Problem problem) {
  problem.query = problem.query.transpose(1, 2);
  problem.key = problem.key.transpose(1, 2);
  problem.value = problem.value.transpose(1, 2);
  return problem;
}

std::tuple<Tensor, Tensor, Tensor> by_lengths(const Gradients& gradients) {
  return {
      gradients.query.transpose(1, 2),
      gradients.key.transpose(1, 2),
      gradients.value.transpose(1, 2)};
}

std::tuple<Tensor, Tensor, Tensor> flash_backward(
    const Tensor& gradient,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& output,
    const Tensor& log_sums,
    const Tensor& cumulated_queries,
    const Tensor& cumulated_keys,
    int64_t /*max_q*/,
    int64_t /*max_k*/,
    double dropout,
    bool is_causal,
    const Tensor& /*rng_state*/,
    const Tensor& /*unused*/,
    std::optional<double> scale,
    std::optional<int64_t> left,
    std::optional<int64_t> right) {
  refuse_dropout("aten::_flash_attention_backward", dropout);
  const Problem problem{
      query,
      key,
      value,
      {},
      window(is_causal, left, right),
      scale_of(query, scale)};
  if (cumulated_queries.defined()) {
    const auto result = derive(
        problem,
        Sequences(cumulated_queries, cumulated_keys),
        gradient,
        output,
        log_sums);
    return {result.query, result.key, result.value};
  }
  const auto [dq, dk, dv] = by_lengths(derive(
      by_heads(problem),
      gradient.transpose(1, 2),
      output.transpose(1, 2),
      log_sums));
  return {laid_out(dq, query), laid_out(dk, key), laid_out(dv, value)};
}

constexpr int64_t kNoMask = 0;
constexpr int64_t kCausalFromTheBeginning = 1;
constexpr int64_t kCausalFromTheEnd = 2;

Sight efficient_sight(
    const char* name,
    int64_t mask_type,
    std::optional<int64_t> window_size) {
  TORCH_CHECK(
      mask_type == kNoMask || mask_type == kCausalFromTheBeginning ||
          mask_type == kCausalFromTheEnd,
      name,
      ": custom_mask_type ",
      mask_type,
      " is none of 0, 1 and 2");
  TORCH_CHECK_NOT_IMPLEMENTED(
      !window_size || *window_size <= 0,
      name,
      " with window_size: only PyTorch's CUDA kernel computes it, which this "
      "device does not run.");
  return causal(mask_type != kNoMask, mask_type == kCausalFromTheEnd);
}

std::tuple<Tensor, Tensor, Tensor, Tensor, SymInt, SymInt> efficient_forward(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const OptionalTensor& bias,
    const OptionalTensor& cumulated_queries,
    const OptionalTensor& cumulated_keys,
    std::optional<int64_t> max_queries,
    std::optional<int64_t> max_keys,
    double dropout,
    int64_t mask_type,
    bool compute_log_sums,
    std::optional<double> scale,
    const OptionalTensor& used_keys,
    std::optional<int64_t> window_size) {
  constexpr auto kName = "aten::_efficient_attention_forward";
  refuse_dropout(kName, dropout);
  refuse(kName, "seqlen_k", used_keys);
  const Problem problem{
      query,
      key,
      value,
      bias,
      efficient_sight(kName, mask_type, window_size),
      scale_of(query, scale)};
  auto random = no_random_state(query);
  if (has(cumulated_queries)) {
    refuse(kName, "bias and sequences of different lengths", bias);
    Problem all = problem;
    all.query = query.squeeze(0);
    all.key = key.squeeze(0);
    all.value = value.squeeze(0);
    const auto result =
        attend(all, Sequences(*cumulated_queries, *cumulated_keys));
    return {
        result.output.unsqueeze(0),
        result.log_sums,
        std::move(random.seed),
        std::move(random.offset),
        max_queries.value_or(0),
        max_keys.value_or(0)};
  }
  const auto result = attend(by_heads(problem));
  return {
      result.output.transpose(1, 2).contiguous(),
      padded_log_sums(result.log_sums, compute_log_sums),
      std::move(random.seed),
      std::move(random.offset),
      query.size(1),
      key.size(1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_backward(
    const Tensor& gradient,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const OptionalTensor& bias,
    const Tensor& output,
    const OptionalTensor& cumulated_queries,
    const OptionalTensor& cumulated_keys,
    int64_t /*max_queries*/,
    int64_t /*max_keys*/,
    const Tensor& log_sums,
    double dropout,
    const Tensor& /*philox_seed*/,
    const Tensor& /*philox_offset*/,
    int64_t mask_type,
    bool bias_requires_grad,
    std::optional<double> scale,
    std::optional<int64_t> /*num_splits_key*/,
    std::optional<int64_t> window_size,
    bool /*shared_storage_dqdkdv*/) {
  constexpr auto kName = "aten::_efficient_attention_backward";
  refuse_dropout(kName, dropout);
  const Problem problem{
      query,
      key,
      value,
      bias,
      efficient_sight(kName, mask_type, window_size),
      scale_of(query, scale)};
  if (has(cumulated_queries)) {
    Problem all = problem;
    all.query = query.squeeze(0);
    all.key = key.squeeze(0);
    all.value = value.squeeze(0);
    const auto result = derive(
        all,
        Sequences(*cumulated_queries, *cumulated_keys),
        gradient.squeeze(0),
        output.squeeze(0),
        log_sums);
    return {
        result.query.unsqueeze(0),
        result.key.unsqueeze(0),
        result.value.unsqueeze(0),
        Tensor()};
  }
  const auto result = derive(
      by_heads(problem),
      gradient.transpose(1, 2),
      output.transpose(1, 2),
      log_sums.slice(2, 0, query.size(1)));
  const auto [dq, dk, dv] = by_lengths(result);
  return {
      dq.contiguous(),
      dk.contiguous(),
      dv.contiguous(),
      bias_requires_grad && has(bias) ? gradient_of_bias(result.scores, *bias)
                                      : Tensor()};
}

// The arguments of _flash_attention_forward after the first twelve differ by
// version.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> flash_forward(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const OptionalTensor& cumulated_queries,
    const OptionalTensor& cumulated_keys,
    int64_t /*max_q*/,
    int64_t /*max_k*/,
    double dropout,
    bool is_causal,
    bool /*return_debug_mask*/,
    std::optional<double> scale,
    std::optional<int64_t> left,
    std::optional<int64_t> right,
    const OptionalTensor& used_keys,
    const OptionalTensor& alibi_slopes) {
  constexpr auto kName = "aten::_flash_attention_forward";
  refuse_dropout(kName, dropout);
  refuse(kName, "seqused_k", used_keys);
  refuse(kName, "alibi_slopes", alibi_slopes);
  const Problem problem{
      query,
      key,
      value,
      {},
      window(is_causal, left, right),
      scale_of(query, scale)};
  Result result;
  if (has(cumulated_queries)) {
    result = attend(problem, Sequences(*cumulated_queries, *cumulated_keys));
  } else {
    result = attend(by_heads(problem));
    result.output = result.output.transpose(1, 2);
  }
  auto random = no_random_state_of_flash(query);
  return {
      laid_out(result.output, query),
      result.log_sums.contiguous(),
      std::move(random.seed),
      std::move(random.offset),
      nothing(query)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> flash_forward_of_blocks(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const OptionalTensor& cumulated_queries,
    const OptionalTensor& cumulated_keys,
    int64_t max_q,
    int64_t max_k,
    double dropout,
    bool is_causal,
    bool return_debug_mask,
    std::optional<double> scale,
    std::optional<int64_t> left,
    std::optional<int64_t> right,
    const OptionalTensor& used_keys,
    const OptionalTensor& alibi_slopes,
    const OptionalTensor& block_table,
    std::optional<int64_t> /*num_splits*/) {
  refuse("aten::_flash_attention_forward", "block_table", block_table);
  return flash_forward(
      query,
      key,
      value,
      cumulated_queries,
      cumulated_keys,
      max_q,
      max_k,
      dropout,
      is_causal,
      return_debug_mask,
      scale,
      left,
      right,
      used_keys,
      alibi_slopes);
}

} // namespace

void route_own() {
  register_function("aten::_flash_attention_backward", "", &flash_backward);
  register_function(
      "aten::_efficient_attention_forward", "", &efficient_forward);
  register_function(
      "aten::_efficient_attention_backward", "", &efficient_backward);
  register_one_of(
      "aten::_flash_attention_forward",
      "",
      &flash_forward,
      &flash_forward_of_blocks);
}

} // namespace torch_cuda::operators::attention

// The definition, and the derivative by the kept logarithms of sums (Dao et al.
// 2022, FlashAttention, algorithms 1 and 4), in single precision for half.
#include "accelerator/operators/kernels/fused_attention.h"

#include "accelerator/composites/accumulated.h"
#include "accelerator/operators/dispatch/registration.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/SymInt.h>
#include <c10/util/Exception.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using c10::SymInt;
using composites::accumulated;
using OptionalTensor = std::optional<Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool has(const OptionalTensor& tensor) {
  return tensor.has_value() && tensor->defined();
}

/// Which keys a query sees.
struct Sight {
  // Key j is seen by query i where i + offset - left <= j <= i + offset +
  // right.
  std::optional<int64_t> left;
  std::optional<int64_t> right;
  // Where sequences differ in length: the last query sees the last key.
  bool from_the_end = true;
};

/// One attention, of [batch, heads, length, size].
struct Problem {
  Tensor query;
  Tensor key;
  Tensor value;
  OptionalTensor bias; // added to the scores
  Sight sight;
  double scale = 1;
};

struct Result {
  Tensor output;
  Tensor log_sums; // [batch, heads, queries], single precision
};

struct Gradients {
  Tensor query;
  Tensor key;
  Tensor value;
  Tensor scores;
};

double scale_of(const Tensor& query, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

void refuse_dropout(const char* name, double dropout) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      dropout == 0,
      name,
      " with dropout: its random numbers are those of PyTorch's CUDA kernel, "
      "which this device does not run. Needed is dropout_p=0, or "
      "torch.nn.functional.scaled_dot_product_attention.");
}

void refuse(const char* name, const char* what, const OptionalTensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !has(tensor),
      name,
      " with ",
      what,
      ": only PyTorch's CUDA kernel computes it, which this device does not "
      "run.");
}

// Each head of keys serves as many heads of queries.
Tensor for_heads(const Tensor& tensor, int64_t heads) {
  TORCH_CHECK(
      tensor.size(1) > 0 && heads % tensor.size(1) == 0,
      "attention: ",
      heads,
      " heads of queries are no multiple of ",
      tensor.size(1),
      " heads of keys and values");
  return tensor.size(1) == heads
      ? tensor
      : tensor.repeat_interleave(heads / tensor.size(1), 1);
}

Tensor of_heads(const Tensor& gradient, int64_t heads) {
  return gradient.size(1) == heads
      ? gradient
      : gradient.unflatten(1, {heads, gradient.size(1) / heads}).sum(2);
}

Tensor scores(const Problem& problem) {
  const int64_t heads = problem.query.size(1);
  auto result =
      at::matmul(
          accumulated(problem.query),
          for_heads(accumulated(problem.key), heads).transpose(-2, -1))
          .mul_(problem.scale);
  if (has(problem.bias)) {
    result = result.add(accumulated(*problem.bias));
  }
  const auto& sight = problem.sight;
  if (!sight.left && !sight.right) {
    return result;
  }
  const int64_t queries = problem.query.size(-2);
  const int64_t keys = problem.key.size(-2);
  const auto options = result.options().dtype(c10::kLong);
  const auto distance = at::arange(keys, options)
                            .sub(at::arange(queries, options).unsqueeze(1))
                            .sub(sight.from_the_end ? keys - queries : 0);
  if (sight.left) {
    result.masked_fill_(distance.lt(-*sight.left), -kInfinity);
  }
  if (sight.right) {
    result.masked_fill_(distance.gt(*sight.right), -kInfinity);
  }
  return result;
}

// A query that sees nothing gives zeros, where the definition has 0 / 0.
Tensor probabilities(const Tensor& scores, const Tensor& log_sums) {
  auto result = scores.sub(log_sums.unsqueeze(-1)).exp_();
  return result.masked_fill_(log_sums.unsqueeze(-1).eq(-kInfinity), 0);
}

Result attend(const Problem& problem) {
  const auto all = scores(problem);
  auto log_sums = all.logsumexp(-1);
  auto output = at::matmul(
      probabilities(all, log_sums),
      for_heads(accumulated(problem.value), problem.query.size(1)));
  return {output.to(problem.query.scalar_type()), log_sums};
}

Gradients derive(
    const Problem& problem,
    const Tensor& gradient,
    const Tensor& output,
    const Tensor& log_sums) {
  const int64_t heads = problem.query.size(1);
  const auto dy = accumulated(gradient);
  const auto p = probabilities(
      scores(problem), log_sums.to(accumulated(problem.query).scalar_type()));
  const auto dp = at::matmul(
      dy, for_heads(accumulated(problem.value), heads).transpose(-2, -1));
  const auto along = dy.mul(accumulated(output)).sum(-1, /*keepdim=*/true);
  const auto ds = dp.sub(along).mul_(p);
  const auto dq = at::matmul(ds, for_heads(accumulated(problem.key), heads))
                      .mul_(problem.scale);
  const auto dk = at::matmul(ds.transpose(-2, -1), accumulated(problem.query))
                      .mul_(problem.scale);
  const auto dv = at::matmul(p.transpose(-2, -1), dy);
  return {
      dq.to(problem.query.scalar_type()),
      of_heads(dk, problem.key.size(1)).to(problem.key.scalar_type()),
      of_heads(dv, problem.value.size(1)).to(problem.value.scalar_type()),
      ds};
}

Sight causal(bool is_causal, bool from_the_end) {
  return is_causal ? Sight{std::nullopt, 0, from_the_end} : Sight{};
}

Tensor no_random_state(const Tensor& like) {
  return at::zeros({2}, like.options().dtype(c10::kLong));
}

Tensor nothing(const Tensor& like) {
  return at::empty({0}, like.options());
}

// Beginnings of sequences that lie one behind the other, on the host.
std::vector<int64_t> beginnings(const Tensor& cumulated) {
  const auto host = cumulated.to(c10::kCPU, c10::kLong).contiguous();
  const auto* data = host.const_data_ptr<int64_t>();
  return {data, data + host.numel()};
}

// [length, heads, size] of a sequence as [1, heads, length, size].
Tensor sequence(const Tensor& all, int64_t begin, int64_t end) {
  return all.slice(0, begin, end).transpose(0, 1).unsqueeze(0);
}

Tensor back_into_sequence(const Tensor& one) {
  return one.squeeze(0).transpose(0, 1);
}

/// Sequences of different lengths in one tensor of [all, heads, size].
struct Sequences {
  std::vector<int64_t> queries;
  std::vector<int64_t> keys;

  Sequences(const Tensor& cumulated_queries, const Tensor& cumulated_keys)
      : queries(beginnings(cumulated_queries)),
        keys(beginnings(cumulated_keys)) {
    TORCH_CHECK(
        queries.size() == keys.size() && !queries.empty(),
        "attention: sequences of queries and of keys differ in number");
  }
  size_t count() const {
    return queries.size() - 1;
  }
  Problem problem(const Problem& all, size_t i) const {
    Problem one = all;
    one.query = sequence(all.query, queries[i], queries[i + 1]);
    one.key = sequence(all.key, keys[i], keys[i + 1]);
    one.value = sequence(all.value, keys[i], keys[i + 1]);
    return one;
  }
};

// `all` has [all, heads, size]; the logarithms are of [heads, all queries].
Result attend(const Problem& all, const Sequences& sequences) {
  auto output = at::zeros(
      {all.query.size(0), all.query.size(1), all.value.size(2)},
      all.query.options());
  auto log_sums = at::zeros(
      {all.query.size(1), all.query.size(0)},
      accumulated(nothing(all.query)).options());
  for (size_t i = 0; i < sequences.count(); ++i) {
    const int64_t begin = sequences.queries[i];
    const int64_t end = sequences.queries[i + 1];
    if (begin == end) {
      continue;
    }
    const auto one = attend(sequences.problem(all, i));
    output.slice(0, begin, end).copy_(back_into_sequence(one.output));
    log_sums.slice(1, begin, end).copy_(one.log_sums.squeeze(0));
  }
  return {output, log_sums};
}

Gradients derive(
    const Problem& all,
    const Sequences& sequences,
    const Tensor& gradient,
    const Tensor& output,
    const Tensor& log_sums) {
  Gradients result{
      at::zeros_like(all.query),
      at::zeros_like(all.key),
      at::zeros_like(all.value),
      {}};
  for (size_t i = 0; i < sequences.count(); ++i) {
    const int64_t begin = sequences.queries[i];
    const int64_t end = sequences.queries[i + 1];
    if (begin == end) {
      continue;
    }
    const auto one = derive(
        sequences.problem(all, i),
        sequence(gradient, begin, end),
        sequence(output, begin, end),
        log_sums.slice(1, begin, end).unsqueeze(0));
    result.query.slice(0, begin, end).copy_(back_into_sequence(one.query));
    const int64_t first = sequences.keys[i];
    const int64_t last = sequences.keys[i + 1];
    result.key.slice(0, first, last).copy_(back_into_sequence(one.key));
    result.value.slice(0, first, last).copy_(back_into_sequence(one.value));
  }
  return result;
}

// --- scaled_dot_product_attention's: [batch, heads, length, size] ---

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
  return {
      result.output,
      result.log_sums,
      Tensor(),
      Tensor(),
      query.size(2),
      key.size(2),
      no_random_state(query),
      no_random_state(query),
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
    return at::_scaled_dot_product_flash_attention_for_cpu_backward(
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
  }
  const auto result = derive(problem, gradient, output, log_sums);
  return {result.query, result.key, result.value};
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
  return {
      result.output,
      result.log_sums.unsqueeze(-1),
      Tensor(),
      Tensor(),
      query.size(2),
      key.size(2),
      no_random_state(query),
      no_random_state(query),
      nothing(query)};
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
  return {result.query, result.key, result.value};
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
  return {
      result.output,
      compute_log_sums ? result.log_sums : result.log_sums.slice(2, 0, 0),
      no_random_state(query).select(0, 0),
      no_random_state(query).select(0, 1)};
}

// What was added may have been one row for many.
Tensor reduced_to(const Tensor& gradient, const Tensor& like) {
  return gradient.sum_to_size(like.sizes()).to(like.scalar_type());
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
      result.query,
      result.key,
      result.value,
      wanted[3] && bias.defined() ? reduced_to(result.scores, bias) : Tensor()};
}

// --- the kernels' own: [batch, length, heads, size], or sequences ---

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
  return by_lengths(derive(
      by_heads(problem),
      gradient.transpose(1, 2),
      output.transpose(1, 2),
      log_sums));
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
  const auto seed = no_random_state(query);
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
        seed.select(0, 0),
        seed.select(0, 1),
        max_queries.value_or(0),
        max_keys.value_or(0)};
  }
  const auto result = attend(by_heads(problem));
  return {
      result.output.transpose(1, 2),
      compute_log_sums ? result.log_sums : result.log_sums.slice(2, 0, 0),
      seed.select(0, 0),
      seed.select(0, 1),
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
      dq,
      dk,
      dv,
      bias_requires_grad && has(bias) ? reduced_to(result.scores, *bias)
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
  return {
      result.output,
      result.log_sums,
      no_random_state(query),
      no_random_state(query),
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

void route_fused_attention() {
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

} // namespace torch_cuda::operators

// The definition in terms of PyTorch's operators.
#include "router/operators/kernels/attention/definition.h"

#include "router/composites/accumulated.h"
#include "router/operators/kernels/optional_tensor.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <limits>

namespace torch_cuda::operators::attention {
namespace {

using at::Tensor;
using composites::accumulated;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

} // namespace

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

Sequences::Sequences(
    const Tensor& cumulated_queries,
    const Tensor& cumulated_keys)
    : queries_(beginnings(cumulated_queries)),
      keys_(beginnings(cumulated_keys)) {
  TORCH_CHECK(
      queries_.size() == keys_.size() && !queries_.empty(),
      "attention: sequences of queries and of keys differ in number");
}

Problem Sequences::problem(const Problem& all, size_t i) const {
  Problem one = all;
  one.query = sequence(all.query, queries_[i], queries_[i + 1]);
  one.key = sequence(all.key, keys_[i], keys_[i + 1]);
  one.value = sequence(all.value, keys_[i], keys_[i + 1]);
  return one;
}

Result attend(const Problem& all, const Sequences& sequences) {
  auto output = at::zeros(
      {all.query.size(0), all.query.size(1), all.value.size(2)},
      all.query.options());
  auto log_sums = at::zeros(
      {all.query.size(1), all.query.size(0)},
      accumulated(at::zeros({0}, all.query.options())).options());
  for (size_t i = 0; i < sequences.count(); ++i) {
    const int64_t begin = sequences.query(i);
    const int64_t end = sequences.query(i + 1);
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
    const int64_t begin = sequences.query(i);
    const int64_t end = sequences.query(i + 1);
    if (begin == end) {
      continue;
    }
    const auto one = derive(
        sequences.problem(all, i),
        sequence(gradient, begin, end),
        sequence(output, begin, end),
        log_sums.slice(1, begin, end).unsqueeze(0));
    result.query.slice(0, begin, end).copy_(back_into_sequence(one.query));
    const int64_t first = sequences.key(i);
    const int64_t last = sequences.key(i + 1);
    result.key.slice(0, first, last).copy_(back_into_sequence(one.key));
    result.value.slice(0, first, last).copy_(back_into_sequence(one.value));
  }
  return result;
}

} // namespace torch_cuda::operators::attention

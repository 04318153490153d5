// Attention by its definition, and its derivative by the kept logarithms of
// sums (Dao et al. 2022, FlashAttention, algorithms 1 and 4), in single
// precision for half.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace torch_cuda::operators::attention {

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
  at::Tensor query;
  at::Tensor key;
  at::Tensor value;
  std::optional<at::Tensor> bias; // added to the scores
  Sight sight;
  double scale = 1;
};

struct Result {
  at::Tensor output;
  at::Tensor log_sums; // [batch, heads, queries], single precision
};

struct Gradients {
  at::Tensor query;
  at::Tensor key;
  at::Tensor value;
  at::Tensor scores;
};

Result attend(const Problem& problem);

Gradients derive(
    const Problem& problem,
    const at::Tensor& gradient,
    const at::Tensor& output,
    const at::Tensor& log_sums);

/// Sequences of different lengths in one tensor of [all, heads, size].
class Sequences {
 public:
  /// @param cumulated_queries, @param cumulated_keys where each sequence
  /// begins, and the end of the last.
  Sequences(
      const at::Tensor& cumulated_queries,
      const at::Tensor& cumulated_keys);

  size_t count() const {
    return queries_.size() - 1;
  }
  int64_t query(size_t i) const {
    return queries_[i];
  }
  int64_t key(size_t i) const {
    return keys_[i];
  }
  /// The attention of one sequence.
  Problem problem(const Problem& all, size_t i) const;

 private:
  std::vector<int64_t> queries_;
  std::vector<int64_t> keys_;
};

/// The same of sequences: `all` has [all, heads, size], and the logarithms are
/// of [heads, all queries].
Result attend(const Problem& all, const Sequences& sequences);

Gradients derive(
    const Problem& all,
    const Sequences& sequences,
    const at::Tensor& gradient,
    const at::Tensor& output,
    const at::Tensor& log_sums);

} // namespace torch_cuda::operators::attention

// How cuBLAS's level 2 stores a triangle of a square matrix: with a leading
// dimension, packed column by column, or as a band of diagonals. Source: cuBLAS
// API, chapter 2.6, which gives the place of each element.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/libraries/blas/stream_work.h"

namespace accelerator::blas {

/// Rows of a column: from `begin` to before `end`.
struct Rows {
  int begin;
  int end;
};

/// The triangle of an n x n matrix that `fill` names. Its sizes are to be found
/// valid before anything else is asked.
template <typename T>
class Triangle {
 public:
  /// In a column-major matrix.
  static Triangle full(T* a, cublasFillMode_t fill, int n, int lda) {
    return {kFull, a, fill, n, n, lda};
  }
  /// Column behind column, without gaps.
  static Triangle packed(T* a, cublasFillMode_t fill, int n) {
    return {kPacked, a, fill, n, n, 0};
  }
  /// The diagonal and `k` others, each a row of the array `a`.
  static Triangle banded(T* a, cublasFillMode_t fill, int n, int k, int lda) {
    return {kBanded, a, fill, n, k, lda};
  }

  T* data() const {
    return a_;
  }
  cublasFillMode_t fill() const {
    return fill_;
  }
  int size() const {
    return n_;
  }
  int diagonals() const {
    return k_;
  }
  int leading() const {
    return lda_;
  }

  bool valid() const {
    return (fill_ == CUBLAS_FILL_MODE_LOWER ||
            fill_ == CUBLAS_FILL_MODE_UPPER) &&
        n_ >= 0 && k_ >= 0 &&
        (kind_ == kPacked ||
         (kind_ == kFull ? lda_ >= std::max(1, n_) : lda_ > k_));
  }

  /// All that the array has, for accessible().
  Extent extent() const {
    return {
        a_,
        kind_ == kFull         ? matrix_bytes(n_, n_, lda_, sizeof(T))
            : kind_ == kPacked ? packed_size() * sizeof(T)
                               : matrix_bytes(k_ + 1, n_, lda_, sizeof(T))};
  }

  /// The place from which element (i, j) is `i` elements away, for those i that
  /// the triangle has.
  T* column(int j) const {
    const std::ptrdiff_t at = j;
    const std::ptrdiff_t n = n_;
    switch (kind_) {
      case kFull:
        return a_ + at * lda_;
      case kPacked:
        return a_ +
            (is_upper(fill_) ? at * (at + 1) / 2
                             : at * n - at * (at - 1) / 2 - at);
      default:
        return a_ + at * lda_ + (is_upper(fill_) ? k_ - at : -at);
    }
  }

  /// The rows of a column, without the diagonal.
  Rows rows(int j) const {
    // As n - j and j may be less than k, which may be the largest int.
    return is_upper(fill_) ? Rows{j - std::min(j, k_), j}
                           : Rows{j + 1, j + 1 + std::min(n_ - j - 1, k_)};
  }

  /// What work reads of it.
  /// @param unit whether its diagonal is not read.
  std::vector<Read> reads(bool unit = false) const {
    if (kind_ == kFull) {
      return {triangle_read(a_, is_upper(fill_), n_, lda_, sizeof(T), unit)};
    }
    if (kind_ == kPacked && !unit) {
      return {Read(a_, packed_size() * sizeof(T))};
    }
    std::vector<Read> columns;
    for (int j = 0; j < n_; ++j) {
      Rows its = rows(j);
      if (!unit) {
        its = is_upper(fill_) ? Rows{its.begin, j + 1} : Rows{j, its.end};
      }
      columns.emplace_back(
          column(j) + its.begin,
          static_cast<std::size_t>(its.end - its.begin) * sizeof(T));
    }
    return columns;
  }

 private:
  enum Kind { kFull, kPacked, kBanded };

  Triangle(Kind kind, T* a, cublasFillMode_t fill, int n, int k, int lda)
      : kind_(kind), a_(a), fill_(fill), n_(n), k_(k), lda_(lda) {}

  std::size_t packed_size() const {
    const auto n = static_cast<std::size_t>(n_);
    return n * (n + 1) / 2;
  }

  Kind kind_;
  T* a_;
  cublasFillMode_t fill_;
  int n_;
  int k_;
  int lda_;
};

} // namespace accelerator::blas

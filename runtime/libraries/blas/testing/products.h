// Products of small whole numbers for tests of cuBLAS, by element types.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing::products {

inline constexpr int kM = 4;
inline constexpr int kN = 3;
inline constexpr int kK = 5;

/// Small whole numbers: exact in every type, and so are their products.
template <typename T>
std::vector<T> small(std::size_t count, int seed) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    const int value = (static_cast<int>(i) * 5 + seed) % 7 - 3;
    values.push_back(T(static_cast<float>(value)));
  }
  return values;
}

template <typename T>
double number(T value) {
  return static_cast<float>(value);
}

/// Element (i, j) of a product of dense matrices from given elements on.
template <typename A, typename B>
double sum(
    const std::vector<A>& a,
    const std::vector<B>& b,
    std::size_t i,
    std::size_t j,
    std::size_t a_from = 0,
    std::size_t b_from = 0) {
  double result = 0;
  for (std::size_t k = 0; k < kK; ++k) {
    result += number(a[a_from + k * kM + i]) * number(b[b_from + j * kK + k]);
  }
  return result;
}

} // namespace accelerator::blas::testing::products

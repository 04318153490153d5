// Transforms by their definition, in double precision: the answers.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

namespace accelerator::fft::testing {

using Wide = std::complex<double>;
using Sizes = std::vector<int>;

inline std::size_t product(const Sizes& sizes) {
  std::size_t result = 1;
  for (const int size : sizes) {
    result *= static_cast<std::size_t>(size);
  }
  return result;
}

/// The transform of complex numbers without gaps, over all dimensions.
/// @param sign of the exponent.
inline std::vector<Wide> naive(
    std::vector<Wide> values,
    const Sizes& sizes,
    int sign) {
  const double turn = 2 * std::acos(-1.0);
  std::size_t stride = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const auto n = static_cast<std::size_t>(sizes[d]);
    std::vector<Wide> next(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t k = i / stride % n;
      const std::size_t first = i - k * stride;
      for (std::size_t j = 0; j < n; ++j) {
        const double angle = sign * turn * static_cast<double>(j * k % n) /
            static_cast<double>(n);
        next[i] += values[first + j * stride] * std::polar(1.0, angle);
      }
    }
    values = std::move(next);
    stride *= n;
  }
  return values;
}

/// The part of a spectrum that transforms of real numbers give.
inline std::vector<Wide> half(
    const std::vector<Wide>& spectrum,
    const Sizes& sizes) {
  const auto n = static_cast<std::size_t>(sizes.back());
  std::vector<Wide> result;
  for (std::size_t i = 0; i < spectrum.size(); ++i) {
    if (i % n <= n / 2) {
      result.push_back(spectrum[i]);
    }
  }
  return result;
}

} // namespace accelerator::fft::testing

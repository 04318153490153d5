// The numbers that Sobol's sequence begins with, which joe_kuo.py writes.
#pragma once

#include <cstdint>

namespace accelerator::rand {

/// Of each dimension, the coefficients as bits: 1 for the first, which has no
/// polynomial.
extern const std::uint32_t kPolynomials[];

/// As many numbers as the degree of its polynomial, of one dimension after the
/// other.
extern const std::uint32_t kInitialNumbers[];

} // namespace accelerator::rand

// What a plan of cuFFT computes: the kind of transform, its sizes, and where
// the elements lie. Source: cuFFT API, chapter 2.6 (advanced data layout).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace accelerator::fft {

enum class Kind { kComplexToComplex, kRealToComplex, kComplexToReal };

enum class Precision { kHalf, kBfloat16, kSingle, kDouble };

/// An advanced data layout, in elements of its side.
struct Layout {
  /// Of each dimension; the first is not used.
  std::vector<std::int64_t> embed;
  /// From one element of the innermost dimension to the next.
  std::int64_t stride = 1;
  /// From one transform of the batch to the next.
  std::int64_t distance = 0;
};

/// Where the elements of one side lie: first the batch, then the dimensions.
struct Side {
  std::vector<std::size_t> shape;
  /// In elements.
  std::vector<std::ptrdiff_t> strides;
  bool is_complex = true;
  /// Of one element.
  std::size_t element_bytes = 0;

  std::size_t elements() const;
  /// From the first element to the end of the last; at the most what a
  /// std::size_t holds.
  std::size_t extent_bytes() const;
};

struct Transform {
  Kind kind = Kind::kComplexToComplex;
  Precision precision = Precision::kSingle;
  std::vector<std::int64_t> sizes;
  std::int64_t batch = 1;
  /// Absent: data without gaps, but that real data in place have room for the
  /// complex ones.
  std::optional<Layout> input_layout;
  std::optional<Layout> output_layout;

  Side input(bool in_place) const;
  Side output(bool in_place) const;
};

/// Computes a transform without factor.
/// @param forward whether the exponent is negative; of complex transforms only.
/// @throws std::bad_alloc: no memory of the host.
void compute(
    const Transform& transform,
    const void* input,
    void* output,
    bool forward);

} // namespace accelerator::fft

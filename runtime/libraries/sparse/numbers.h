// The elements of vectors and matrices, as the host computes with them: in
// double precision, and rounded once at the end.
#pragma once

#include <library_types.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace accelerator::sparse {

using Complex = std::complex<double>;

/// Bytes of an element; 0 of a type that sparse matrices do not have.
std::size_t size_of(cudaDataType type);

bool is_complex(cudaDataType type);

/// Reads `count` elements from `first` on, `stride` apart, as double, or, of
/// all types, as Complex.
template <typename W>
void load(
    cudaDataType type,
    const void* array,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    W* values);

/// Writes them, rounded to nearest even, and integers saturated.
template <typename W>
void store(
    cudaDataType type,
    void* array,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    const W* values);

/// Calls `compute` with a zero of what elements of the type are computed as.
template <typename Compute>
auto as_wide(cudaDataType type, Compute compute) {
  return is_complex(type) ? compute(Complex()) : compute(double());
}

inline double conjugate(double value) {
  return value;
}
inline Complex conjugate(Complex value) {
  return std::conj(value);
}

} // namespace accelerator::sparse

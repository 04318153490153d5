// The element types of cuBLAS on the host: 16-bit and 8-bit floating point as
// bits with conversions, and what cudaDataType_t stands for.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <library_types.h>

#include <complex>
#include <cstdint>
#include <vector>

namespace accelerator::blas {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

/// Bytes of one element; 0 for a type that this library does not know.
std::size_t size_of(cudaDataType_t type);

/// Reads element `index` of an array of real numbers.
double load(cudaDataType_t type, const void* array, std::size_t index);

/// Writes element `index`, rounded to nearest even and saturated for integers.
void store(cudaDataType_t type, void* array, std::size_t index, double value);

/// A column-major matrix as a dense one of T without gaps between its columns.
template <typename T>
std::vector<T> dense(
    cudaDataType_t type,
    const void* matrix,
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t leading) {
  std::vector<T> values(rows * columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      values[j * rows + i] =
          static_cast<T>(load(type, matrix, j * leading + i));
    }
  }
  return values;
}

} // namespace accelerator::blas

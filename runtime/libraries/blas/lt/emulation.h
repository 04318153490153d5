// Descriptors of how NVIDIA's library emulates floating point by integers
// (CUDA 13). Here nothing is emulated, and who asks is told so. Source: CUDA
// 13.5's cublasLt.h, of which the header that this is built with has nothing.
#pragma once

#include <cstdint>

#include "runtime/libraries/blas/lt/descriptors.h"

namespace accelerator::blas::lt {

/// What is in a cublasLtEmulationDescOpaque_t, which has 64 bytes.
struct EmulationDesc {
  std::int32_t strategy;
  std::int32_t special_values;
  std::int32_t mantissa_control;
  std::int32_t max_mantissa_bits;
  std::int32_t mantissa_bit_offset;
  std::int32_t* mantissa_bits; // memory of the device for how many there were
};

/// Where a product writes -1, which says that nothing was emulated; null:
/// nowhere.
std::int32_t* mantissa_bits_of(const MatmulDesc& desc);

} // namespace accelerator::blas::lt

// The types of elements, the reductions, and their names.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>

namespace accelerator::nccl {

/// Bytes of an element; 0 for what is no type of NCCL's.
std::size_t size_of(ncclDataType_t type);

/// Such as "float32".
const char* name_of(ncclDataType_t type);

/// What is done with the elements of all ranks at the same place.
enum class Reduction : std::uint32_t {
  kSum,
  kProduct,
  kMaximum,
  kMinimum,
  /// Of integers, the sum divided by the number of ranks and rounded towards
  /// zero; else the sum of the elements, each times 1 / ranks.
  kMean,
  /// The sum of the elements, each times a factor of its rank.
  kScaledSum,
};

/// Such as "sum".
const char* name_of(Reduction reduction);

} // namespace accelerator::nccl

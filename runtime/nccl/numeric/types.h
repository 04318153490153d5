// The types of elements, the reductions, and their names.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>

namespace accelerator::nccl {

/// 8-bit floats of NCCL 2.24 and later, which the headers lack: four bits of
/// exponent, and five. They are moved between ranks, and not reduced.
inline constexpr auto kFloat8e4m3 = static_cast<ncclDataType_t>(10);
inline constexpr auto kFloat8e5m2 = static_cast<ncclDataType_t>(11);

/// Bytes of an element; 0 for what is no type of NCCL's.
std::size_t size_of(ncclDataType_t type);

/// Such as "float32".
const char* name_of(ncclDataType_t type);

/// Whether there are sums of such elements.
bool is_reduced(ncclDataType_t type);

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

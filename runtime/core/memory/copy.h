// Copying and filling memory, in one, two and three dimensions.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

#include "runtime/core/status/status.h"

namespace accelerator::runtime {

class AddressMap;

/// A box of bytes that goes from one place to another.
struct CopyWork {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t width = 0; // bytes of a row
  std::size_t height = 1; // rows
  std::size_t depth = 1; // slices
  std::size_t to_pitch = 0; // bytes from row to row
  std::size_t from_pitch = 0;
  std::size_t to_slice = 0; // bytes from slice to slice
  std::size_t from_slice = 0;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  /// The arrays whose memory it is, as the program names them; null: no
  /// array's.
  const void* to_array = nullptr;
  const void* from_array = nullptr;

  bool empty() const {
    return width == 0 || height == 0 || depth == 0;
  }

  /// Whether it has one dimension: a row.
  bool is_linear() const {
    return height <= 1 && depth <= 1;
  }
};

/// Elements of 1, 2 or 4 bytes that are set to a value.
struct FillWork {
  void* to = nullptr;
  std::uint32_t value = 0;
  unsigned element_size = 1;
  std::size_t width = 0; // elements of a row
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t pitch = 0; // bytes
  std::size_t slice = 0; // bytes

  bool empty() const {
    return width == 0 || height == 0 || depth == 0;
  }

  /// Whether it has one dimension: a row.
  bool is_linear() const {
    return height <= 1 && depth <= 1;
  }
};

CopyWork linear_copy(
    void* to,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind);
CopyWork plane_copy(
    void* to,
    std::size_t to_pitch,
    const void* from,
    std::size_t from_pitch,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind);

/// One of the two places of a copy of a box: x is in bytes.
struct BoxPlace {
  cudaPitchedPtr memory;
  cudaPos position;
};

/// @param extent the width in bytes.
/// @throws Failure: cudaErrorInvalidValue for a position behind all addresses.
CopyWork box_copy(
    const BoxPlace& to,
    const BoxPlace& from,
    const cudaExtent& extent,
    cudaMemcpyKind kind);

FillWork linear_fill(
    void* to,
    std::uint32_t value,
    unsigned element_size,
    std::size_t count);

/// Checks addresses, sizes and direction, and replaces cudaMemcpyDefault by
/// what it means for these addresses.
/// @throws Failure: cudaErrorInvalidValue, cudaErrorInvalidMemcpyDirection,
/// cudaErrorInvalidPitchValue.
void check_copy(AddressMap& addresses, CopyWork& work);
void check_fill(AddressMap& addresses, const FillWork& work);

/// Whether an address is host memory that devices do not know: pageable.
bool pageable(AddressMap& addresses, const void* memory);

} // namespace accelerator::runtime

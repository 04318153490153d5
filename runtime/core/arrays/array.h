// CUDA arrays: memory of a device that programs know by coordinates only. Rows
// lie behind one another, with a pitch, and slices too.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/arrays/element_format.h"
#include "runtime/core/memory/memory.h"
#include "runtime/core/status/handles.h"

namespace accelerator::runtime {

/// Of how many elements an array is, and of which.
struct ArrayShape {
  cudaChannelFormatDesc description{}; // as the program gave it
  ElementFormat element;
  cudaExtent extent{}; // the same; 0 where it has no such dimension
  unsigned flags = 0; // cudaArrayLayered and others

  bool layered() const {
    return (flags & cudaArrayLayered) != 0;
  }
  bool cubemap() const {
    return (flags & cudaArrayCubemap) != 0;
  }
  /// Coordinates of an element without layer and face.
  unsigned dimensions() const {
    if (extent.height == 0) {
      return 1;
    }
    return extent.depth == 0 || layered() || cubemap() ? 2 : 3;
  }
  std::size_t rows() const {
    return extent.height > 0 ? extent.height : 1;
  }
  std::size_t slices() const {
    return extent.depth > 0 ? extent.depth : 1;
  }
  std::size_t row_bytes() const {
    return extent.width * element.bytes();
  }
  /// Bytes from row to row.
  std::size_t pitch() const;
  /// Bytes from slice to slice.
  std::size_t slice() const {
    return pitch() * rows();
  }
  std::size_t bytes() const {
    return slice() * slices();
  }
  /// The shape of a level of an array of this shape.
  ArrayShape level(unsigned number) const;
  /// How many levels an array of this shape can have.
  unsigned most_levels() const;
};

/// @param mipmapped whether it is to have levels.
/// @throws Failure: cudaErrorInvalidValue for sizes and flags that do not go
/// together, or are too large; cudaErrorNotSupported for flags that are not
/// served; what format_of() throws.
ArrayShape make_shape(
    const cudaChannelFormatDesc& description,
    const cudaExtent& extent,
    unsigned flags,
    bool mipmapped);

/// An array, or a level of one.
struct Array {
  ArrayShape shape;
  std::uint64_t begin = 0; // address
  int device = 0;
  bool is_level = false; // whose memory goes with its MipmappedArray
};

/// An array with levels: its memory is one piece.
struct MipmappedArray {
  ArrayShape shape; // of level 0
  std::uint64_t begin = 0; // address
  int device = 0;
  std::vector<std::shared_ptr<Array>> levels;
};

/// The living arrays, levels among them: cudaArray_t and CUarray.
HandleTable<Array>& array_table();
/// cudaMipmappedArray_t and CUmipmappedArray.
HandleTable<MipmappedArray>& mipmapped_array_table();

/// Takes memory for an array.
/// @throws Failure: cudaErrorMemoryAllocation.
std::shared_ptr<Array> make_array(Memory& memory, const ArrayShape& shape);
/// @param levels how many are wanted; CUDA gives as many of them as there can
/// be, and at least one.
std::shared_ptr<MipmappedArray> make_mipmapped_array(
    Memory& memory,
    const ArrayShape& shape,
    unsigned levels);

/// Makes the handles of a device's arrays invalid; their memory is gone.
void forget_arrays_of(int device);

} // namespace accelerator::runtime

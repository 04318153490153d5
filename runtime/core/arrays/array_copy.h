// Copies from and to arrays, as copies of boxes of their memory.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <vector>

#include "runtime/core/memory/copy.h"

namespace accelerator::runtime {

/// One of the two places of a copy: an array, or memory.
struct CopyPlace {
  cudaArray_const_t array = nullptr;
  cudaPitchedPtr memory{}; // without an array
  cudaPos position{}; // x in bytes
};

/// A copy between places.
/// @param extent the width in bytes.
/// @throws Failure: cudaErrorInvalidResourceHandle for what is no array,
/// cudaErrorInvalidValue for what is outside of one or cuts through elements,
/// cudaErrorInvalidMemcpyDirection for an array that would be of the host.
CopyWork box_copy(
    const CopyPlace& to,
    const CopyPlace& from,
    const cudaExtent& extent,
    cudaMemcpyKind kind);

/// What cudaMemcpy3D means.
/// @throws Failure: as above; cudaErrorInvalidValue for an array and memory in
/// one place, and for elements of two sizes.
CopyWork box_copy(const cudaMemcpy3DParms& parameters);

/// Bytes that go on in the next row of an array where one ends, as with
/// cudaMemcpyToArray: several boxes, in order.
/// @param to and `from`: without slices; memory has one row and no pitch.
std::vector<CopyWork> rows_copy(
    const CopyPlace& to,
    const CopyPlace& from,
    std::size_t bytes,
    cudaMemcpyKind kind);

/// Where a copy to or from an array begins in it: to_array or from_array of its
/// work.
/// @param memory `to` or `from` of the work.
/// @throws Failure: cudaErrorInvalidResourceHandle when there is no such array
/// any more.
CopyPlace place_in_array(const void* array, const void* memory);

/// Bytes of an array's element; 1 without an array.
/// @throws Failure: cudaErrorInvalidResourceHandle.
std::size_t element_bytes(cudaArray_const_t array);

/// Parameters of cudaMemcpy3D whose copy is this one.
/// @throws Failure as place_in_array().
cudaMemcpy3DParms parameters_of(const CopyWork& work);

} // namespace accelerator::runtime

// CUDA arrays: made, freed, asked about. Each function is what the ones of that
// name in CUDA's runtime and driver do; it throws a Failure with the status
// that they answer.
#pragma once

#include <driver_types.h>

#include <memory>

#include "runtime/core/arrays/array.h"

namespace accelerator::runtime::operations {

void array_create(
    cudaArray_t* array,
    const cudaChannelFormatDesc& format,
    const cudaExtent& extent,
    unsigned flags);
/// Frees an array that is no level, when all work before is done.
void array_destroy(cudaArray_t array);
/// The array of a handle.
std::shared_ptr<Array> resolve_array(cudaArray_const_t array);

void mipmapped_array_create(
    cudaMipmappedArray_t* array,
    const cudaChannelFormatDesc& format,
    const cudaExtent& extent,
    unsigned levels,
    unsigned flags);
void mipmapped_array_destroy(cudaMipmappedArray_t array);
void mipmapped_array_get_level(
    cudaArray_t* level,
    cudaMipmappedArray_const_t array,
    unsigned number);

/// What only sparse arrays, those whose memory is mapped later, and those of
/// several planes have, of which there are none.
/// @throws Failure: cudaErrorInvalidValue, also for null.
void array_get_missing(const void* result, cudaArray_t array);
void mipmapped_array_get_missing(
    const void* result,
    cudaMipmappedArray_t array);

/// Elements that a texture of memory without rows can have.
void device_get_texture_1d_linear_max_width(
    size_t* elements,
    const cudaChannelFormatDesc& format,
    int device);

} // namespace accelerator::runtime::operations

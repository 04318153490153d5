// Copies from and to CUDA arrays with functions of their own; cudaMemcpy3D
// takes arrays, too. Source: CUDA runtime API, memory management.
#include "runtime/api/cudart/call.h"
#include "runtime/core/arrays/array_copy.h"
#include "runtime/core/operations/arrays/array_copies.h"
#include "runtime/core/operations/copies.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;

// The functions for runs of bytes are old, but programs call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

CopyPlace in_array(cudaArray_const_t array, std::size_t x, std::size_t y) {
  require(array != nullptr, cudaErrorInvalidResourceHandle);
  CopyPlace place;
  place.array = array;
  place.position = {x, y, 0};
  return place;
}

CopyPlace in_memory(
    const void* memory,
    std::size_t pitch = 0,
    std::size_t width = 0,
    std::size_t height = 0) {
  CopyPlace place;
  place.memory = {const_cast<void*>(memory), pitch, width, height};
  return place;
}

} // namespace

extern "C" {

cudaError_t cudaMemcpy2DToArray(
    cudaArray_t to,
    size_t x,
    size_t y,
    const void* from,
    size_t pitch,
    size_t width,
    size_t height,
    cudaMemcpyKind kind) {
  return call([&] {
    copy(
        nullptr,
        box_copy(
            in_array(to, x, y),
            in_memory(from, pitch, width, height),
            {width, height, 1},
            kind),
        true);
  });
}

cudaError_t cudaMemcpy2DToArrayAsync(
    cudaArray_t to,
    size_t x,
    size_t y,
    const void* from,
    size_t pitch,
    size_t width,
    size_t height,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  return call([&] {
    copy(
        stream,
        box_copy(
            in_array(to, x, y),
            in_memory(from, pitch, width, height),
            {width, height, 1},
            kind),
        false);
  });
}

cudaError_t cudaMemcpy2DFromArray(
    void* to,
    size_t pitch,
    cudaArray_const_t from,
    size_t x,
    size_t y,
    size_t width,
    size_t height,
    cudaMemcpyKind kind) {
  return call([&] {
    copy(
        nullptr,
        box_copy(
            in_memory(to, pitch, width, height),
            in_array(from, x, y),
            {width, height, 1},
            kind),
        true);
  });
}

cudaError_t cudaMemcpy2DFromArrayAsync(
    void* to,
    size_t pitch,
    cudaArray_const_t from,
    size_t x,
    size_t y,
    size_t width,
    size_t height,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  return call([&] {
    copy(
        stream,
        box_copy(
            in_memory(to, pitch, width, height),
            in_array(from, x, y),
            {width, height, 1},
            kind),
        false);
  });
}

cudaError_t cudaMemcpy2DArrayToArray(
    cudaArray_t to,
    size_t to_x,
    size_t to_y,
    cudaArray_const_t from,
    size_t from_x,
    size_t from_y,
    size_t width,
    size_t height,
    cudaMemcpyKind kind) {
  return call([&] {
    copy(
        nullptr,
        box_copy(
            in_array(to, to_x, to_y),
            in_array(from, from_x, from_y),
            {width, height, 1},
            kind),
        true);
  });
}

cudaError_t cudaMemcpyToArray(
    cudaArray_t to,
    size_t x,
    size_t y,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind) {
  return call([&] {
    copy_all(
        nullptr,
        rows_copy(in_array(to, x, y), in_memory(from), bytes, kind),
        true);
  });
}

cudaError_t cudaMemcpyToArrayAsync(
    cudaArray_t to,
    size_t x,
    size_t y,
    const void* from,
    size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  return call([&] {
    copy_all(
        stream,
        rows_copy(in_array(to, x, y), in_memory(from), bytes, kind),
        false);
  });
}

cudaError_t cudaMemcpyFromArray(
    void* to,
    cudaArray_const_t from,
    size_t x,
    size_t y,
    size_t bytes,
    cudaMemcpyKind kind) {
  return call([&] {
    copy_all(
        nullptr,
        rows_copy(in_memory(to), in_array(from, x, y), bytes, kind),
        true);
  });
}

cudaError_t cudaMemcpyFromArrayAsync(
    void* to,
    cudaArray_const_t from,
    size_t x,
    size_t y,
    size_t bytes,
    cudaMemcpyKind kind,
    cudaStream_t stream) {
  return call([&] {
    copy_all(
        stream,
        rows_copy(in_memory(to), in_array(from, x, y), bytes, kind),
        false);
  });
}

cudaError_t cudaMemcpyArrayToArray(
    cudaArray_t to,
    size_t to_x,
    size_t to_y,
    cudaArray_const_t from,
    size_t from_x,
    size_t from_y,
    size_t bytes,
    cudaMemcpyKind kind) {
  return call([&] {
    copy_all(
        nullptr,
        rows_copy(
            in_array(to, to_x, to_y),
            in_array(from, from_x, from_y),
            bytes,
            kind),
        true);
  });
}

} // extern "C"

PER_THREAD(8, cudaMemcpy2DToArray, _ptds)
PER_THREAD(8, cudaMemcpy2DFromArray, _ptds)
PER_THREAD(9, cudaMemcpy2DArrayToArray, _ptds)
PER_THREAD(6, cudaMemcpyToArray, _ptds)
PER_THREAD(6, cudaMemcpyFromArray, _ptds)
PER_THREAD(8, cudaMemcpyArrayToArray, _ptds)
PER_THREAD(9, cudaMemcpy2DToArrayAsync, _ptsz)
PER_THREAD(9, cudaMemcpy2DFromArrayAsync, _ptsz)
PER_THREAD(7, cudaMemcpyToArrayAsync, _ptsz)
PER_THREAD(7, cudaMemcpyFromArrayAsync, _ptsz)

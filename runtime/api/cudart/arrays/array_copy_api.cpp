// Copies from and to CUDA arrays with functions of their own; cudaMemcpy3D
// takes arrays, too. Source: CUDA runtime API, memory management.
#include <optional>

#include "runtime/api/cudart/call.h"
#include "runtime/core/arrays/array_copy.h"
#include "runtime/core/operations/arrays/array_copies.h"
#include "runtime/core/operations/copies.h"
#include "runtime/signatures/entry_points.h"

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

/// Copies a box, in a stream; without one it waits.
void copy_box(
    const CopyPlace& to,
    const CopyPlace& from,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind,
    std::optional<cudaStream_t> stream) {
  copy(
      stream.value_or(nullptr),
      box_copy(to, from, {width, height, 1}, kind),
      !stream);
}

/// Copies bytes row by row.
void copy_rows(
    const CopyPlace& to,
    const CopyPlace& from,
    std::size_t bytes,
    cudaMemcpyKind kind,
    std::optional<cudaStream_t> stream) {
  copy_all(stream.value_or(nullptr), rows_copy(to, from, bytes, kind), !stream);
}

// The functions, with a stream at the end or without one.

template <typename... Stream>
cudaError_t box_to_array(
    const char* function,
    cudaArray_t to,
    std::size_t x,
    std::size_t y,
    const void* from,
    std::size_t pitch,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind,
    Stream... stream) {
  return call(
      [&] {
        copy_box(
            in_array(to, x, y),
            in_memory(from, pitch, width, height),
            width,
            height,
            kind,
            std::optional<cudaStream_t>(stream...));
      },
      function);
}

template <typename... Stream>
cudaError_t box_from_array(
    const char* function,
    void* to,
    std::size_t pitch,
    cudaArray_const_t from,
    std::size_t x,
    std::size_t y,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind,
    Stream... stream) {
  return call(
      [&] {
        copy_box(
            in_memory(to, pitch, width, height),
            in_array(from, x, y),
            width,
            height,
            kind,
            std::optional<cudaStream_t>(stream...));
      },
      function);
}

cudaError_t box_of_arrays(
    const char* function,
    cudaArray_t to,
    std::size_t to_x,
    std::size_t to_y,
    cudaArray_const_t from,
    std::size_t from_x,
    std::size_t from_y,
    std::size_t width,
    std::size_t height,
    cudaMemcpyKind kind) {
  return call(
      [&] {
        copy_box(
            in_array(to, to_x, to_y),
            in_array(from, from_x, from_y),
            width,
            height,
            kind,
            {});
      },
      function);
}

template <typename... Stream>
cudaError_t rows_to_array(
    const char* function,
    cudaArray_t to,
    std::size_t x,
    std::size_t y,
    const void* from,
    std::size_t bytes,
    cudaMemcpyKind kind,
    Stream... stream) {
  return call(
      [&] {
        copy_rows(
            in_array(to, x, y),
            in_memory(from),
            bytes,
            kind,
            std::optional<cudaStream_t>(stream...));
      },
      function);
}

template <typename... Stream>
cudaError_t rows_from_array(
    const char* function,
    void* to,
    cudaArray_const_t from,
    std::size_t x,
    std::size_t y,
    std::size_t bytes,
    cudaMemcpyKind kind,
    Stream... stream) {
  return call(
      [&] {
        copy_rows(
            in_memory(to),
            in_array(from, x, y),
            bytes,
            kind,
            std::optional<cudaStream_t>(stream...));
      },
      function);
}

cudaError_t rows_of_arrays(
    const char* function,
    cudaArray_t to,
    std::size_t to_x,
    std::size_t to_y,
    cudaArray_const_t from,
    std::size_t from_x,
    std::size_t from_y,
    std::size_t bytes,
    cudaMemcpyKind kind) {
  return call(
      [&] {
        copy_rows(
            in_array(to, to_x, to_y),
            in_array(from, from_x, from_y),
            bytes,
            kind,
            {});
      },
      function);
}

} // namespace

ENTRY_POINT(8, cudaMemcpy2DToArray, box_to_array)
ENTRY_POINT(9, cudaMemcpy2DToArrayAsync, box_to_array)
ENTRY_POINT(8, cudaMemcpy2DFromArray, box_from_array)
ENTRY_POINT(9, cudaMemcpy2DFromArrayAsync, box_from_array)
ENTRY_POINT(9, cudaMemcpy2DArrayToArray, box_of_arrays)
ENTRY_POINT(6, cudaMemcpyToArray, rows_to_array)
ENTRY_POINT(7, cudaMemcpyToArrayAsync, rows_to_array)
ENTRY_POINT(6, cudaMemcpyFromArray, rows_from_array)
ENTRY_POINT(7, cudaMemcpyFromArrayAsync, rows_from_array)
ENTRY_POINT(8, cudaMemcpyArrayToArray, rows_of_arrays)

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

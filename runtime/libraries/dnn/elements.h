// The element types of cuDNN on the host.
// Source: cuDNN API, cudnnDataType_t.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>

namespace accelerator::dnn {

/// Bits of one element; 0 for a type that this library does not compute with.
/// Booleans are single bits, eight to a byte, the lowest bit first.
int bits_of(cudnnDataType_t type);

/// Bytes of `count` elements without gaps.
std::size_t bytes_of(cudnnDataType_t type, std::int64_t count);

/// Whether an array of T holds such elements as they are.
template <typename T>
bool is_type(cudnnDataType_t type);

/// Reads `count` elements, `stride` apart, from element `first` on.
template <typename T>
void load(
    cudnnDataType_t type,
    const void* memory,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    T* values);

/// Writes them, rounded to nearest even. Integers and 8-bit floating point are
/// saturated.
template <typename T>
void store(
    cudnnDataType_t type,
    void* memory,
    std::int64_t first,
    std::int64_t stride,
    std::int64_t count,
    const T* values);

/// Rounds values to what the type can hold.
template <typename T>
void round_to(cudnnDataType_t type, std::int64_t count, T* values);

} // namespace accelerator::dnn

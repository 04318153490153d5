// Where the elements of a matrix lie, in each of cuBLASLt's orders. Source:
// cuBLAS API, cublasLtOrder_t; for what it says in words alone of
// CUBLASLT_ORDER_COL4_4R2_8C, the tests of TVM's cuBLASLt.
#pragma once

#include <cublasLt.h>

#include <cstdint>

#include "runtime/libraries/blas/lt/descriptors.h"
#include "runtime/libraries/blas/numeric.h"
#include "runtime/libraries/blas/stream_work.h"

namespace accelerator::blas::lt {

/// Whether it is by columns or by rows.
bool has_plain_order(const MatrixLayout& layout);

/// Whether it is plain, or consists of tiles of 32 columns.
bool has_known_order(const MatrixLayout& layout);

/// The number of an element.
std::int64_t place_of(
    const MatrixLayout& layout,
    std::int64_t row,
    std::int64_t column);

/// Whether lines, or groups of tiles, do not overlap, which is what cuBLASLt's
/// header asks of a leading dimension.
bool lies_apart(const MatrixLayout& layout);

/// Where one of a batch begins.
const char* batch_of(const void* data, const MatrixLayout& layout, int i);

/// The memory of `count` matrices, whose sizes fit into an int.
Extent memory_of(const void* data, const MatrixLayout& layout, int count);

/// What is read of `count` matrices. Nothing is told of tiles with gaps.
Read read_of(const void* data, const MatrixLayout& layout, int count);

} // namespace accelerator::blas::lt

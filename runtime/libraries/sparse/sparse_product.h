// The product of two sparse matrices, row by row.
#pragma once

#include <cusparse.h>

#include <cstdint>
#include <vector>

#include "runtime/libraries/sparse/entries.h"

namespace accelerator::sparse {

/// A sparse matrix by rows, with the columns of each row in order.
struct Csr {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> columns;
  std::vector<Complex> values;

  std::int64_t nnz() const {
    return static_cast<std::int64_t>(columns.size());
  }
};

/// Computes a * b. Entries that come out as zero are entries all the same.
/// @param products how many numbers were multiplied, where that is wanted.
/// @returns whether all indices were within the matrices.
bool multiply(
    const char* function,
    const cusparseSpMatDescr& a,
    const cusparseSpMatDescr& b,
    Csr* result,
    std::int64_t* products);

} // namespace accelerator::sparse

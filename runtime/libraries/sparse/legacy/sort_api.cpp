// Entries in the order of their rows and columns, with a permutation that goes
// along, and what the other arrays of indices are: COO's rows and CSR's
// offsets.
#include <cusparse.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/libraries/sparse/entries.h"
#include "runtime/libraries/sparse/submit.h"

namespace accelerator::sparse {
namespace {

Extent integers(const int* pointer, std::int64_t count) {
  return array(pointer, sizeof(int), count);
}

/// Reorders an array as an order of numbers says.
void reorder(const std::vector<int>& order, int* values) {
  std::vector<int> sorted;
  for (const int k : order) {
    sorted.push_back(values[k]);
  }
  std::copy(sorted.begin(), sorted.end(), values);
}

/// Sorts by one array, entries that are equal there by another.
cusparseStatus_t sort_coordinates(
    const char* function,
    cusparseHandle_t handle,
    int rows,
    int columns,
    int nnz,
    int* first,
    int* second,
    int* permutation,
    void*) {
  if (const auto status = check(
          handle,
          {valid(rows >= 0 && columns >= 0 && nnz >= 0),
           valid(nnz == 0 || are_there(first, second))});
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit(
      function,
      handle,
      Memory(
          integers(first, nnz),
          integers(second, nnz),
          integers(permutation, permutation == nullptr ? 0 : nnz)),
      [=] {
        reads(
            {integers(first, nnz),
             integers(second, nnz),
             integers(permutation, permutation == nullptr ? 0 : nnz)});
        std::vector<int> order(nnz);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [=](int a, int b) {
          return std::pair(first[a], second[a]) <
              std::pair(first[b], second[b]);
        });
        reorder(order, first);
        reorder(order, second);
        if (permutation != nullptr) {
          reorder(order, permutation);
        }
        return true;
      });
}

/// Sorts the entries of each row of CSR, or column of CSC.
cusparseStatus_t sort_lines(
    const char* function,
    cusparseHandle_t handle,
    int lines,
    int across,
    int nnz,
    const cusparseMatDescr* description,
    const int* offsets,
    int* indices,
    int* permutation,
    void*) {
  if (const auto status = check(
          handle,
          {valid(lines >= 0 && across >= 0 && nnz >= 0),
           valid(are_there(description, offsets)),
           valid(nnz == 0 || indices != nullptr),
           {description == nullptr ||
                description->type == CUSPARSE_MATRIX_TYPE_GENERAL,
            CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED}});
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit(
      function,
      handle,
      Memory(
          integers(offsets, lines + std::int64_t{1}),
          integers(indices, nnz),
          integers(permutation, permutation == nullptr ? 0 : nnz)),
      [=, base = description->base] {
        reads(
            {integers(offsets, lines + std::int64_t{1}),
             integers(indices, nnz),
             integers(permutation, permutation == nullptr ? 0 : nnz)});
        for (int line = 0; line < lines; ++line) {
          const int begin = offsets[line] - base;
          const int end = offsets[line + 1] - base;
          if (begin < 0 || end < begin || end > nnz) {
            return is_outside(function, end, nnz);
          }
          std::vector<int> order(end - begin);
          std::iota(order.begin(), order.end(), 0);
          int* const its = indices + begin;
          std::stable_sort(order.begin(), order.end(), [its](int a, int b) {
            return its[a] < its[b];
          });
          reorder(order, its);
          if (permutation != nullptr) {
            reorder(order, permutation + begin);
          }
        }
        return true;
      });
}

cusparseStatus_t sort_by_columns(
    const char* function,
    cusparseHandle_t handle,
    int rows,
    int columns,
    int nnz,
    int* row_indices,
    int* column_indices,
    int* permutation,
    void* work) {
  return sort_coordinates(
      function,
      handle,
      rows,
      columns,
      nnz,
      column_indices,
      row_indices,
      permutation,
      work);
}

/// Of a matrix by columns, lines are these.
cusparseStatus_t sort_columns(
    const char* function,
    cusparseHandle_t handle,
    int rows,
    int columns,
    int nnz,
    const cusparseMatDescr* description,
    const int* offsets,
    int* indices,
    int* permutation,
    void* work) {
  return sort_lines(
      function,
      handle,
      columns,
      rows,
      nnz,
      description,
      offsets,
      indices,
      permutation,
      work);
}

cusparseStatus_t check_sizes(
    cusparseHandle_t handle,
    int rows,
    int columns,
    int nnz,
    const int*,
    const int*) {
  return check(handle, {valid(rows >= 0 && columns >= 0 && nnz >= 0)});
}

cusparseStatus_t write_identity(
    const char* function,
    cusparseHandle_t handle,
    int n,
    int* permutation) {
  if (const auto status =
          check(handle, {valid(n >= 0 && (n == 0 || permutation != nullptr))});
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit(function, handle, Memory(integers(permutation, n)), [=] {
    std::iota(permutation, permutation + n, 0);
    return true;
  });
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(3, cusparseCreateIdentityPermutation, write_identity)
ENTRY_POINT(
    7,
    cusparseXcoosort_bufferSizeExt,
    CheckedBy<check_sizes>::size_work)
ENTRY_POINT(8, cusparseXcoosortByRow, sort_coordinates)
ENTRY_POINT(8, cusparseXcoosortByColumn, sort_by_columns)
ENTRY_POINT(
    7,
    cusparseXcsrsort_bufferSizeExt,
    CheckedBy<check_sizes>::size_work)
ENTRY_POINT(9, cusparseXcsrsort, sort_lines)
ENTRY_POINT(
    7,
    cusparseXcscsort_bufferSizeExt,
    CheckedBy<check_sizes>::size_work)
ENTRY_POINT(9, cusparseXcscsort, sort_columns)

extern "C" {

// Rows have to be in order.
cusparseStatus_t cusparseXcoo2csr(
    cusparseHandle_t handle,
    const int* row_indices,
    int nnz,
    int rows,
    int* offsets,
    cusparseIndexBase_t base) {
  if (const auto status = check(
          handle,
          {valid(nnz >= 0 && rows >= 0 && is_base(base)),
           valid(offsets != nullptr && (nnz == 0 || row_indices != nullptr))});
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit(
      __func__,
      handle,
      Memory(
          integers(row_indices, nnz),
          integers(offsets, rows + std::int64_t{1})),
      [=, function = __func__] {
        reads({integers(row_indices, nnz)});
        std::vector<int> sums(rows + std::size_t{1});
        for (int k = 0; k < nnz; ++k) {
          const int row = row_indices[k] - base;
          if (row < 0 || row >= rows) {
            return is_outside(function, row, rows);
          }
          ++sums[row + 1];
        }
        sums[0] = base;
        std::partial_sum(sums.begin(), sums.end(), offsets);
        return true;
      });
}

cusparseStatus_t cusparseXcsr2coo(
    cusparseHandle_t handle,
    const int* offsets,
    int nnz,
    int rows,
    int* row_indices,
    cusparseIndexBase_t base) {
  if (const auto status = check(
          handle,
          {valid(nnz >= 0 && rows >= 0 && is_base(base)),
           valid(offsets != nullptr && (nnz == 0 || row_indices != nullptr))});
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit(
      __func__,
      handle,
      Memory(
          integers(row_indices, nnz),
          integers(offsets, rows + std::int64_t{1})),
      [=, function = __func__] {
        reads({integers(offsets, rows + std::int64_t{1})});
        for (int row = 0; row < rows; ++row) {
          const int begin = offsets[row] - base, end = offsets[row + 1] - base;
          if (begin < 0 || end < begin || end > nnz) {
            return is_outside(function, end, nnz);
          }
          std::fill(row_indices + begin, row_indices + end, row + base);
        }
        return true;
      });
}

} // extern "C"

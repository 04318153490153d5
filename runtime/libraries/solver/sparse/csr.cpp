#include "runtime/libraries/solver/sparse/csr.h"

#include <cusparse.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "runtime/libraries/solver/sparse/place.h"

namespace accelerator::solver::sparse {
namespace {

bool is_outside(const char* function, std::int64_t index, std::int64_t size) {
  std::fprintf(
      stderr,
      "torch_cuda: %s: illegal memory access: index %lld of %lld\n",
      function,
      static_cast<long long>(index),
      static_cast<long long>(size));
  return false;
}

} // namespace

cusolverStatus_t make_form(
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    cusparseMatDescr_t description,
    const int* offsets,
    const int* indices,
    Form* form) {
  const auto status = check_sparse(
      handle,
      {rows >= 0 && columns >= 0 && nnz >= 0,
       description != nullptr && offsets != nullptr,
       nnz == 0 || indices != nullptr});
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  if (cusparseGetMatType(description) != CUSPARSE_MATRIX_TYPE_GENERAL) {
    return CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  }
  *form = {
      rows,
      columns,
      nnz,
      static_cast<int>(cusparseGetMatIndexBase(description)),
      offsets,
      indices,
      offsets + 1};
  return CUSOLVER_STATUS_SUCCESS;
}

std::vector<Extent> memory_of(const Form& form) {
  return {
      vector(form.offsets, std::int64_t{form.rows} + 1),
      vector(form.indices, form.nnz)};
}

bool read_pattern(
    const char* function,
    const Form& form,
    Csr<char>* pattern,
    std::vector<int>* places) {
  *pattern = {};
  pattern->columns = form.columns;
  std::vector<int> line;
  for (int row = 0; row < form.rows; ++row) {
    const std::int64_t begin = std::int64_t{form.offsets[row]} - form.base;
    const std::int64_t end = std::int64_t{form.ends[row]} - form.base;
    if (begin < 0 || begin > form.nnz) {
      return is_outside(function, begin, form.nnz);
    }
    if (end < begin || end > form.nnz) {
      return is_outside(function, end, form.nnz);
    }
    line.resize(end - begin);
    std::iota(line.begin(), line.end(), static_cast<int>(begin));
    const int* const indices = form.indices;
    std::stable_sort(line.begin(), line.end(), [indices](int a, int b) {
      return indices[a] < indices[b];
    });
    pattern->begin_row();
    for (const int place : line) {
      const std::int64_t column = std::int64_t{indices[place]} - form.base;
      if (column < 0 || column >= form.columns) {
        return is_outside(function, column, form.columns);
      }
      pattern->add(static_cast<int>(column), 0);
      if (places != nullptr) {
        places->push_back(place);
      }
    }
  }
  return true;
}

} // namespace accelerator::solver::sparse

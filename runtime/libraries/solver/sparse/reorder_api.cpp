// Orders of rows and columns (symrcm, symmdq, symamd, metisnd), matrices in
// such an order (csrperm), and whether a pattern is symmetric (csrissym). All
// arrays are the host's. Source: cuSOLVER API, "High Level Function Reference"
// of cuSolverSP.
#include <cusolverSp.h>

#include <algorithm>

#include "runtime/libraries/solver/sparse/csr.h"
#include "runtime/libraries/solver/sparse/ordering.h"
#include "runtime/libraries/solver/sparse/place.h"

namespace accelerator::solver::sparse {
namespace {

/// Writes the order that a function has for the graph of a matrix.
template <std::vector<int> (*kFind)(const Graph&)>
cusolverStatus_t write_order(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    int nnz,
    cusparseMatDescr_t description,
    const int* offsets,
    const int* indices,
    int* order) {
  Form form;
  auto status =
      make_form(handle, rows, rows, nnz, description, offsets, indices, &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = check_sparse(handle, {rows == 0 || order != nullptr});
  }
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return perform(function, handle, Place::kHost, {}, {}, [=] {
    Csr<char> pattern;
    if (!read_pattern(function, form, &pattern, nullptr)) {
      return false;
    }
    const std::vector<int> found =
        kFind(make_graph(pattern.offsets, pattern.indices));
    std::copy(found.begin(), found.end(), order);
    return true;
  });
}

/// METIS's options have no effect.
cusolverStatus_t write_metis_order(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    int nnz,
    cusparseMatDescr_t description,
    const int* offsets,
    const int* indices,
    const std::int64_t*,
    int* order) {
  return write_order<nested_dissection>(
      function, handle, rows, nnz, description, offsets, indices, order);
}

/// Whether all numbers from 0 to size - 1 are there.
bool is_permutation(const int* order, int size) {
  std::vector<bool> is_there(size);
  for (int i = 0; i < size; ++i) {
    if (order[i] < 0 || order[i] >= size || is_there[order[i]]) {
      return false;
    }
    is_there[order[i]] = true;
  }
  return true;
}

cusolverStatus_t check_permutation(
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    cusparseMatDescr_t description,
    const int* offsets,
    const int* indices,
    const int* row_order,
    const int* column_order,
    Form* form) {
  const auto status = make_form(
      handle, rows, columns, nnz, description, offsets, indices, form);
  return status != CUSOLVER_STATUS_SUCCESS
      ? status
      : check_sparse(
            handle,
            {rows == 0 ||
                 (row_order != nullptr && is_permutation(row_order, rows)),
             columns == 0 ||
                 (column_order != nullptr &&
                  is_permutation(column_order, columns))});
}

/// Orders a matrix in place: entry (i, j) becomes what (row_order[i],
/// column_order[j]) was.
/// @param map of entries, which is ordered like them.
bool permute_in_place(
    const char* function,
    const Form& form,
    const int* row_order,
    const int* column_order,
    int* offsets,
    int* indices,
    int* map) {
  Csr<char> pattern;
  std::vector<int> places;
  if (!read_pattern(function, form, &pattern, &places)) {
    return false;
  }
  std::vector<int> column_place(form.columns);
  for (int j = 0; j < form.columns; ++j) {
    column_place[column_order[j]] = j;
  }
  const std::vector<int> old_map(map, map + form.nnz);
  std::vector<std::pair<int, int>> line;
  int next = 0;
  for (int i = 0; i < form.rows; ++i) {
    const int row = row_order[i];
    line.clear();
    for (int k = pattern.offsets[row]; k < pattern.offsets[row + 1]; ++k) {
      line.emplace_back(column_place[pattern.indices[k]], old_map[places[k]]);
    }
    std::sort(line.begin(), line.end());
    offsets[i] = next + form.base;
    for (const auto& [column, entry] : line) {
      indices[next] = column + form.base;
      map[next++] = entry;
    }
  }
  offsets[form.rows] = next + form.base;
  return true;
}

/// Whether the pattern has (j, i) where it has (i, j).
bool is_symmetric(const Csr<char>& pattern) {
  for (int row = 0; row < pattern.rows; ++row) {
    for (int k = pattern.offsets[row]; k < pattern.offsets[row + 1]; ++k) {
      const int column = pattern.indices[k];
      const auto begin = pattern.indices.begin();
      if (!std::binary_search(
              begin + pattern.offsets[column],
              begin + pattern.offsets[column + 1],
              row)) {
        return false;
      }
    }
  }
  return true;
}

} // namespace

ENTRY_POINT(7, cusolverSpXcsrsymrcmHost, write_order<reverse_cuthill_mckee>)
ENTRY_POINT(7, cusolverSpXcsrsymmdqHost, write_order<minimum_degree>)
ENTRY_POINT(7, cusolverSpXcsrsymamdHost, write_order<minimum_degree>)
ENTRY_POINT(8, cusolverSpXcsrmetisndHost, write_metis_order)

} // namespace accelerator::solver::sparse

using namespace accelerator::solver;

extern "C" {

cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    const cusparseMatDescr_t description,
    const int* offsets,
    const int* indices,
    const int* row_order,
    const int* column_order,
    size_t* bytes) {
  sparse::Form form;
  auto status = sparse::check_permutation(
      handle,
      rows,
      columns,
      nnz,
      description,
      offsets,
      indices,
      row_order,
      column_order,
      &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = sparse::check_sparse(handle, {bytes != nullptr});
  }
  if (status == CUSOLVER_STATUS_SUCCESS) {
    *bytes = sparse::kWorkBytes;
  }
  return status;
}

cusolverStatus_t cusolverSpXcsrpermHost(
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    const cusparseMatDescr_t description,
    int* offsets,
    int* indices,
    const int* row_order,
    const int* column_order,
    int* map,
    void*) {
  sparse::Form form;
  auto status = sparse::check_permutation(
      handle,
      rows,
      columns,
      nnz,
      description,
      offsets,
      indices,
      row_order,
      column_order,
      &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = sparse::check_sparse(handle, {nnz == 0 || map != nullptr});
  }
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  const char* const function = __func__;
  return sparse::perform(function, handle, sparse::Place::kHost, {}, {}, [=] {
    return sparse::permute_in_place(
        function, form, row_order, column_order, offsets, indices, map);
  });
}

cusolverStatus_t cusolverSpXcsrissymHost(
    cusolverSpHandle_t handle,
    int rows,
    int nnz,
    const cusparseMatDescr_t description,
    const int* offsets,
    const int* ends,
    const int* indices,
    int* answer) {
  sparse::Form form;
  auto status = sparse::make_form(
      handle, rows, rows, nnz, description, offsets, indices, &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = sparse::check_sparse(handle, {ends != nullptr, answer != nullptr});
  }
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  form.ends = ends;
  const char* const function = __func__;
  return sparse::perform(function, handle, sparse::Place::kHost, {}, {}, [=] {
    sparse::Csr<char> pattern;
    if (!sparse::read_pattern(function, form, &pattern, nullptr)) {
      return false;
    }
    *answer = sparse::is_symmetric(pattern) ? 1 : 0;
    return true;
  });
}

} // extern "C"

// Sums of two sparse matrices (csrgeam2).
#include <cusparse.h>

#include <algorithm>
#include <utility>

#include "runtime/libraries/sparse/context.h"
#include "runtime/libraries/sparse/entries.h"
#include "runtime/libraries/sparse/submit.h"

namespace accelerator::sparse {
namespace {

/// CSR with indices of 32 bits.
struct Summand {
  const cusparseMatDescr* description;
  int nnz;
  const void* values;
  const int* offsets;
  const int* indices;

  cusparseSpMatDescr describe(int rows, int columns, cudaDataType type) const {
    cusparseSpMatDescr matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.nnz = nnz;
    matrix.offsets = const_cast<int*>(offsets);
    matrix.indices = const_cast<int*>(indices);
    matrix.values = const_cast<void*>(values);
    matrix.base = description->base;
    matrix.type = type;
    return matrix;
  }
};

Rule is_general(const cusparseMatDescr* description) {
  return {
      description == nullptr ||
          description->type == CUSPARSE_MATRIX_TYPE_GENERAL,
      CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED};
}

cusparseStatus_t check_call(
    cusparseHandle_t handle,
    int rows,
    int columns,
    const Summand& a,
    const Summand& b,
    const cusparseMatDescr* c) {
  return check(
      handle,
      {valid(rows >= 0 && columns >= 0 && a.nnz >= 0 && b.nnz >= 0),
       valid(are_there(a.description, a.offsets)),
       valid(are_there(b.description, b.offsets, c)),
       valid(a.nnz == 0 || a.indices != nullptr),
       valid(b.nnz == 0 || b.indices != nullptr),
       is_general(a.description),
       is_general(b.description),
       is_general(c)});
}

/// The arrays of indices, which are all that the structure needs.
std::vector<Extent> structure_of(const cusparseSpMatDescr& matrix) {
  std::vector<Extent> extents = memory_of(matrix);
  extents.pop_back();
  return extents;
}

/// The columns of each row of the sum, and the values, when they are asked for.
struct Sum {
  std::vector<std::vector<std::int64_t>> columns;
  std::vector<std::vector<Complex>> values;

  std::int64_t write_offsets(const cusparseSpMatDescr& c) const {
    const auto rows = static_cast<std::int64_t>(columns.size());
    std::int64_t nnz = 0;
    for (std::int64_t row = 0; row <= rows; ++row) {
      write_index(c.index_type, c.offsets, row, c.base, nnz);
      nnz += row < rows ? static_cast<std::int64_t>(columns[row].size()) : 0;
    }
    return nnz;
  }
};

/// Adds up two matrices of the same size, row by row.
bool add(
    const char* function,
    const cusparseSpMatDescr& a,
    const Complex& alpha,
    const cusparseSpMatDescr& b,
    const Complex& beta,
    bool has_values,
    Sum* sum) {
  using Entry = std::pair<std::int64_t, Complex>;
  std::vector<std::vector<Entry>> rows(a.rows);
  using Factor = std::pair<const cusparseSpMatDescr*, Complex>;
  for (const auto& [matrix, factor] : {Factor(&a, alpha), Factor(&b, beta)}) {
    Pattern pattern;
    if (!read_pattern(function, *matrix, 0, &pattern)) {
      return false;
    }
    const auto values = has_values ? read_values<Complex>(*matrix, 0, pattern)
                                   : std::vector<Complex>(pattern.size());
    for (std::size_t k = 0; k < pattern.size(); ++k) {
      rows[pattern.rows[k]].emplace_back(
          pattern.columns[k], factor * values[k]);
    }
  }
  for (auto& row : rows) {
    std::stable_sort(
        row.begin(), row.end(), [](const Entry& first, const Entry& second) {
          return first.first < second.first;
        });
    auto& columns = sum->columns.emplace_back();
    auto& values = sum->values.emplace_back();
    for (const auto& [column, value] : row) {
      if (columns.empty() || columns.back() != column) {
        columns.push_back(column);
        values.emplace_back();
      }
      values.back() += value;
    }
  }
  return true;
}

cusparseStatus_t csrgeam2(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    int rows,
    int columns,
    const void* alpha,
    const cusparseMatDescr* description_a,
    int nnz_a,
    const void* values_a,
    const int* offsets_a,
    const int* indices_a,
    const void* beta,
    const cusparseMatDescr* description_b,
    int nnz_b,
    const void* values_b,
    const int* offsets_b,
    const int* indices_b,
    const cusparseMatDescr* description,
    void* values,
    int* offsets,
    int* indices,
    void*) {
  const Summand a{description_a, nnz_a, values_a, offsets_a, indices_a};
  const Summand b{description_b, nnz_b, values_b, offsets_b, indices_b};
  cusparseStatus_t status =
      check_call(handle, rows, columns, a, b, description);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    status = check({valid(are_there(alpha, beta, offsets))});
  }
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const Scalar first(handle, type, alpha), second(handle, type, beta);
  const auto left = a.describe(rows, columns, type);
  const auto right = b.describe(rows, columns, type);
  const Summand result{description, 0, values, offsets, indices};
  const auto c = result.describe(rows, columns, type);
  return submit(
      function,
      handle,
      Memory(
          memory_of(left),
          memory_of(right),
          array(offsets, sizeof(int), rows + std::int64_t{1}),
          first.extent(),
          second.extent()),
      [=] {
        Sum sum;
        if (!add(
                function,
                left,
                first.get<Complex>(),
                right,
                second.get<Complex>(),
                true,
                &sum)) {
          return false;
        }
        const std::int64_t nnz = sum.write_offsets(c);
        // How many there are is known when the work runs.
        if (!Memory(
                 array(c.indices, sizeof(int), nnz),
                 array(c.values, size_of(type), nnz))
                 .is_there(function)) {
          return false;
        }
        std::int64_t k = 0;
        for (std::size_t row = 0; row < sum.columns.size(); ++row) {
          for (const std::int64_t column : sum.columns[row]) {
            write_index(c.index_type, c.indices, k++, c.base, column);
          }
          const auto& its = sum.values[row];
          store(
              type,
              c.values,
              k - static_cast<std::int64_t>(its.size()),
              1,
              static_cast<std::int64_t>(its.size()),
              its.data());
        }
        return true;
      });
}

cusparseStatus_t size_csrgeam2_work(
    const char*,
    cudaDataType,
    cusparseHandle_t handle,
    int rows,
    int columns,
    const void*,
    const cusparseMatDescr* description_a,
    int nnz_a,
    const void* values_a,
    const int* offsets_a,
    const int* indices_a,
    const void*,
    const cusparseMatDescr* description_b,
    int nnz_b,
    const void* values_b,
    const int* offsets_b,
    const int* indices_b,
    const cusparseMatDescr* description,
    const void*,
    const int*,
    const int*,
    std::size_t* size) {
  return answer_work_size(
      check_call(
          handle,
          rows,
          columns,
          {description_a, nnz_a, values_a, offsets_a, indices_a},
          {description_b, nnz_b, values_b, offsets_b, indices_b},
          description),
      size);
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

// Writes where each row begins, and how many entries there are.
cusparseStatus_t cusparseXcsrgeam2Nnz(
    cusparseHandle_t handle,
    int rows,
    int columns,
    const cusparseMatDescr_t description_a,
    int nnz_a,
    const int* offsets_a,
    const int* indices_a,
    const cusparseMatDescr_t description_b,
    int nnz_b,
    const int* offsets_b,
    const int* indices_b,
    const cusparseMatDescr_t description_c,
    int* offsets_c,
    int* nnz_c,
    void*) {
  const Summand a{description_a, nnz_a, nullptr, offsets_a, indices_a};
  const Summand b{description_b, nnz_b, nullptr, offsets_b, indices_b};
  cusparseStatus_t status =
      check_call(handle, rows, columns, a, b, description_c);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    status = check({valid(are_there(offsets_c, nnz_c))});
  }
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const bool on_host = handle->pointer_mode == CUSPARSE_POINTER_MODE_HOST;
  const auto left = a.describe(rows, columns, CUDA_R_32F);
  const auto right = b.describe(rows, columns, CUDA_R_32F);
  const Summand result{description_c, 0, nullptr, offsets_c, nullptr};
  const auto c = result.describe(rows, columns, CUDA_R_32F);
  return (on_host ? submit_and_wait : submit)(
      __func__,
      handle,
      Memory(
          structure_of(left),
          structure_of(right),
          array(offsets_c, sizeof(int), rows + std::int64_t{1}),
          array(nnz_c, sizeof(int), on_host ? 0 : 1)),
      [=, function = __func__] {
        Sum sum;
        if (!add(function, left, 1, right, 1, false, &sum)) {
          return false;
        }
        *nnz_c = static_cast<int>(sum.write_offsets(c));
        return true;
      });
}

} // extern "C"

UNTYPED_ENTRY_POINTS(20, cusparse, csrgeam2_bufferSizeExt, size_csrgeam2_work)
UNTYPED_ENTRY_POINTS(20, cusparse, csrgeam2, csrgeam2)

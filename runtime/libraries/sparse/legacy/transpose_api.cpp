// CSR of a matrix as CSC, which is CSR of the transposed one.
#include <cusparse.h>

#include <algorithm>
#include <numeric>

#include "runtime/libraries/sparse/entries.h"
#include "runtime/libraries/sparse/submit.h"

namespace accelerator::sparse {
namespace {

cusparseSpMatDescr describe(
    cusparseFormat_t format,
    int rows,
    int columns,
    int nnz,
    const void* values,
    const int* offsets,
    const int* indices,
    cudaDataType type,
    cusparseIndexBase_t base) {
  cusparseSpMatDescr matrix;
  matrix.format = format;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.nnz = nnz;
  matrix.offsets = const_cast<int*>(offsets);
  matrix.indices = const_cast<int*>(indices);
  matrix.values = const_cast<void*>(values);
  matrix.type = type;
  matrix.base = base;
  return matrix;
}

cusparseStatus_t check_call(
    const cusparseContext* handle,
    int rows,
    int columns,
    int nnz,
    cudaDataType type,
    cusparseAction_t action,
    cusparseIndexBase_t base,
    cusparseCsr2CscAlg_t algorithm) {
  return check(
      {valid(handle != nullptr),
       valid(rows >= 0 && columns >= 0 && nnz >= 0),
       valid(is_base(base) && size_of(type) != 0),
       valid(
           action == CUSPARSE_ACTION_SYMBOLIC ||
           action == CUSPARSE_ACTION_NUMERIC),
       valid(algorithm == CUSPARSE_CSR2CSC_ALG_DEFAULT),
       supported(type != CUDA_R_32I)});
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(
    cusparseHandle_t handle,
    int rows,
    int columns,
    int nnz,
    const void*,
    const int*,
    const int*,
    void*,
    int*,
    int*,
    cudaDataType type,
    cusparseAction_t action,
    cusparseIndexBase_t base,
    cusparseCsr2CscAlg_t algorithm,
    std::size_t* size) {
  return answer_work_size(
      check_call(handle, rows, columns, nnz, type, action, base, algorithm),
      size);
}

cusparseStatus_t cusparseCsr2cscEx2(
    cusparseHandle_t handle,
    int rows,
    int columns,
    int nnz,
    const void* values,
    const int* offsets,
    const int* indices,
    void* csc_values,
    int* csc_offsets,
    int* csc_indices,
    cudaDataType type,
    cusparseAction_t action,
    cusparseIndexBase_t base,
    cusparseCsr2CscAlg_t algorithm,
    void*) {
  if (const auto status =
          check_call(handle, rows, columns, nnz, type, action, base, algorithm);
      status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  const bool has_values = action == CUSPARSE_ACTION_NUMERIC;
  const auto from = describe(
      CUSPARSE_FORMAT_CSR,
      rows,
      columns,
      nnz,
      values,
      offsets,
      indices,
      type,
      base);
  const auto to = describe(
      CUSPARSE_FORMAT_CSC,
      rows,
      columns,
      nnz,
      csc_values,
      csc_offsets,
      csc_indices,
      type,
      base);
  const auto memory = [&](const cusparseSpMatDescr& matrix) {
    return std::vector<Extent>{
        array(matrix.offsets, sizeof(int), offsets_count(matrix)),
        array(matrix.indices, sizeof(int), nnz),
        array(matrix.values, size_of(type), has_values ? nnz : 0)};
  };
  return submit(
      __func__,
      handle,
      Memory(memory(from), memory(to)),
      [from, to, has_values, function = __func__] {
        Pattern pattern;
        if (!read_pattern(function, from, 0, &pattern)) {
          return false;
        }
        const auto count = static_cast<std::int64_t>(pattern.size());
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        const auto& columns = pattern.columns;
        std::stable_sort(
            order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
              return columns[a] < columns[b];
            });
        std::vector<std::int64_t> sums(offsets_count(to));
        for (const std::int64_t column : columns) {
          ++sums[column + 1];
        }
        std::partial_sum(sums.begin(), sums.end(), sums.begin());
        for (std::int64_t i = 0; i < offsets_count(to); ++i) {
          write_index(to.index_type, to.offsets, i, to.base, sums[i]);
        }
        for (std::int64_t k = 0; k < count; ++k) {
          write_index(
              to.index_type, to.indices, k, to.base, pattern.rows[order[k]]);
          if (has_values) {
            Complex value;
            load(
                from.type, from.values, pattern.places[order[k]], 1, 1, &value);
            store(to.type, to.values, k, 1, 1, &value);
          }
        }
        return true;
      });
}

} // extern "C"

// Solutions of triangular systems whose matrix is in BSR, for a vector (bsrsv2)
// and a matrix (bsrsm2).
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>

#include "runtime/libraries/sparse/legacy/blocks.h"
#include "runtime/libraries/sparse/legacy/pivots.h"
#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/triangular.h"

struct bsrsv2Info : accelerator::sparse::Pivot {};
struct bsrsm2Info : accelerator::sparse::Pivot {};

namespace accelerator::sparse {
namespace {

/// op(a) * op(x) = alpha * op(b).
struct BlockSystem {
  cusparseHandle_t handle;
  cusparseSpMatDescr a;
  Triangle triangle;
  cusparseOperation_t op_x;
  cudaDataType type;
};

/// The first block on the diagonal that is missing.
/// @param counts_values whether one with a zero on its diagonal counts too.
int first_zero_pivot(
    const BlockSystem& system,
    const Entries& entries,
    bool counts_values) {
  const std::int64_t block = system.a.block;
  std::vector<bool> is_good(system.a.rows);
  for (std::size_t k = 0; k < entries.pattern.size(); ++k) {
    const std::int64_t row = entries.pattern.rows[k];
    if (row == entries.pattern.columns[k]) {
      is_good[row] = !counts_values || entries.values[k] != Complex();
    }
  }
  for (std::int64_t row = 0; row < system.a.rows; ++row) {
    if (!is_good[row]) {
      return static_cast<int>(row / block) + system.a.base;
    }
  }
  return kNoPivot;
}

bool read_entries(
    const char* function,
    const BlockSystem& system,
    Entries* entries) {
  if (!read_pattern(function, system.a, 0, &entries->pattern)) {
    return false;
  }
  entries->values = read_values<Complex>(system.a, 0, entries->pattern);
  return true;
}

bool needs_pivots(const BlockSystem& system) {
  return system.triangle.diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT;
}

/// Looks for blocks that are missing.
cusparseStatus_t analyse(
    const char* function,
    const BlockSystem& system,
    const Pivot* info) {
  if (info == nullptr) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return submit(
      function,
      system.handle,
      Memory(memory_of(system.a)),
      [function, system, zeros = info->zeros] {
        Entries entries;
        if (!read_entries(function, system, &entries)) {
          return false;
        }
        zeros->structural = needs_pivots(system)
            ? first_zero_pivot(system, entries, false)
            : kNoPivot;
        zeros->first = zeros->structural.load();
        return true;
      });
}

/// Writes solutions the way that right sides are read.
template <typename W>
void write_result(
    const cusparseDnMatDescr& x,
    cusparseOperation_t op,
    const Dense<W>& result) {
  if (op == kAsIs) {
    return write_dense(x, 0, result);
  }
  Dense<W> turned(result.columns, result.rows);
  for (std::int64_t i = 0; i < result.rows; ++i) {
    for (std::int64_t j = 0; j < result.columns; ++j) {
      const W value = result.row(i)[j];
      turned.row(j)[i] =
          op == CUSPARSE_OPERATION_TRANSPOSE ? value : conjugate(value);
    }
  }
  write_dense(x, 0, turned);
}

cusparseStatus_t solve_blocks(
    const char* function,
    const BlockSystem& system,
    const Pivot* info,
    const void* alpha,
    const cusparseDnMatDescr& b,
    const cusparseDnMatDescr& x) {
  if (!are_there(info, alpha)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const Scalar factor(system.handle, system.type, alpha);
  return submit(
      function,
      system.handle,
      Memory(memory_of(system.a), memory_of(b), memory_of(x), factor.extent()),
      [function, system, factor, b, x, zeros = info->zeros] {
        return as_wide(system.type, [&](auto zero) {
          using W = decltype(zero);
          Entries entries;
          if (!read_entries(function, system, &entries)) {
            return false;
          }
          // Zeros of the solution before do not count: the values may be
          // others now.
          const int own = needs_pivots(system)
              ? first_zero_pivot(system, entries, true)
              : kNoPivot;
          zeros->first = first_of(zeros->structural, own);
          Dense<W> result = read_dense<W>(b, 0, system.op_x);
          for (W& value : result.values) {
            value *= factor.template get<W>();
          }
          solve(entries, system.triangle, result);
          write_result(x, system.op_x, result);
          return true;
        });
      });
}

/// The system that a call names, when it is right.
cusparseStatus_t make_system(
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    cusparseOperation_t op_a,
    cusparseOperation_t op_x,
    int block_rows,
    int columns,
    int blocks,
    const cusparseMatDescr* description,
    cudaDataType type,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    BlockSystem* system) {
  cusparseStatus_t status = check_blocks(
      handle,
      direction,
      block_rows,
      block_rows,
      blocks,
      description,
      values,
      offsets,
      indices,
      block);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    status = check(
        {valid(is_operation(op_a) && is_operation(op_x)), valid(columns >= 0)});
  }
  if (status == CUSPARSE_STATUS_SUCCESS) {
    *system = {
        handle,
        describe_blocks(
            direction,
            block_rows,
            block_rows,
            blocks,
            *description,
            type,
            values,
            offsets,
            indices,
            block),
        {description->fill_mode, description->diagonal, op_a},
        op_x,
        type};
  }
  return status;
}

/// A matrix of right sides or solutions, which may be stored transposed.
cusparseDnMatDescr describe_sides(
    const BlockSystem& system,
    int columns,
    int leading,
    const void* values) {
  const bool is_turned = system.op_x != kAsIs;
  return describe_dense(
      is_turned ? columns : system.a.rows,
      is_turned ? system.a.rows : columns,
      leading,
      system.type,
      values);
}

bool is_leading(const BlockSystem& system, int columns, int leading) {
  const std::int64_t least = system.op_x == kAsIs ? system.a.rows : columns;
  return leading >= std::max<std::int64_t>(1, least);
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

cusparseStatus_t cusparseCreateBsrsv2Info(bsrsv2Info_t* info) {
  return create(info);
}

cusparseStatus_t cusparseDestroyBsrsv2Info(bsrsv2Info_t info) {
  return destroy(info);
}

cusparseStatus_t cusparseXbsrsv2_zeroPivot(
    cusparseHandle_t handle,
    bsrsv2Info_t info,
    int* position) {
  return zero_pivot(handle, info, position);
}

cusparseStatus_t cusparseCreateBsrsm2Info(bsrsm2Info_t* info) {
  return create(info);
}

cusparseStatus_t cusparseDestroyBsrsm2Info(bsrsm2Info_t info) {
  return destroy(info);
}

cusparseStatus_t cusparseXbsrsm2_zeroPivot(
    cusparseHandle_t handle,
    bsrsm2Info_t info,
    int* position) {
  return zero_pivot(handle, info, position);
}

// What all functions of one type have to be told of a matrix.
#define ACCEL_MATRIX(Const, Api)                                       \
  int blocks, const cusparseMatDescr_t description, Const Api *values, \
      const int *offsets, const int *indices, int block

#define ACCEL_SYSTEM(op_x, columns, type)      \
  BlockSystem system;                          \
  const cusparseStatus_t status = make_system( \
      handle,                                  \
      direction,                               \
      op,                                      \
      op_x,                                    \
      block_rows,                              \
      columns,                                 \
      blocks,                                  \
      description,                             \
      type,                                    \
      values,                                  \
      offsets,                                 \
      indices,                                 \
      block,                                   \
      &system)

#define ACCEL_API(L, Api, type)                                                \
  cusparseStatus_t cusparse##L##bsrsv2_bufferSize(                             \
      cusparseHandle_t handle,                                                 \
      cusparseDirection_t direction,                                           \
      cusparseOperation_t op,                                                  \
      int block_rows,                                                          \
      ACCEL_MATRIX(, Api),                                                     \
      bsrsv2Info_t,                                                            \
      int* size) {                                                             \
    ACCEL_SYSTEM(kAsIs, 1, type);                                              \
    return answer_work_size(status, size);                                     \
  }                                                                            \
  cusparseStatus_t cusparse##L##bsrsv2_analysis(                               \
      cusparseHandle_t handle,                                                 \
      cusparseDirection_t direction,                                           \
      cusparseOperation_t op,                                                  \
      int block_rows,                                                          \
      ACCEL_MATRIX(const, Api),                                                \
      bsrsv2Info_t info,                                                       \
      cusparseSolvePolicy_t,                                                   \
      void*) {                                                                 \
    ACCEL_SYSTEM(kAsIs, 1, type);                                              \
    return status == CUSPARSE_STATUS_SUCCESS ? analyse(__func__, system, info) \
                                             : status;                         \
  }                                                                            \
  cusparseStatus_t cusparse##L##bsrsv2_solve(                                  \
      cusparseHandle_t handle,                                                 \
      cusparseDirection_t direction,                                           \
      cusparseOperation_t op,                                                  \
      int block_rows,                                                          \
      int blocks,                                                              \
      const Api* alpha,                                                        \
      const cusparseMatDescr_t description,                                    \
      const Api* values,                                                       \
      const int* offsets,                                                      \
      const int* indices,                                                      \
      int block,                                                               \
      bsrsv2Info_t info,                                                       \
      const Api* b,                                                            \
      Api* x,                                                                  \
      cusparseSolvePolicy_t,                                                   \
      void*) {                                                                 \
    ACCEL_SYSTEM(kAsIs, 1, type);                                              \
    const int rows = static_cast<int>(system.a.rows);                          \
    return status == CUSPARSE_STATUS_SUCCESS                                   \
        ? solve_blocks(                                                        \
              __func__,                                                        \
              system,                                                          \
              info,                                                            \
              alpha,                                                           \
              describe_sides(system, 1, rows, b),                              \
              describe_sides(system, 1, rows, x))                              \
        : status;                                                              \
  }                                                                            \
  cusparseStatus_t cusparse##L##bsrsm2_bufferSize(                             \
      cusparseHandle_t handle,                                                 \
      cusparseDirection_t direction,                                           \
      cusparseOperation_t op,                                                  \
      cusparseOperation_t op_x,                                                \
      int block_rows,                                                          \
      int columns,                                                             \
      ACCEL_MATRIX(, Api),                                                     \
      bsrsm2Info_t,                                                            \
      int* size) {                                                             \
    ACCEL_SYSTEM(op_x, columns, type);                                         \
    return answer_work_size(status, size);                                     \
  }                                                                            \
  cusparseStatus_t cusparse##L##bsrsm2_analysis(                               \
      cusparseHandle_t handle,                                                 \
      cusparseDirection_t direction,                                           \
      cusparseOperation_t op,                                                  \
      cusparseOperation_t op_x,                                                \
      int block_rows,                                                          \
      int columns,                                                             \
      ACCEL_MATRIX(const, Api),                                                \
      bsrsm2Info_t info,                                                       \
      cusparseSolvePolicy_t,                                                   \
      void*) {                                                                 \
    ACCEL_SYSTEM(op_x, columns, type);                                         \
    return status == CUSPARSE_STATUS_SUCCESS ? analyse(__func__, system, info) \
                                             : status;                         \
  }                                                                            \
  cusparseStatus_t cusparse##L##bsrsm2_solve(                                  \
      cusparseHandle_t handle,                                                 \
      cusparseDirection_t direction,                                           \
      cusparseOperation_t op,                                                  \
      cusparseOperation_t op_x,                                                \
      int block_rows,                                                          \
      int columns,                                                             \
      int blocks,                                                              \
      const Api* alpha,                                                        \
      const cusparseMatDescr_t description,                                    \
      const Api* values,                                                       \
      const int* offsets,                                                      \
      const int* indices,                                                      \
      int block,                                                               \
      bsrsm2Info_t info,                                                       \
      const Api* b,                                                            \
      int ldb,                                                                 \
      Api* x,                                                                  \
      int ldx,                                                                 \
      cusparseSolvePolicy_t,                                                   \
      void*) {                                                                 \
    ACCEL_SYSTEM(op_x, columns, type);                                         \
    if (status != CUSPARSE_STATUS_SUCCESS) {                                   \
      return status;                                                           \
    }                                                                          \
    return is_leading(system, columns, ldb) &&                                 \
            is_leading(system, columns, ldx)                                   \
        ? solve_blocks(                                                        \
              __func__,                                                        \
              system,                                                          \
              info,                                                            \
              alpha,                                                           \
              describe_sides(system, columns, ldb, b),                         \
              describe_sides(system, columns, ldx, x))                         \
        : CUSPARSE_STATUS_INVALID_VALUE;                                       \
  }
ACCEL_API(S, float, CUDA_R_32F)
ACCEL_API(D, double, CUDA_R_64F)
ACCEL_API(C, cuComplex, CUDA_C_32F)
ACCEL_API(Z, cuDoubleComplex, CUDA_C_64F)
#undef ACCEL_API
#undef ACCEL_SYSTEM
#undef ACCEL_MATRIX

} // extern "C"

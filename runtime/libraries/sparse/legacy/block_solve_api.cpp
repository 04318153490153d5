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

/// What is done before a solution: the work area's size, or an analysis, which
/// looks for blocks that are missing.
cusparseStatus_t begin(
    const char*,
    cusparseStatus_t status,
    const BlockSystem&,
    const Pivot*,
    int* size) {
  return answer_work_size(status, size);
}
cusparseStatus_t begin(
    const char* function,
    cusparseStatus_t status,
    const BlockSystem& system,
    const Pivot* info,
    cusparseSolvePolicy_t,
    void*) {
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
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
  cusparseStatus_t status = describe_blocks(
      handle,
      direction,
      block_rows,
      block_rows,
      blocks,
      description,
      type,
      values,
      offsets,
      indices,
      block,
      &system->a);
  if (status == CUSPARSE_STATUS_SUCCESS) {
    status = check(
        {valid(is_operation(op_a) && is_operation(op_x)), valid(columns >= 0)});
  }
  if (status == CUSPARSE_STATUS_SUCCESS) {
    system->handle = handle;
    system->triangle = {description->fill_mode, description->diagonal, op_a};
    system->op_x = op_x;
    system->type = type;
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

/// @param rest tells what is to be done.
template <typename... Rest>
cusparseStatus_t begin_bsrsv2(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    cusparseOperation_t op,
    int block_rows,
    int blocks,
    const cusparseMatDescr* description,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    const bsrsv2Info* info,
    Rest... rest) {
  BlockSystem system;
  const cusparseStatus_t status = make_system(
      handle,
      direction,
      op,
      kAsIs,
      block_rows,
      1,
      blocks,
      description,
      type,
      values,
      offsets,
      indices,
      block,
      &system);
  return begin(function, status, system, info, rest...);
}

cusparseStatus_t solve_bsrsv2(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    cusparseOperation_t op,
    int block_rows,
    int blocks,
    const void* alpha,
    const cusparseMatDescr* description,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    const bsrsv2Info* info,
    const void* b,
    void* x,
    cusparseSolvePolicy_t,
    void*) {
  BlockSystem system;
  const cusparseStatus_t status = make_system(
      handle,
      direction,
      op,
      kAsIs,
      block_rows,
      1,
      blocks,
      description,
      type,
      values,
      offsets,
      indices,
      block,
      &system);
  const int rows = static_cast<int>(system.a.rows);
  return status != CUSPARSE_STATUS_SUCCESS
      ? status
      : solve_blocks(
            function,
            system,
            info,
            alpha,
            describe_sides(system, 1, rows, b),
            describe_sides(system, 1, rows, x));
}

template <typename... Rest>
cusparseStatus_t begin_bsrsm2(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    cusparseOperation_t op,
    cusparseOperation_t op_x,
    int block_rows,
    int columns,
    int blocks,
    const cusparseMatDescr* description,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    const bsrsm2Info* info,
    Rest... rest) {
  BlockSystem system;
  const cusparseStatus_t status = make_system(
      handle,
      direction,
      op,
      op_x,
      block_rows,
      columns,
      blocks,
      description,
      type,
      values,
      offsets,
      indices,
      block,
      &system);
  return begin(function, status, system, info, rest...);
}

cusparseStatus_t solve_bsrsm2(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    cusparseOperation_t op,
    cusparseOperation_t op_x,
    int block_rows,
    int columns,
    int blocks,
    const void* alpha,
    const cusparseMatDescr* description,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    const bsrsm2Info* info,
    const void* b,
    int ldb,
    void* x,
    int ldx,
    cusparseSolvePolicy_t,
    void*) {
  BlockSystem system;
  const cusparseStatus_t status = make_system(
      handle,
      direction,
      op,
      op_x,
      block_rows,
      columns,
      blocks,
      description,
      type,
      values,
      offsets,
      indices,
      block,
      &system);
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return is_leading(system, columns, ldb) && is_leading(system, columns, ldx)
      ? solve_blocks(
            function,
            system,
            info,
            alpha,
            describe_sides(system, columns, ldb, b),
            describe_sides(system, columns, ldx, x))
      : CUSPARSE_STATUS_INVALID_VALUE;
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(1, cusparseCreateBsrsv2Info, create)
ENTRY_POINT(1, cusparseDestroyBsrsv2Info, destroy)
ENTRY_POINT(3, cusparseXbsrsv2_zeroPivot, zero_pivot)
UNTYPED_ENTRY_POINTS(12, cusparse, bsrsv2_bufferSize, begin_bsrsv2)
UNTYPED_ENTRY_POINTS(13, cusparse, bsrsv2_analysis, begin_bsrsv2)
UNTYPED_ENTRY_POINTS(16, cusparse, bsrsv2_solve, solve_bsrsv2)

ENTRY_POINT(1, cusparseCreateBsrsm2Info, create)
ENTRY_POINT(1, cusparseDestroyBsrsm2Info, destroy)
ENTRY_POINT(3, cusparseXbsrsm2_zeroPivot, zero_pivot)
UNTYPED_ENTRY_POINTS(14, cusparse, bsrsm2_bufferSize, begin_bsrsm2)
UNTYPED_ENTRY_POINTS(15, cusparse, bsrsm2_analysis, begin_bsrsm2)
UNTYPED_ENTRY_POINTS(20, cusparse, bsrsm2_solve, solve_bsrsm2)

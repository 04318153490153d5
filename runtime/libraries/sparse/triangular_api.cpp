// Solutions of sparse triangular systems, for a vector (SpSV) and a matrix
// (SpSM). The analysis takes the matrix's entries as they are then; a solution
// is with those, or with what the update function has put in their place.
#include <cusparse.h>

#include <memory>

#include "runtime/libraries/sparse/objects.h"
#include "runtime/libraries/sparse/submit.h"
#include "runtime/libraries/sparse/triangular.h"
#include "runtime/libraries/sparse/types.h"

namespace accelerator::sparse {

/// What the analysis of a triangular matrix has found out.
struct TriangularAnalysis {
  /// Is filled, and read, by work in streams.
  std::shared_ptr<Entries> entries;
  cusparseSpMatDescr matrix;
};

} // namespace accelerator::sparse

struct cusparseSpSVDescr : accelerator::sparse::TriangularAnalysis {};
struct cusparseSpSMDescr : accelerator::sparse::TriangularAnalysis {};

namespace accelerator::sparse {
namespace {

/// op(a) * c = alpha * op(b), of which vectors are one column.
struct System {
  cusparseHandle_t handle;
  cusparseOperation_t op_a;
  cusparseOperation_t op_b;
  const void* alpha;
  const cusparseSpMatDescr* a;
  cusparseDnMatDescr b;
  cusparseDnMatDescr c;
  cudaDataType compute;
};

cusparseStatus_t check_system(const System& system, bool takes_ell) {
  const cusparseSpMatDescr& a = *system.a;
  const bool is_turned = system.op_b != kAsIs;
  return check(
      {valid(is_operation(system.op_a) && is_operation(system.op_b)),
       valid(a.rows == a.columns),
       valid(a.rows == (is_turned ? system.b.columns : system.b.rows)),
       valid(a.rows == system.c.rows),
       valid(
           (is_turned ? system.b.rows : system.b.columns) == system.c.columns),
       valid(
           a.fill_mode == CUSPARSE_FILL_MODE_LOWER ||
           a.fill_mode == CUSPARSE_FILL_MODE_UPPER),
       valid(
           a.diagonal == CUSPARSE_DIAG_TYPE_NON_UNIT ||
           a.diagonal == CUSPARSE_DIAG_TYPE_UNIT),
       supported(a.index_type != CUSPARSE_INDEX_16U),
       supported(
           a.format == CUSPARSE_FORMAT_CSR || a.format == CUSPARSE_FORMAT_COO ||
           (takes_ell && a.format == CUSPARSE_FORMAT_SLICED_ELLPACK)),
       supported(
           a.batches == 1 && system.b.batches == 1 && system.c.batches == 1),
       supported(a.type == system.b.type),
       supported(are_plain({a.type, system.c.type, system.compute}))});
}

/// What a call does: it answers the work area's size, or analyses, or solves.
cusparseStatus_t perform(
    const char*,
    const System&,
    TriangularAnalysis*,
    std::size_t* size) {
  return answer_work_size(CUSPARSE_STATUS_SUCCESS, size);
}
cusparseStatus_t perform(
    const char* function,
    const System& system,
    TriangularAnalysis* analysis,
    void*) {
  const auto entries = std::make_shared<Entries>();
  const cusparseStatus_t status = submit(
      function,
      system.handle,
      Memory(memory_of(*system.a)),
      [function, a = *system.a, entries] {
        if (!read_pattern(function, a, 0, &entries->pattern)) {
          return false;
        }
        entries->values = read_values<Complex>(a, 0, entries->pattern);
        return true;
      });
  if (status == CUSPARSE_STATUS_SUCCESS) {
    analysis->entries = entries;
    analysis->matrix = *system.a;
  }
  return status;
}

cusparseStatus_t perform(
    const char* function,
    const System& system,
    const TriangularAnalysis* analysis) {
  if (analysis->entries == nullptr || analysis->matrix.rows != system.a->rows) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const Scalar alpha(system.handle, system.compute, system.alpha);
  const Triangle triangle{system.a->fill_mode, system.a->diagonal, system.op_a};
  return submit(
      function,
      system.handle,
      Memory(memory_of(system.b), memory_of(system.c), alpha.extent()),
      [system, alpha, triangle, entries = analysis->entries] {
        return as_wide(system.compute, [&](auto zero) {
          using W = decltype(zero);
          Dense<W> x = read_dense<W>(system.b, 0, system.op_b);
          for (W& value : x.values) {
            value *= alpha.get<W>();
          }
          solve(*entries, triangle, x);
          write_dense(system.c, 0, x);
          return true;
        });
      });
}

/// Puts new values in the place of all, or of those on the diagonal.
cusparseStatus_t update(
    const char* function,
    cusparseHandle_t handle,
    const TriangularAnalysis* analysis,
    const void* values,
    int part) {
  constexpr int kAll = CUSPARSE_SPSV_UPDATE_GENERAL;
  if (!are_there(handle, analysis, values) || analysis->entries == nullptr ||
      part < kAll || part > CUSPARSE_SPSV_UPDATE_DIAGONAL) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const cusparseSpMatDescr& matrix = analysis->matrix;
  const std::int64_t count = part == kAll ? values_count(matrix) : matrix.rows;
  return submit(
      function,
      handle,
      Memory(array(values, size_of(matrix.type), count)),
      [type = matrix.type, part, values, entries = analysis->entries] {
        const Pattern& pattern = entries->pattern;
        for (std::size_t k = 0; k < pattern.size(); ++k) {
          const std::int64_t row = pattern.rows[k];
          if (part == kAll) {
            load(type, values, pattern.places[k], 1, 1, &entries->values[k]);
          } else if (row == pattern.columns[k]) {
            load(type, values, row, 1, 1, &entries->values[k]);
          }
        }
        return true;
      });
}

/// @param last what there is behind the descriptor.
template <typename... Last>
cusparseStatus_t spsv(
    const char* function,
    cusparseHandle_t handle,
    cusparseOperation_t op,
    const void* alpha,
    const cusparseSpMatDescr* a,
    const cusparseDnVecDescr* x,
    const cusparseDnVecDescr* y,
    cudaDataType compute,
    int algorithm,
    TriangularAnalysis* analysis,
    Last... last) {
  if (!are_there(handle, alpha, a, x, y, analysis) || algorithm != 0) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const System system = {
      handle, op, kAsIs, alpha, a, as_matrix(*x), as_matrix(*y), compute};
  const cusparseStatus_t status = check_system(system, true);
  return status == CUSPARSE_STATUS_SUCCESS
      ? perform(function, system, analysis, last...)
      : status;
}

template <typename... Last>
cusparseStatus_t spsm(
    const char* function,
    cusparseHandle_t handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    const cusparseSpMatDescr* a,
    const cusparseDnMatDescr* b,
    const cusparseDnMatDescr* c,
    cudaDataType compute,
    int algorithm,
    TriangularAnalysis* analysis,
    Last... last) {
  if (!are_there(handle, alpha, a, b, c, analysis) || algorithm != 0) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const System system = {handle, op_a, op_b, alpha, a, *b, *c, compute};
  const cusparseStatus_t status = check_system(system, false);
  return status == CUSPARSE_STATUS_SUCCESS
      ? perform(function, system, analysis, last...)
      : status;
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

ENTRY_POINT(1, cusparseSpSV_createDescr, create)
ENTRY_POINT(1, cusparseSpSV_destroyDescr, destroy)
ENTRY_POINT(10, cusparseSpSV_bufferSize, spsv)
ENTRY_POINT(10, cusparseSpSV_analysis, spsv)
ENTRY_POINT(9, cusparseSpSV_solve, spsv)
ENTRY_POINT(4, cusparseSpSV_updateMatrix, update)

ENTRY_POINT(1, cusparseSpSM_createDescr, create)
ENTRY_POINT(1, cusparseSpSM_destroyDescr, destroy)
ENTRY_POINT(11, cusparseSpSM_bufferSize, spsm)
ENTRY_POINT(11, cusparseSpSM_analysis, spsm)
ENTRY_POINT(10, cusparseSpSM_solve, spsm)
ENTRY_POINT(4, cusparseSpSM_updateMatrix, update)

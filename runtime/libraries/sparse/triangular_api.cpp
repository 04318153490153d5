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

cusparseStatus_t check_vectors(
    cusparseHandle_t handle,
    cusparseOperation_t op,
    const void* alpha,
    const cusparseSpMatDescr* a,
    const cusparseDnVecDescr* x,
    const cusparseDnVecDescr* y,
    cudaDataType compute,
    int algorithm,
    const TriangularAnalysis* analysis,
    System* system) {
  if (!are_there(handle, alpha, a, x, y, analysis) || algorithm != 0) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  *system = {
      handle, op, kAsIs, alpha, a, as_matrix(*x), as_matrix(*y), compute};
  return check_system(*system, true);
}

cusparseStatus_t check_matrices(
    cusparseHandle_t handle,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    const cusparseSpMatDescr* a,
    const cusparseDnMatDescr* b,
    const cusparseDnMatDescr* c,
    cudaDataType compute,
    int algorithm,
    const TriangularAnalysis* analysis,
    System* system) {
  if (!are_there(handle, alpha, a, b, c, analysis) || algorithm != 0) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  *system = {handle, op_a, op_b, alpha, a, *b, *c, compute};
  return check_system(*system, false);
}

cusparseStatus_t analyse(
    const char* function,
    const System& system,
    TriangularAnalysis* analysis) {
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

cusparseStatus_t submit_solution(
    const char* function,
    const System& system,
    const TriangularAnalysis& analysis) {
  if (analysis.entries == nullptr || analysis.matrix.rows != system.a->rows) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  const Scalar alpha(system.handle, system.compute, system.alpha);
  const Triangle triangle{system.a->fill_mode, system.a->diagonal, system.op_a};
  return submit(
      function,
      system.handle,
      Memory(memory_of(system.b), memory_of(system.c), alpha.extent()),
      [system, alpha, triangle, entries = analysis.entries] {
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

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

#define ACCEL_OBJECTS(Kind)                                    \
  cusparseStatus_t cusparse##Kind##_createDescr(               \
      cusparse##Kind##Descr_t* descriptor) {                   \
    return create(descriptor);                                 \
  }                                                            \
  cusparseStatus_t cusparse##Kind##_destroyDescr(              \
      cusparse##Kind##Descr_t descriptor) {                    \
    return destroy(descriptor);                                \
  }                                                            \
  cusparseStatus_t cusparse##Kind##_updateMatrix(              \
      cusparseHandle_t handle,                                 \
      cusparse##Kind##Descr_t descriptor,                      \
      void* values,                                            \
      cusparse##Kind##Update_t part) {                         \
    return update(__func__, handle, descriptor, values, part); \
  }
ACCEL_OBJECTS(SpSV)
ACCEL_OBJECTS(SpSM)
#undef ACCEL_OBJECTS

// SpSV's functions, by how their parameters end.
#define ACCEL_SPSV(name, ...)      \
  cusparseStatus_t name(           \
      cusparseHandle_t handle,     \
      cusparseOperation_t op,      \
      const void* alpha,           \
      cusparseConstSpMatDescr_t a, \
      cusparseConstDnVecDescr_t x, \
      cusparseDnVecDescr_t y,      \
      cudaDataType compute,        \
      cusparseSpSVAlg_t algorithm, \
      __VA_ARGS__)
ACCEL_SPSV(
    cusparseSpSV_bufferSize,
    cusparseSpSVDescr_t descriptor,
    std::size_t* size) {
  System system;
  return answer_work_size(
      check_vectors(
          handle, op, alpha, a, x, y, compute, algorithm, descriptor, &system),
      size);
}

ACCEL_SPSV(cusparseSpSV_analysis, cusparseSpSVDescr_t descriptor, void*) {
  System system;
  const cusparseStatus_t status = check_vectors(
      handle, op, alpha, a, x, y, compute, algorithm, descriptor, &system);
  return status == CUSPARSE_STATUS_SUCCESS
      ? analyse(__func__, system, descriptor)
      : status;
}

ACCEL_SPSV(cusparseSpSV_solve, cusparseSpSVDescr_t descriptor) {
  System system;
  const cusparseStatus_t status = check_vectors(
      handle, op, alpha, a, x, y, compute, algorithm, descriptor, &system);
  return status == CUSPARSE_STATUS_SUCCESS
      ? submit_solution(__func__, system, *descriptor)
      : status;
}
#undef ACCEL_SPSV

// SpSM's functions, by how their parameters end.
#define ACCEL_SPSM(name, ...)      \
  cusparseStatus_t name(           \
      cusparseHandle_t handle,     \
      cusparseOperation_t op_a,    \
      cusparseOperation_t op_b,    \
      const void* alpha,           \
      cusparseConstSpMatDescr_t a, \
      cusparseConstDnMatDescr_t b, \
      cusparseDnMatDescr_t c,      \
      cudaDataType compute,        \
      cusparseSpSMAlg_t algorithm, \
      __VA_ARGS__)
ACCEL_SPSM(
    cusparseSpSM_bufferSize,
    cusparseSpSMDescr_t descriptor,
    std::size_t* size) {
  System system;
  return answer_work_size(
      check_matrices(
          handle,
          op_a,
          op_b,
          alpha,
          a,
          b,
          c,
          compute,
          algorithm,
          descriptor,
          &system),
      size);
}

ACCEL_SPSM(cusparseSpSM_analysis, cusparseSpSMDescr_t descriptor, void*) {
  System system;
  const cusparseStatus_t status = check_matrices(
      handle,
      op_a,
      op_b,
      alpha,
      a,
      b,
      c,
      compute,
      algorithm,
      descriptor,
      &system);
  return status == CUSPARSE_STATUS_SUCCESS
      ? analyse(__func__, system, descriptor)
      : status;
}

ACCEL_SPSM(cusparseSpSM_solve, cusparseSpSMDescr_t descriptor) {
  System system;
  const cusparseStatus_t status = check_matrices(
      handle,
      op_a,
      op_b,
      alpha,
      a,
      b,
      c,
      compute,
      algorithm,
      descriptor,
      &system);
  return status == CUSPARSE_STATUS_SUCCESS
      ? submit_solution(__func__, system, *descriptor)
      : status;
}
#undef ACCEL_SPSM

} // extern "C"

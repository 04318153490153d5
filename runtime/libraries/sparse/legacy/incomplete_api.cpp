// Incomplete factorizations of matrices in CSR and BSR: LU (csrilu02, bsrilu02)
// and Cholesky (csric02, bsric02). Those of blocks are those of their elements,
// because blocks are full. Source: cuSPARSE API, "cuSPARSE Preconditioners
// Reference".
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <cstdint>
#include <optional>

#include "runtime/libraries/sparse/legacy/blocks.h"
#include "runtime/libraries/sparse/legacy/incomplete.h"
#include "runtime/libraries/sparse/legacy/pivots.h"
#include "runtime/libraries/sparse/objects.h"

namespace accelerator::sparse {

struct Analysed : Pivot {
  /// That of the analysis, once there was one.
  std::optional<cusparseSolvePolicy_t> policy;
};

struct AnalysedLu : Analysed {
  Boost boost;
};

} // namespace accelerator::sparse

struct csrilu02Info : accelerator::sparse::AnalysedLu {};
struct bsrilu02Info : accelerator::sparse::AnalysedLu {};
struct csric02Info : accelerator::sparse::Analysed {};
struct bsric02Info : accelerator::sparse::Analysed {};

namespace accelerator::sparse {
namespace {

/// What work areas begin at a multiple of.
constexpr std::uintptr_t kWorkAlignment = 128;

cusparseStatus_t describe_square(
    cusparseHandle_t handle,
    int rows,
    int nnz,
    const cusparseMatDescr* description,
    cudaDataType type,
    const void* values,
    const int* offsets,
    const int* indices,
    cusparseSpMatDescr* matrix) {
  const auto status = check(
      handle,
      {valid(rows >= 0 && nnz >= 0),
       valid(are_there(description, offsets)),
       valid(nnz == 0 || are_there(values, indices)),
       {description == nullptr ||
            description->type == CUSPARSE_MATRIX_TYPE_GENERAL,
        CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED}});
  if (status == CUSPARSE_STATUS_SUCCESS) {
    matrix->rows = rows;
    matrix->columns = rows;
    matrix->nnz = nnz;
    matrix->offsets = const_cast<int*>(offsets);
    matrix->indices = const_cast<int*>(indices);
    matrix->values = const_cast<void*>(values);
    matrix->base = description->base;
    matrix->type = type;
  }
  return status;
}

cusparseStatus_t describe_square_of_blocks(
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    int block_rows,
    int blocks,
    const cusparseMatDescr* description,
    cudaDataType type,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    cusparseSpMatDescr* matrix) {
  const auto status = check_blocks(
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
    *matrix = describe_blocks(
        direction,
        block_rows,
        block_rows,
        blocks,
        *description,
        type,
        values,
        offsets,
        indices,
        block);
  }
  return status;
}

Rule work_area(const void* work) {
  return valid(reinterpret_cast<std::uintptr_t>(work) % kWorkAlignment == 0);
}

/// Where a row, or its block, is.
int position_of(const cusparseSpMatDescr& matrix, std::int64_t row) {
  return row == SortedRows::kNone
      ? kNoPivot
      : static_cast<int>(row / matrix.block) + matrix.base;
}

std::int64_t first_without_diagonal(const SortedRows& rows) {
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    if (rows.diagonal(row) == SortedRows::kNone) {
      return row;
    }
  }
  return SortedRows::kNone;
}

cusparseStatus_t analyse_square(
    const char* function,
    cusparseHandle_t handle,
    const cusparseSpMatDescr& matrix,
    Analysed* info,
    cusparseSolvePolicy_t policy,
    const void* work) {
  const auto status = check(
      {valid(are_there(info)),
       valid(
           policy == CUSPARSE_SOLVE_POLICY_NO_LEVEL ||
           policy == CUSPARSE_SOLVE_POLICY_USE_LEVEL),
       work_area(work)});
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  info->policy = policy;
  return submit(
      function,
      handle,
      Memory(memory_of(matrix)),
      [function, matrix, zeros = info->zeros] {
        Pattern pattern;
        if (!read_pattern(function, matrix, 0, &pattern)) {
          return false;
        }
        zeros->structural = position_of(
            matrix, first_without_diagonal(SortedRows(pattern, matrix.rows)));
        zeros->first = zeros->structural.load();
        return true;
      });
}

/// Calls with a zero of the type that elements have.
template <typename Call>
auto with_element(cudaDataType type, Call call) {
  switch (type) {
    case CUDA_R_32F:
      return call(0.0F);
    case CUDA_R_64F:
      return call(0.0);
    case CUDA_C_32F:
      return call(std::complex<float>());
    default:
      return call(std::complex<double>());
  }
}

/// Leaves the entries of the lower triangle.
Pattern lower_triangle(const Pattern& pattern) {
  Pattern lower;
  for (std::size_t k = 0; k < pattern.size(); ++k) {
    if (pattern.columns[k] <= pattern.rows[k]) {
      lower.rows.push_back(pattern.rows[k]);
      lower.columns.push_back(pattern.columns[k]);
      lower.places.push_back(pattern.places[k]);
    }
  }
  return lower;
}

/// Factors the entries of a pattern where they are.
/// @param factor is given rows and values, and returns the first row without a
/// pivot.
template <typename Factor>
void factor_entries(
    const cusparseSpMatDescr& matrix,
    const Pattern& pattern,
    Zeros& zeros,
    Factor factor) {
  std::vector<Complex> values = read_values<Complex>(matrix, 0, pattern);
  const std::int64_t first = with_element(matrix.type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> own;
    own.reserve(values.size());
    for (const Complex& value : values) {
      own.push_back(narrowed<T>(value));
    }
    const std::int64_t row = factor(SortedRows(pattern, matrix.rows), own);
    std::copy(own.begin(), own.end(), values.begin());
    return row;
  });
  write_values(matrix, 0, pattern, values);
  zeros.first = position_of(matrix, first);
}

/// @param factor is given the matrix's pattern and where zeros are told.
template <typename Factor>
cusparseStatus_t submit_factorization(
    const char* function,
    cusparseHandle_t handle,
    const cusparseSpMatDescr& matrix,
    const Analysed* info,
    cusparseSolvePolicy_t policy,
    const void* work,
    Factor factor) {
  // Without levels in the analysis there are none now.
  const auto status = check(
      {valid(are_there(info) && info->policy.has_value()),
       valid(
           policy == CUSPARSE_SOLVE_POLICY_NO_LEVEL ||
           (policy == CUSPARSE_SOLVE_POLICY_USE_LEVEL && info != nullptr &&
            info->policy == CUSPARSE_SOLVE_POLICY_USE_LEVEL)),
       work_area(work)});
  if (status != CUSPARSE_STATUS_SUCCESS) {
    return status;
  }
  return submit(
      function,
      handle,
      Memory(memory_of(matrix)),
      [function, matrix, factor, zeros = info->zeros] {
        Pattern pattern;
        if (!read_pattern(function, matrix, 0, &pattern)) {
          return false;
        }
        factor(pattern, *zeros);
        return true;
      });
}

cusparseStatus_t factor_square(
    const char* function,
    cusparseHandle_t handle,
    const cusparseSpMatDescr& matrix,
    const AnalysedLu* info,
    cusparseSolvePolicy_t policy,
    const void* work) {
  const Boost boost = info == nullptr ? Boost() : info->boost;
  return submit_factorization(
      function,
      handle,
      matrix,
      info,
      policy,
      work,
      [matrix, boost](const Pattern& pattern, Zeros& zeros) {
        factor_entries(
            matrix, pattern, zeros, [&](const SortedRows& rows, auto& values) {
              return factor_lu(rows, boost, values);
            });
      });
}

cusparseStatus_t factor_square(
    const char* function,
    cusparseHandle_t handle,
    const cusparseSpMatDescr& matrix,
    const Analysed* info,
    cusparseSolvePolicy_t policy,
    const void* work) {
  return submit_factorization(
      function,
      handle,
      matrix,
      info,
      policy,
      work,
      [matrix](const Pattern& pattern, Zeros& zeros) {
        factor_entries(
            matrix,
            lower_triangle(pattern),
            zeros,
            [](const SortedRows& rows, auto& values) {
              return factor_cholesky(rows, values);
            });
      });
}

/// Reads tolerance and value now, even from the device: factorizations may run
/// in other streams.
cusparseStatus_t set_boost(
    const char* function,
    cusparseHandle_t handle,
    AnalysedLu* info,
    int is_on,
    const double* tolerance,
    cudaDataType type,
    const void* value) {
  const auto checked = check(
      handle,
      {valid(are_there(info)),
       valid(is_on == 0 || are_there(tolerance, value))});
  if (checked != CUSPARSE_STATUS_SUCCESS) {
    return checked;
  }
  if (is_on == 0) {
    info->boost = {};
    return CUSPARSE_STATUS_SUCCESS;
  }
  const Scalar its_tolerance(handle, CUDA_R_64F, tolerance);
  const Scalar its_value(handle, type, value);
  const auto read = [&] {
    info->boost = {true, its_tolerance.get<double>(), its_value.get<Complex>()};
    return true;
  };
  if (handle->pointer_mode == CUSPARSE_POINTER_MODE_HOST) {
    read();
    return CUSPARSE_STATUS_SUCCESS;
  }
  return submit_and_wait(
      function,
      handle,
      Memory(its_tolerance.extent(), its_value.extent()),
      read);
}

} // namespace
} // namespace accelerator::sparse

using namespace accelerator::sparse;

extern "C" {

#define ACCEL_INFO(Kind, kind)                                      \
  cusparseStatus_t cusparseCreate##Kind##Info(kind##Info_t* info) { \
    return create(info);                                            \
  }                                                                 \
  cusparseStatus_t cusparseDestroy##Kind##Info(kind##Info_t info) { \
    return destroy(info);                                           \
  }                                                                 \
  cusparseStatus_t cusparseX##kind##_zeroPivot(                     \
      cusparseHandle_t handle, kind##Info_t info, int* position) {  \
    return zero_pivot(handle, info, position);                      \
  }
ACCEL_INFO(Csrilu02, csrilu02)
ACCEL_INFO(Bsrilu02, bsrilu02)
ACCEL_INFO(Csric02, csric02)
ACCEL_INFO(Bsric02, bsric02)
#undef ACCEL_INFO

#define ACCEL_BOOST(kind, L, Api, type)                                      \
  cusparseStatus_t cusparse##L##kind##_numericBoost(                         \
      cusparseHandle_t handle,                                               \
      kind##Info_t info,                                                     \
      int is_on,                                                             \
      double* tolerance,                                                     \
      Api* value) {                                                          \
    return set_boost(__func__, handle, info, is_on, tolerance, type, value); \
  }

// What functions are told of a matrix in either format.
#define ACCEL_ROWS(Elements)                                                 \
  int rows, int nnz, const cusparseMatDescr_t description, Elements *values, \
      const int *offsets, const int *indices
#define ACCEL_BLOCKS(Elements)                                \
  cusparseDirection_t direction, int rows, int nnz,           \
      const cusparseMatDescr_t description, Elements *values, \
      const int *offsets, const int *indices, int block

#define ACCEL_DESCRIBE_ROWS(type)                  \
  cusparseSpMatDescr matrix;                       \
  const cusparseStatus_t status = describe_square( \
      handle, rows, nnz, description, type, values, offsets, indices, &matrix)
#define ACCEL_DESCRIBE_BLOCKS(type)                          \
  cusparseSpMatDescr matrix;                                 \
  const cusparseStatus_t status = describe_square_of_blocks( \
      handle,                                                \
      direction,                                             \
      rows,                                                  \
      nnz,                                                   \
      description,                                           \
      type,                                                  \
      values,                                                \
      offsets,                                               \
      indices,                                               \
      block,                                                 \
      &matrix)

#define ACCEL_FACTORIZATION(kind, FORM, L, Api, Analysed, type)              \
  cusparseStatus_t cusparse##L##kind##_bufferSize(                           \
      cusparseHandle_t handle, ACCEL_##FORM(Api), kind##Info_t, int* size) { \
    ACCEL_DESCRIBE_##FORM(type);                                             \
    return answer_work_size(status, size);                                   \
  }                                                                          \
  cusparseStatus_t cusparse##L##kind##_analysis(                             \
      cusparseHandle_t handle,                                               \
      ACCEL_##FORM(Analysed),                                                \
      kind##Info_t info,                                                     \
      cusparseSolvePolicy_t policy,                                          \
      void* work) {                                                          \
    ACCEL_DESCRIBE_##FORM(type);                                             \
    return status == CUSPARSE_STATUS_SUCCESS                                 \
        ? analyse_square(__func__, handle, matrix, info, policy, work)       \
        : status;                                                            \
  }                                                                          \
  cusparseStatus_t cusparse##L##kind(                                        \
      cusparseHandle_t handle,                                               \
      ACCEL_##FORM(Api),                                                     \
      kind##Info_t info,                                                     \
      cusparseSolvePolicy_t policy,                                          \
      void* work) {                                                          \
    ACCEL_DESCRIBE_##FORM(type);                                             \
    return status == CUSPARSE_STATUS_SUCCESS                                 \
        ? factor_square(__func__, handle, matrix, info, policy, work)        \
        : status;                                                            \
  }

#define ACCEL_API(L, Api, type)                                \
  ACCEL_BOOST(csrilu02, L, Api, type)                          \
  ACCEL_BOOST(bsrilu02, L, Api, type)                          \
  ACCEL_FACTORIZATION(csrilu02, ROWS, L, Api, const Api, type) \
  ACCEL_FACTORIZATION(bsrilu02, BLOCKS, L, Api, Api, type)     \
  ACCEL_FACTORIZATION(csric02, ROWS, L, Api, const Api, type)  \
  ACCEL_FACTORIZATION(bsric02, BLOCKS, L, Api, const Api, type)
ACCEL_API(S, float, CUDA_R_32F)
ACCEL_API(D, double, CUDA_R_64F)
ACCEL_API(C, cuComplex, CUDA_C_32F)
ACCEL_API(Z, cuDoubleComplex, CUDA_C_64F)
#undef ACCEL_API
#undef ACCEL_FACTORIZATION
#undef ACCEL_DESCRIBE_BLOCKS
#undef ACCEL_DESCRIBE_ROWS
#undef ACCEL_BLOCKS
#undef ACCEL_ROWS
#undef ACCEL_BOOST

} // extern "C"

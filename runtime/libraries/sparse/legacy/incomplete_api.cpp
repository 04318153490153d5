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

/// What is done before a factorization: the work area's size, or an analysis.
cusparseStatus_t begin(
    const char*,
    cusparseHandle_t,
    const cusparseSpMatDescr&,
    const Analysed*,
    int* size) {
  return answer_work_size(CUSPARSE_STATUS_SUCCESS, size);
}
cusparseStatus_t begin(
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

/// What a function does with a matrix.
enum class Step { kBegin, kFactor };

template <Step kStep, typename Info, typename... Rest>
cusparseStatus_t take_step(
    const char* function,
    cusparseHandle_t handle,
    const cusparseSpMatDescr& matrix,
    Info* info,
    Rest... rest) {
  if constexpr (kStep == Step::kBegin) {
    return begin(function, handle, matrix, info, rest...);
  } else {
    return factor_square(function, handle, matrix, info, rest...);
  }
}

/// @param rest the info structure, and what the step is told besides.
template <Step kStep, typename... Rest>
cusparseStatus_t with_rows(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    int rows,
    int nnz,
    const cusparseMatDescr* description,
    const void* values,
    const int* offsets,
    const int* indices,
    Rest... rest) {
  cusparseSpMatDescr matrix;
  const cusparseStatus_t status = describe_square(
      handle, rows, nnz, description, type, values, offsets, indices, &matrix);
  return status == CUSPARSE_STATUS_SUCCESS
      ? take_step<kStep>(function, handle, matrix, rest...)
      : status;
}

template <Step kStep, typename... Rest>
cusparseStatus_t with_blocks(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    cusparseDirection_t direction,
    int rows,
    int blocks,
    const cusparseMatDescr* description,
    const void* values,
    const int* offsets,
    const int* indices,
    int block,
    Rest... rest) {
  cusparseSpMatDescr matrix;
  const cusparseStatus_t status = describe_blocks(
      handle,
      direction,
      rows,
      rows,
      blocks,
      description,
      type,
      values,
      offsets,
      indices,
      block,
      &matrix);
  return status == CUSPARSE_STATUS_SUCCESS
      ? take_step<kStep>(function, handle, matrix, rest...)
      : status;
}

constexpr auto kBegin = Step::kBegin;
constexpr auto kFactor = Step::kFactor;

/// Reads tolerance and value now, even from the device: factorizations may run
/// in other streams.
cusparseStatus_t set_boost(
    const char* function,
    cudaDataType type,
    cusparseHandle_t handle,
    AnalysedLu* info,
    int is_on,
    const double* tolerance,
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

ENTRY_POINT(1, cusparseCreateCsrilu02Info, create)
ENTRY_POINT(1, cusparseDestroyCsrilu02Info, destroy)
ENTRY_POINT(3, cusparseXcsrilu02_zeroPivot, zero_pivot)
UNTYPED_ENTRY_POINTS(5, cusparse, csrilu02_numericBoost, set_boost)
UNTYPED_ENTRY_POINTS(9, cusparse, csrilu02_bufferSize, with_rows<kBegin>)
UNTYPED_ENTRY_POINTS(10, cusparse, csrilu02_analysis, with_rows<kBegin>)
UNTYPED_ENTRY_POINTS(10, cusparse, csrilu02, with_rows<kFactor>)

ENTRY_POINT(1, cusparseCreateBsrilu02Info, create)
ENTRY_POINT(1, cusparseDestroyBsrilu02Info, destroy)
ENTRY_POINT(3, cusparseXbsrilu02_zeroPivot, zero_pivot)
UNTYPED_ENTRY_POINTS(5, cusparse, bsrilu02_numericBoost, set_boost)
UNTYPED_ENTRY_POINTS(11, cusparse, bsrilu02_bufferSize, with_blocks<kBegin>)
UNTYPED_ENTRY_POINTS(12, cusparse, bsrilu02_analysis, with_blocks<kBegin>)
UNTYPED_ENTRY_POINTS(12, cusparse, bsrilu02, with_blocks<kFactor>)

ENTRY_POINT(1, cusparseCreateCsric02Info, create)
ENTRY_POINT(1, cusparseDestroyCsric02Info, destroy)
ENTRY_POINT(3, cusparseXcsric02_zeroPivot, zero_pivot)
UNTYPED_ENTRY_POINTS(9, cusparse, csric02_bufferSize, with_rows<kBegin>)
UNTYPED_ENTRY_POINTS(10, cusparse, csric02_analysis, with_rows<kBegin>)
UNTYPED_ENTRY_POINTS(10, cusparse, csric02, with_rows<kFactor>)

ENTRY_POINT(1, cusparseCreateBsric02Info, create)
ENTRY_POINT(1, cusparseDestroyBsric02Info, destroy)
ENTRY_POINT(3, cusparseXbsric02_zeroPivot, zero_pivot)
UNTYPED_ENTRY_POINTS(11, cusparse, bsric02_bufferSize, with_blocks<kBegin>)
UNTYPED_ENTRY_POINTS(12, cusparse, bsric02_analysis, with_blocks<kBegin>)
UNTYPED_ENTRY_POINTS(12, cusparse, bsric02, with_blocks<kFactor>)

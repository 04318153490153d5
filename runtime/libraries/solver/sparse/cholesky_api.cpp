// Cholesky step by step (csrcholAnalysis, csrcholFactor, csrcholSolve). Source:
// the comments of cusolverSp_LOWLEVEL_PREVIEW.h.
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include <algorithm>
#include <limits>

#include "runtime/libraries/solver/sparse/cholesky.h"
#include "runtime/libraries/solver/sparse/factored.h"

namespace accelerator::solver::sparse {

using CholeskyInfo = Factored<SparseCholesky>;

} // namespace accelerator::solver::sparse

struct csrcholInfo : accelerator::solver::sparse::CholeskyInfo {
  csrcholInfo() : Factored(accelerator::solver::sparse::Place::kDevice) {}
};
struct csrcholInfoHost : accelerator::solver::sparse::CholeskyInfo {
  csrcholInfoHost() : Factored(accelerator::solver::sparse::Place::kHost) {}
};

namespace accelerator::solver::sparse {

namespace {

cusolverStatus_t analyse_square(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    int nnz,
    cusparseMatDescr_t description,
    const int* offsets,
    const int* indices,
    CholeskyInfo* info) {
  return analyse_form(
      function, handle, rows, rows, nnz, description, offsets, indices, info);
}

template <typename T>
cusolverStatus_t size_cholesky_work(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    int nnz,
    cusparseMatDescr_t description,
    const T* values,
    const int* offsets,
    const int* indices,
    const CholeskyInfo* info,
    std::size_t* internal_bytes,
    std::size_t* work_bytes) {
  return size_work(
      function,
      handle,
      rows,
      rows,
      nnz,
      description,
      values,
      offsets,
      indices,
      1,
      info,
      internal_bytes,
      work_bytes);
}

template <typename T>
cusolverStatus_t factor_cholesky(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    int nnz,
    cusparseMatDescr_t description,
    const T* values,
    const int* offsets,
    const int* indices,
    CholeskyInfo* info,
    void*) {
  Form form;
  auto status =
      make_form(handle, rows, rows, nnz, description, offsets, indices, &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = check_sparse(
        handle,
        {info != nullptr && info->is_analysis_of(rows, rows, nnz),
         nnz == 0 || values != nullptr});
  }
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  info->begin_anew();
  info->type = typeid(T);
  info->is_factored = true;
  std::vector<Extent> inputs = memory_of(form);
  inputs.push_back(vector(values, nnz));
  return perform(
      function, handle, info->place, inputs, {}, [=, results = info->results] {
        using W = WideOf<T>;
        Csr<W> matrix;
        if (!read_matrix(function, form, values, &matrix)) {
          return false;
        }
        results->factors = SparseCholesky<W>(matrix);
        return true;
      });
}

/// What work finds where there is no factorization that it could use.
template <typename T>
void fill_with_nan(T* x, int count) {
  std::fill_n(x, count, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
}

template <typename T>
cusolverStatus_t solve_cholesky(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    const T* b,
    T* x,
    const CholeskyInfo* info,
    void*) {
  const auto status = check_sparse(
      handle,
      {info != nullptr && info->is_factored && info->has_type<T>() &&
           info->form->rows == rows,
       rows == 0 || (b != nullptr && x != nullptr)});
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return perform(
      function,
      handle,
      info->place,
      {vector(b, rows)},
      {vector(x, rows)},
      [=, results = info->results] {
        const auto* const factors =
            std::get_if<SparseCholesky<WideOf<T>>>(&results->factors);
        if (factors != nullptr && factors->is_complete()) {
          narrow_to(factors->solve(widened<T>(b, rows)), x);
        } else {
          fill_with_nan(x, rows);
        }
        return true;
      });
}

template <typename T>
cusolverStatus_t read_diagonal(
    const char* function,
    cusolverSpHandle_t handle,
    const CholeskyInfo* info,
    RealOf<T>* diagonal) {
  const auto status = check_sparse(
      handle,
      {info != nullptr && info->is_factored && info->has_type<T>(),
       diagonal != nullptr});
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  const int rows = info->form->rows;
  return perform(
      function,
      handle,
      Place::kDevice,
      {},
      {vector(diagonal, rows)},
      [=, results = info->results] {
        const auto* const factors =
            std::get_if<SparseCholesky<WideOf<T>>>(&results->factors);
        if (factors != nullptr && factors->is_complete()) {
          narrow_to(factors->diagonal(), diagonal);
        } else {
          fill_with_nan(diagonal, rows);
        }
        return true;
      });
}

} // namespace

ENTRY_POINT(1, cusolverSpCreateCsrcholInfo, create)
ENTRY_POINT(1, cusolverSpCreateCsrcholInfoHost, create)
ENTRY_POINT(1, cusolverSpDestroyCsrcholInfo, destroy)
ENTRY_POINT(1, cusolverSpDestroyCsrcholInfoHost, destroy)
ENTRY_POINT(7, cusolverSpXcsrcholAnalysis, analyse_square)
ENTRY_POINT(7, cusolverSpXcsrcholAnalysisHost, analyse_square)
ENTRY_POINTS(10, cusolverSp, csrcholBufferInfo, size_cholesky_work)
ENTRY_POINTS(10, cusolverSp, csrcholBufferInfoHost, size_cholesky_work)
ENTRY_POINTS(9, cusolverSp, csrcholFactor, factor_cholesky)
ENTRY_POINTS(9, cusolverSp, csrcholFactorHost, factor_cholesky)
TYPED_ENTRY_POINTS(4, cusolverSp, csrcholZeroPivot, first_zero_pivot)
TYPED_ENTRY_POINTS(4, cusolverSp, csrcholZeroPivotHost, first_zero_pivot)
ENTRY_POINTS(6, cusolverSp, csrcholSolve, solve_cholesky)
ENTRY_POINTS(6, cusolverSp, csrcholSolveHost, solve_cholesky)
TYPED_ENTRY_POINTS(3, cusolverSp, csrcholDiag, read_diagonal)

} // namespace accelerator::solver::sparse

// Cholesky step by step (csrcholAnalysis, csrcholFactor, csrcholSolve). Source:
// the comments of cusolverSp_LOWLEVEL_PREVIEW.h.
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include <algorithm>
#include <limits>

#include "runtime/libraries/solver/objects.h"
#include "runtime/libraries/solver/sparse/cholesky.h"
#include "runtime/libraries/solver/sparse/factored.h"

struct csrcholInfo : accelerator::solver::sparse::Factored<
                         accelerator::solver::sparse::SparseCholesky> {};
struct csrcholInfoHost : accelerator::solver::sparse::Factored<
                             accelerator::solver::sparse::SparseCholesky> {};

namespace accelerator::solver::sparse {
namespace {

using CholeskyInfo = Factored<SparseCholesky>;

template <typename T>
cusolverStatus_t factor_cholesky(
    const char* function,
    cusolverSpHandle_t handle,
    Place place,
    int rows,
    int nnz,
    cusparseMatDescr_t description,
    const T* values,
    const int* offsets,
    const int* indices,
    CholeskyInfo* info) {
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
      function, handle, place, inputs, {}, [=, results = info->results] {
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
    Place place,
    int rows,
    const T* b,
    T* x,
    const CholeskyInfo* info) {
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
      place,
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
} // namespace accelerator::solver::sparse

using namespace accelerator::solver;

extern "C" {

#define ACCEL_INFO(Suffix, place)                        \
  cusolverStatus_t cusolverSpCreateCsrcholInfo##Suffix(  \
      csrcholInfo##Suffix##_t* info) {                   \
    return create(info);                                 \
  }                                                      \
  cusolverStatus_t cusolverSpDestroyCsrcholInfo##Suffix( \
      csrcholInfo##Suffix##_t info) {                    \
    return destroy(info);                                \
  }                                                      \
  cusolverStatus_t cusolverSpXcsrcholAnalysis##Suffix(   \
      cusolverSpHandle_t handle,                         \
      int rows,                                          \
      int nnz,                                           \
      const cusparseMatDescr_t description,              \
      const int* offsets,                                \
      const int* indices,                                \
      csrcholInfo##Suffix##_t info) {                    \
    return sparse::analyse_form(                         \
        __func__,                                        \
        handle,                                          \
        sparse::Place::place,                            \
        rows,                                            \
        rows,                                            \
        nnz,                                             \
        description,                                     \
        offsets,                                         \
        indices,                                         \
        info);                                           \
  }
ACCEL_INFO(, kDevice)
ACCEL_INFO(Host, kHost)
#undef ACCEL_INFO

#define ACCEL_MATRIX(Api)                                      \
  cusolverSpHandle_t handle, int rows, int nnz,                \
      const cusparseMatDescr_t description, const Api *values, \
      const int *offsets, const int *indices

#define ACCEL_STEPS(L, T, Api, Real, Suffix, place)                     \
  cusolverStatus_t cusolverSp##L##csrcholBufferInfo##Suffix(            \
      ACCEL_MATRIX(Api),                                                \
      csrcholInfo##Suffix##_t info,                                     \
      size_t* internal_bytes,                                           \
      size_t* work_bytes) {                                             \
    sparse::Form form;                                                  \
    const auto status = sparse::make_form(                              \
        handle, rows, rows, nnz, description, offsets, indices, &form); \
    return status != CUSOLVER_STATUS_SUCCESS                            \
        ? status                                                        \
        : sparse::answer_work_bytes(                                    \
              handle,                                                   \
              (nnz == 0 || values != nullptr) && info != nullptr &&     \
                  info->is_analysis_of(rows, rows, nnz),                \
              internal_bytes,                                           \
              work_bytes);                                              \
  }                                                                     \
  cusolverStatus_t cusolverSp##L##csrcholFactor##Suffix(                \
      ACCEL_MATRIX(Api), csrcholInfo##Suffix##_t info, void*) {         \
    return sparse::factor_cholesky(                                     \
        __func__,                                                       \
        handle,                                                         \
        sparse::Place::place,                                           \
        rows,                                                           \
        nnz,                                                            \
        description,                                                    \
        as<const T>(values),                                            \
        offsets,                                                        \
        indices,                                                        \
        info);                                                          \
  }                                                                     \
  cusolverStatus_t cusolverSp##L##csrcholZeroPivot##Suffix(             \
      cusolverSpHandle_t handle,                                        \
      csrcholInfo##Suffix##_t info,                                     \
      Real tolerance,                                                   \
      int* position) {                                                  \
    return sparse::first_zero_pivot<                                    \
        sparse::SparseCholesky<sparse::WideOf<T>>>(                     \
        handle,                                                         \
        sparse::Place::place,                                           \
        info != nullptr && info->is_factored && info->has_type<T>(),    \
        info,                                                           \
        tolerance,                                                      \
        position);                                                      \
  }                                                                     \
  cusolverStatus_t cusolverSp##L##csrcholSolve##Suffix(                 \
      cusolverSpHandle_t handle,                                        \
      int rows,                                                         \
      const Api* b,                                                     \
      Api* x,                                                           \
      csrcholInfo##Suffix##_t info,                                     \
      void*) {                                                          \
    return sparse::solve_cholesky(                                      \
        __func__,                                                       \
        handle,                                                         \
        sparse::Place::place,                                           \
        rows,                                                           \
        as<const T>(b),                                                 \
        as<T>(x),                                                       \
        info);                                                          \
  }

#define ACCEL_API(L, T, Api, Real)                                     \
  ACCEL_STEPS(L, T, Api, Real, , kDevice)                              \
  ACCEL_STEPS(L, T, Api, Real, Host, kHost)                            \
  cusolverStatus_t cusolverSp##L##csrcholDiag(                         \
      cusolverSpHandle_t handle, csrcholInfo_t info, Real* diagonal) { \
    return sparse::read_diagonal<T>(__func__, handle, info, diagonal); \
  }
ACCEL_FOR_TYPES(ACCEL_API)
#undef ACCEL_API
#undef ACCEL_STEPS
#undef ACCEL_MATRIX

} // extern "C"

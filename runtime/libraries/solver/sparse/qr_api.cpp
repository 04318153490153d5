// QR step by step (csrqrAnalysis, csrqrSetup, csrqrFactor, csrqrSolve), and of
// batches (csrqrsvBatched). Source: cuSOLVER API, "Batched Sparse QR", and the
// comments of cusolverSp_LOWLEVEL_PREVIEW.h.
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include <algorithm>
#include <utility>

#include "runtime/libraries/solver/objects.h"
#include "runtime/libraries/solver/sparse/factored.h"
#include "runtime/libraries/solver/sparse/qr.h"

struct csrqrInfo : accelerator::solver::sparse::Factored<
                       accelerator::solver::sparse::SparseQr> {};
struct csrqrInfoHost : accelerator::solver::sparse::Factored<
                           accelerator::solver::sparse::SparseQr> {};

namespace accelerator::solver::sparse {
namespace {

using QrInfo = Factored<SparseQr>;

template <typename T>
cusolverStatus_t set_up_qr(
    const char* function,
    cusolverSpHandle_t handle,
    Place place,
    int rows,
    int columns,
    int nnz,
    cusparseMatDescr_t description,
    const T* values,
    const int* offsets,
    const int* indices,
    T mu,
    QrInfo* info) {
  Form form;
  auto status = make_form(
      handle, rows, columns, nnz, description, offsets, indices, &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = check_sparse(
        handle,
        {info != nullptr && info->is_analysis_of(rows, columns, nnz),
         nnz == 0 || values != nullptr});
  }
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  info->begin_anew();
  info->type = typeid(T);
  std::vector<Extent> inputs = memory_of(form);
  inputs.push_back(vector(values, nnz));
  return perform(
      function, handle, place, inputs, {}, [=, results = info->results] {
        using W = WideOf<T>;
        Csr<W> matrix;
        if (!read_matrix(function, form, values, &matrix)) {
          return false;
        }
        results->matrix = shifted(matrix, W(mu));
        return true;
      });
}

/// Writes the solution of a system; nothing where factors are missing, because
/// other work has failed.
template <typename T>
void solve_by_qr(const QrInfo::Results& results, const T* b, T* x) {
  const auto* const factors =
      std::get_if<SparseQr<WideOf<T>>>(&results.factors);
  if (factors != nullptr) {
    narrow_to(factors->solve(widened<T>(b, factors->rows())), x);
  }
}

template <typename T>
cusolverStatus_t factor_qr(
    const char* function,
    cusolverSpHandle_t handle,
    Place place,
    int rows,
    int columns,
    int nnz,
    const T* b,
    T* x,
    QrInfo* info) {
  const auto status = check_sparse(
      handle,
      {info != nullptr && info->is_analysis_of(rows, columns, nnz) &&
           info->has_type<T>(),
       (b == nullptr) == (x == nullptr)});
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  info->is_factored = true;
  const bool solves = b != nullptr;
  return perform(
      function,
      handle,
      place,
      {vector(b, solves ? rows : 0)},
      {vector(x, solves ? columns : 0)},
      [=, results = info->results] {
        using W = WideOf<T>;
        const auto* const matrix = std::get_if<Csr<W>>(&results->matrix);
        if (matrix != nullptr) {
          results->factors = SparseQr<W>(*matrix);
        }
        if (solves) {
          solve_by_qr(*results, b, x);
        }
        return true;
      });
}

template <typename T>
cusolverStatus_t solve_qr(
    const char* function,
    cusolverSpHandle_t handle,
    Place place,
    int rows,
    int columns,
    const T* b,
    T* x,
    const QrInfo* info) {
  const auto status = check_sparse(
      handle,
      {info != nullptr && info->is_factored && info->has_type<T>() &&
           info->form->rows == rows && info->form->columns == columns,
       rows == 0 || b != nullptr,
       columns == 0 || x != nullptr});
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  return perform(
      function,
      handle,
      place,
      {vector(b, rows)},
      {vector(x, columns)},
      [=, results = info->results] {
        solve_by_qr(*results, b, x);
        return true;
      });
}

template <typename T>
cusolverStatus_t solve_batch(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    cusparseMatDescr_t description,
    const T* values,
    const int* offsets,
    const int* indices,
    const T* b,
    T* x,
    int batches,
    const QrInfo* info) {
  Form form;
  auto status = make_form(
      handle, rows, columns, nnz, description, offsets, indices, &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = check_sparse(
        handle,
        {info != nullptr && info->is_analysis_of(rows, columns, nnz),
         batches >= 1,
         nnz == 0 || values != nullptr,
         rows == 0 || b != nullptr,
         columns == 0 || x != nullptr});
  }
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  std::vector<Extent> inputs = memory_of(form);
  inputs.push_back(vector(values, std::int64_t{nnz} * batches));
  inputs.push_back(vector(b, std::int64_t{rows} * batches));
  return perform(
      function,
      handle,
      Place::kDevice,
      inputs,
      {vector(x, std::int64_t{columns} * batches)},
      [=] {
        using W = WideOf<T>;
        for (std::ptrdiff_t i = 0; i < batches; ++i) {
          Csr<W> matrix;
          if (!read_matrix(function, form, values + i * nnz, &matrix)) {
            return false;
          }
          narrow_to(
              SparseQr<W>(matrix).solve(widened<T>(b + i * rows, rows)),
              x + i * columns);
        }
        return true;
      });
}

} // namespace
} // namespace accelerator::solver::sparse

using namespace accelerator::solver;

extern "C" {

// What functions are told of a matrix: where it is, without its numbers.
#define ACCEL_PATTERN                                           \
  cusolverSpHandle_t handle, int rows, int columns, int nnz,    \
      const cusparseMatDescr_t description, const int *offsets, \
      const int *indices
#define ACCEL_MATRIX(Api)                                      \
  cusolverSpHandle_t handle, int rows, int columns, int nnz,   \
      const cusparseMatDescr_t description, const Api *values, \
      const int *offsets, const int *indices

#define ACCEL_INFO(Suffix, place)                      \
  cusolverStatus_t cusolverSpCreateCsrqrInfo##Suffix(  \
      csrqrInfo##Suffix##_t* info) {                   \
    return create(info);                               \
  }                                                    \
  cusolverStatus_t cusolverSpDestroyCsrqrInfo##Suffix( \
      csrqrInfo##Suffix##_t info) {                    \
    return destroy(info);                              \
  }                                                    \
  cusolverStatus_t cusolverSpXcsrqrAnalysis##Suffix(   \
      ACCEL_PATTERN, csrqrInfo##Suffix##_t info) {     \
    return sparse::analyse_form(                       \
        __func__,                                      \
        handle,                                        \
        sparse::Place::place,                          \
        rows,                                          \
        columns,                                       \
        nnz,                                           \
        description,                                   \
        offsets,                                       \
        indices,                                       \
        info);                                         \
  }
ACCEL_INFO(, kDevice)
ACCEL_INFO(Host, kHost)
#undef ACCEL_INFO

cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(
    ACCEL_PATTERN,
    csrqrInfo_t info) {
  return sparse::analyse_form(
      __func__,
      handle,
      sparse::Place::kDevice,
      rows,
      columns,
      nnz,
      description,
      offsets,
      indices,
      info);
}

#define ACCEL_STEPS(L, T, Api, Real, Suffix, place)                        \
  cusolverStatus_t cusolverSp##L##csrqrBufferInfo##Suffix(                 \
      ACCEL_MATRIX(Api),                                                   \
      csrqrInfo##Suffix##_t info,                                          \
      size_t* internal_bytes,                                              \
      size_t* work_bytes) {                                                \
    sparse::Form form;                                                     \
    const auto status = sparse::make_form(                                 \
        handle, rows, columns, nnz, description, offsets, indices, &form); \
    return status != CUSOLVER_STATUS_SUCCESS                               \
        ? status                                                           \
        : sparse::answer_work_bytes(                                       \
              handle,                                                      \
              (nnz == 0 || values != nullptr) && info != nullptr &&        \
                  info->is_analysis_of(rows, columns, nnz),                \
              internal_bytes,                                              \
              work_bytes);                                                 \
  }                                                                        \
  cusolverStatus_t cusolverSp##L##csrqrSetup##Suffix(                      \
      ACCEL_MATRIX(Api), Api mu, csrqrInfo##Suffix##_t info) {             \
    return sparse::set_up_qr(                                              \
        __func__,                                                          \
        handle,                                                            \
        sparse::Place::place,                                              \
        rows,                                                              \
        columns,                                                           \
        nnz,                                                               \
        description,                                                       \
        as<const T>(values),                                               \
        offsets,                                                           \
        indices,                                                           \
        *as<const T>(&mu),                                                 \
        info);                                                             \
  }                                                                        \
  cusolverStatus_t cusolverSp##L##csrqrFactor##Suffix(                     \
      cusolverSpHandle_t handle,                                           \
      int rows,                                                            \
      int columns,                                                         \
      int nnz,                                                             \
      Api* b,                                                              \
      Api* x,                                                              \
      csrqrInfo##Suffix##_t info,                                          \
      void*) {                                                             \
    return sparse::factor_qr(                                              \
        __func__,                                                          \
        handle,                                                            \
        sparse::Place::place,                                              \
        rows,                                                              \
        columns,                                                           \
        nnz,                                                               \
        as<const T>(b),                                                    \
        as<T>(x),                                                          \
        info);                                                             \
  }                                                                        \
  cusolverStatus_t cusolverSp##L##csrqrZeroPivot##Suffix(                  \
      cusolverSpHandle_t handle,                                           \
      csrqrInfo##Suffix##_t info,                                          \
      Real tolerance,                                                      \
      int* position) {                                                     \
    return sparse::first_zero_pivot<sparse::SparseQr<sparse::WideOf<T>>>(  \
        handle,                                                            \
        sparse::Place::place,                                              \
        info != nullptr && info->is_factored && info->has_type<T>(),       \
        info,                                                              \
        tolerance,                                                         \
        position);                                                         \
  }                                                                        \
  cusolverStatus_t cusolverSp##L##csrqrSolve##Suffix(                      \
      cusolverSpHandle_t handle,                                           \
      int rows,                                                            \
      int columns,                                                         \
      Api* b,                                                              \
      Api* x,                                                              \
      csrqrInfo##Suffix##_t info,                                          \
      void*) {                                                             \
    return sparse::solve_qr(                                               \
        __func__,                                                          \
        handle,                                                            \
        sparse::Place::place,                                              \
        rows,                                                              \
        columns,                                                           \
        as<const T>(b),                                                    \
        as<T>(x),                                                          \
        info);                                                             \
  }

#define ACCEL_API(L, T, Api, Real)                                          \
  ACCEL_STEPS(L, T, Api, Real, , kDevice)                                   \
  ACCEL_STEPS(L, T, Api, Real, Host, kHost)                                 \
  cusolverStatus_t cusolverSp##L##csrqrBufferInfoBatched(                   \
      ACCEL_MATRIX(Api),                                                    \
      int batches,                                                          \
      csrqrInfo_t info,                                                     \
      size_t* internal_bytes,                                               \
      size_t* work_bytes) {                                                 \
    sparse::Form form;                                                      \
    const auto status = sparse::make_form(                                  \
        handle, rows, columns, nnz, description, offsets, indices, &form);  \
    return status != CUSOLVER_STATUS_SUCCESS                                \
        ? status                                                            \
        : sparse::answer_work_bytes(                                        \
              handle,                                                       \
              (nnz == 0 || values != nullptr) && info != nullptr &&         \
                  batches >= 1 && info->is_analysis_of(rows, columns, nnz), \
              internal_bytes,                                               \
              work_bytes);                                                  \
  }                                                                         \
  cusolverStatus_t cusolverSp##L##csrqrsvBatched(                           \
      ACCEL_MATRIX(Api),                                                    \
      const Api* b,                                                         \
      Api* x,                                                               \
      int batches,                                                          \
      csrqrInfo_t info,                                                     \
      void*) {                                                              \
    return sparse::solve_batch(                                             \
        __func__,                                                           \
        handle,                                                             \
        rows,                                                               \
        columns,                                                            \
        nnz,                                                                \
        description,                                                        \
        as<const T>(values),                                                \
        offsets,                                                            \
        indices,                                                            \
        as<const T>(b),                                                     \
        as<T>(x),                                                           \
        batches,                                                            \
        info);                                                              \
  }
ACCEL_FOR_TYPES(ACCEL_API)
#undef ACCEL_API
#undef ACCEL_STEPS
#undef ACCEL_MATRIX
#undef ACCEL_PATTERN

} // extern "C"

// QR step by step (csrqrAnalysis, csrqrSetup, csrqrFactor, csrqrSolve), and of
// batches (csrqrsvBatched). Source: cuSOLVER API, "Batched Sparse QR", and the
// comments of cusolverSp_LOWLEVEL_PREVIEW.h.
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include <algorithm>
#include <utility>

#include "runtime/libraries/solver/sparse/factored.h"
#include "runtime/libraries/solver/sparse/qr.h"

namespace accelerator::solver::sparse {

using QrInfo = Factored<SparseQr>;

} // namespace accelerator::solver::sparse

struct csrqrInfo : accelerator::solver::sparse::QrInfo {
  csrqrInfo() : Factored(accelerator::solver::sparse::Place::kDevice) {}
};
struct csrqrInfoHost : accelerator::solver::sparse::QrInfo {
  csrqrInfoHost() : Factored(accelerator::solver::sparse::Place::kHost) {}
};

namespace accelerator::solver::sparse {

namespace {

template <typename T>
cusolverStatus_t size_qr_work(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    cusparseMatDescr_t description,
    const T* values,
    const int* offsets,
    const int* indices,
    const QrInfo* info,
    std::size_t* internal_bytes,
    std::size_t* work_bytes) {
  return size_work(
      function,
      handle,
      rows,
      columns,
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
cusolverStatus_t set_up_qr(
    const char* function,
    cusolverSpHandle_t handle,
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
      function, handle, info->place, inputs, {}, [=, results = info->results] {
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
    int rows,
    int columns,
    int nnz,
    const T* b,
    T* x,
    QrInfo* info,
    void*) {
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
      info->place,
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
    int rows,
    int columns,
    const T* b,
    T* x,
    const QrInfo* info,
    void*) {
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
      info->place,
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
    const QrInfo* info,
    void*) {
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

ENTRY_POINT(1, cusolverSpCreateCsrqrInfo, create)
ENTRY_POINT(1, cusolverSpCreateCsrqrInfoHost, create)
ENTRY_POINT(1, cusolverSpDestroyCsrqrInfo, destroy)
ENTRY_POINT(1, cusolverSpDestroyCsrqrInfoHost, destroy)
ENTRY_POINT(8, cusolverSpXcsrqrAnalysis, analyse_form)
ENTRY_POINT(8, cusolverSpXcsrqrAnalysisHost, analyse_form)
ENTRY_POINT(8, cusolverSpXcsrqrAnalysisBatched, analyse_form)
ENTRY_POINTS(11, cusolverSp, csrqrBufferInfo, size_qr_work)
ENTRY_POINTS(11, cusolverSp, csrqrBufferInfoHost, size_qr_work)
ENTRY_POINTS(12, cusolverSp, csrqrBufferInfoBatched, size_work)
ENTRY_POINTS(10, cusolverSp, csrqrSetup, set_up_qr)
ENTRY_POINTS(10, cusolverSp, csrqrSetupHost, set_up_qr)
ENTRY_POINTS(8, cusolverSp, csrqrFactor, factor_qr)
ENTRY_POINTS(8, cusolverSp, csrqrFactorHost, factor_qr)
TYPED_ENTRY_POINTS(4, cusolverSp, csrqrZeroPivot, first_zero_pivot)
TYPED_ENTRY_POINTS(4, cusolverSp, csrqrZeroPivotHost, first_zero_pivot)
ENTRY_POINTS(7, cusolverSp, csrqrSolve, solve_qr)
ENTRY_POINTS(7, cusolverSp, csrqrSolveHost, solve_qr)
ENTRY_POINTS(13, cusolverSp, csrqrsvBatched, solve_batch)

} // namespace accelerator::solver::sparse

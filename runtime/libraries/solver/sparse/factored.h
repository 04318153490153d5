// What the low-level functions keep of one matrix from call to call: their
// opaque info structures.
#pragma once

#include <cuda_runtime_api.h>
#include <cusolverSp.h>

#include <memory>
#include <optional>
#include <typeindex>
#include <utility>
#include <variant>

#include "runtime/libraries/solver/sparse/csr.h"
#include "runtime/libraries/solver/sparse/place.h"

namespace accelerator::solver::sparse {

template <template <typename> class Factors>
struct Factored {
  /// What the work has found, which has it too.
  struct Results {
    std::variant<std::monostate, Csr<double>, Csr<Complex>> matrix;
    std::variant<std::monostate, Factors<double>, Factors<Complex>> factors;
  };

  /// @param its where the arrays are of calls that this belongs to.
  explicit Factored(Place its) : place(its) {}

  Place place;
  /// As analysed.
  std::optional<Form> form;
  /// Of the numbers, once they are known.
  std::optional<std::type_index> type;
  bool is_factored = false;
  std::shared_ptr<Results> results = std::make_shared<Results>();

  template <typename T>
  bool has_type() const {
    return type == std::type_index(typeid(T));
  }
  /// Whether it was an analysis of such a matrix.
  bool is_analysis_of(int rows, int columns, int nnz) const {
    return form && form->rows == rows && form->columns == columns &&
        form->nnz == nnz;
  }
  /// Work that was given this before is not to change what is new.
  void begin_anew() {
    type.reset();
    is_factored = false;
    results = std::make_shared<Results>();
  }
};

/// Looks at the pattern of a matrix with as many rows as columns at least.
template <template <typename> class Factors>
cusolverStatus_t analyse_form(
    const char* function,
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    cusparseMatDescr_t description,
    const int* offsets,
    const int* indices,
    Factored<Factors>* info) {
  Form form;
  auto status = make_form(
      handle, rows, columns, nnz, description, offsets, indices, &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = check_sparse(handle, {info != nullptr, rows >= columns});
  }
  if (status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  info->begin_anew();
  info->form = form;
  return perform(function, handle, info->place, memory_of(form), {}, [=] {
    Csr<char> pattern;
    return read_pattern(function, form, &pattern, nullptr);
  });
}

/// Answers how large areas have to be for a number of matrices: the host's
/// memory has the factors.
template <typename T, template <typename> class Factors>
cusolverStatus_t size_work(
    const char*,
    cusolverSpHandle_t handle,
    int rows,
    int columns,
    int nnz,
    cusparseMatDescr_t description,
    const T* values,
    const int* offsets,
    const int* indices,
    int batches,
    const Factored<Factors>* info,
    std::size_t* internal_bytes,
    std::size_t* work_bytes) {
  Form form;
  auto status = make_form(
      handle, rows, columns, nnz, description, offsets, indices, &form);
  if (status == CUSOLVER_STATUS_SUCCESS) {
    status = check_sparse(
        handle,
        {nnz == 0 || values != nullptr,
         batches >= 1,
         info != nullptr && info->is_analysis_of(rows, columns, nnz),
         internal_bytes != nullptr,
         work_bytes != nullptr});
  }
  if (status == CUSOLVER_STATUS_SUCCESS) {
    *internal_bytes = 0;
    *work_bytes = kWorkBytes;
  }
  return status;
}

/// Tells the first pivot that is too small. Waits for the device: the work that
/// knows may be in another stream than the handle's of now.
template <typename T, template <typename> class Factors>
cusolverStatus_t first_zero_pivot(
    const char*,
    cusolverSpHandle_t handle,
    const Factored<Factors>* info,
    RealOf<T> tolerance,
    int* position) {
  if (const auto status = check_sparse(
          handle,
          {info != nullptr && info->is_factored && info->template has_type<T>(),
           position != nullptr});
      status != CUSOLVER_STATUS_SUCCESS) {
    return status;
  }
  if (info->place == Place::kDevice && cudaDeviceSynchronize() != cudaSuccess) {
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  // There are none where work has failed.
  const auto* const factors =
      std::get_if<Factors<WideOf<T>>>(&std::as_const(info->results->factors));
  if (factors == nullptr) {
    return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  *position = factors->first_zero(std::max(0.0, double{tolerance}));
  return CUSOLVER_STATUS_SUCCESS;
}

} // namespace accelerator::solver::sparse

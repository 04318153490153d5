// Batched factorisations and solvers on the host's LAPACK. Source: cuBLAS API,
// chapter 2.8 (BLAS-like extension).
#include <algorithm>
#include <vector>

#include "runtime/libraries/blas/handle.h"
#include "runtime/libraries/blas/host_blas.h"
#include "runtime/libraries/blas/lapack.h"
#include "runtime/libraries/blas/lu.h"

namespace accelerator::blas {
namespace {

/// The pivots of a batch: n for each matrix; none with a null pointer.
Extent pivots_extent(const int* pivots, int n, int count) {
  return strided_extent(
      pivots, pivots == nullptr ? 0 : n * sizeof(int), n, sizeof(int), count);
}

/// Those of one matrix.
template <typename Int>
Int* rows_of(Int* pivots, int i, int n) {
  return pivots + static_cast<std::ptrdiff_t>(i) * n;
}

template <typename T>
cublasStatus_t getrf(
    const char* function,
    cublasHandle_t handle,
    int n,
    T* const a[],
    int lda,
    int* pivots,
    int* info,
    int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (n < 0 || count < 0 || lda < std::max(1, n)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return submit_checked(
      function,
      handle,
      {{a, count * sizeof(void*)},
       {info, count * sizeof(int)},
       pivots_extent(pivots, n, count)},
      [=] {
        reads({{a, count * sizeof(void*)}});
        const std::size_t bytes = matrix_bytes(n, n, lda, sizeof(T));
        for (int i = 0; i < count; ++i) {
          if (!accessible(function, {{a[i], bytes}})) {
            return false;
          }
          reads({matrix_read(a[i], n, n, lda, sizeof(T))});
          info[i] = pivots == nullptr
              ? factor_without_pivots(n, n, a[i], lda)
              : host::getrf(n, n, a[i], lda, rows_of(pivots, i, n));
        }
        return true;
      });
}

template <typename T>
cublasStatus_t getrs(
    const char* function,
    cublasHandle_t handle,
    cublasOperation_t operation,
    int n,
    int columns,
    const T* const a[],
    int lda,
    const int* pivots,
    T* const b[],
    int ldb,
    int* info,
    int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (info == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // It is the host's and tells of arguments only.
  *info = !host::known(operation) ? -1
      : n < 0                     ? -2
      : columns < 0               ? -3
      : lda < std::max(1, n)      ? -5
      : ldb < std::max(1, n)      ? -8
      : count < 0                 ? -10
                                  : 0;
  if (*info != 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (n == 0 || columns == 0) {
    // Nothing is there that pointers could lead to.
    count = 0;
  }
  const std::size_t pointers = count * sizeof(void*);
  return submit_checked(
      function,
      handle,
      {{a, pointers}, {b, pointers}, pivots_extent(pivots, n, count)},
      [=] {
        reads({{a, pointers}, {b, pointers}, pivots_extent(pivots, n, count)});
        const bool plain = operation == CUBLAS_OP_N;
        const char letter = plain ? 'N' : operation == CUBLAS_OP_T ? 'T' : 'C';
        for (int i = 0; i < count; ++i) {
          if (!accessible(
                  function,
                  {{a[i], matrix_bytes(n, n, lda, sizeof(T))},
                   {b[i], matrix_bytes(n, columns, ldb, sizeof(T))}})) {
            return false;
          }
          reads(
              {matrix_read(a[i], n, n, lda, sizeof(T)),
               matrix_read(b[i], n, columns, ldb, sizeof(T))});
          if (pivots != nullptr) {
            const int* p = rows_of(pivots, i, n);
            if (!are_pivots(function, p, n, n)) {
              return false;
            }
            host::getrs(letter, n, columns, a[i], lda, p, b[i], ldb);
            continue;
          }
          const auto transpose = host::transpose(operation);
          const auto solve = [&](CBLAS_UPLO part, CBLAS_DIAG diagonal) {
            host::trsm(
                CblasLeft,
                part,
                transpose,
                diagonal,
                n,
                columns,
                T{1},
                a[i],
                lda,
                b[i],
                ldb);
          };
          if (plain) {
            solve(CblasLower, CblasUnit);
            solve(CblasUpper, CblasNonUnit);
          } else {
            solve(CblasUpper, CblasNonUnit);
            solve(CblasLower, CblasUnit);
          }
        }
        return true;
      });
}

template <typename T>
cublasStatus_t getri(
    const char* function,
    cublasHandle_t handle,
    int n,
    const T* const a[],
    int lda,
    const int* pivots,
    T* const c[],
    int ldc,
    int* info,
    int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (n < 0 || count < 0 || lda < std::max(1, n) || ldc < std::max(1, n)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const std::size_t pointers = count * sizeof(void*);
  return submit_checked(
      function,
      handle,
      {{a, pointers},
       {c, pointers},
       {info, count * sizeof(int)},
       pivots_extent(pivots, n, count)},
      [=] {
        reads({{a, pointers}, {c, pointers}, pivots_extent(pivots, n, count)});
        std::vector<int> identity(n);
        for (int i = 0; i < n; ++i) {
          identity[i] = i + 1;
        }
        for (int i = 0; i < count; ++i) {
          const int* p =
              pivots == nullptr ? identity.data() : rows_of(pivots, i, n);
          if (!accessible(
                  function,
                  {{a[i], matrix_bytes(n, n, lda, sizeof(T))},
                   {c[i], matrix_bytes(n, n, ldc, sizeof(T))}}) ||
              !are_pivots(function, p, n, n)) {
            return false;
          }
          reads({matrix_read(a[i], n, n, lda, sizeof(T))});
          for (int j = 0; j < n; ++j) {
            std::copy_n(
                a[i] + static_cast<std::ptrdiff_t>(j) * lda,
                n,
                c[i] + static_cast<std::ptrdiff_t>(j) * ldc);
          }
          info[i] = host::getri(n, c[i], ldc, p);
        }
        return true;
      });
}

template <typename T>
cublasStatus_t geqrf(
    const char* function,
    cublasHandle_t handle,
    int m,
    int n,
    T* const a[],
    int lda,
    T* const tau[],
    int* info,
    int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (info == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *info = m < 0              ? -1
      : n < 0                ? -2
      : lda < std::max(1, m) ? -4
      : count < 0            ? -7
                             : 0;
  if (*info != 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // Of matrices without numbers nobody has pointers.
  if (m == 0 || n == 0) {
    return CUBLAS_STATUS_SUCCESS;
  }
  const std::size_t pointers = count * sizeof(void*);
  return submit_checked(
      function, handle, {{a, pointers}, {tau, pointers}}, [=] {
        reads({{a, pointers}, {tau, pointers}});
        for (int i = 0; i < count; ++i) {
          if (!accessible(
                  function,
                  {{a[i], matrix_bytes(m, n, lda, sizeof(T))},
                   {tau[i], vector_bytes(std::min(m, n), 1, sizeof(T))}})) {
            return false;
          }
          reads({matrix_read(a[i], m, n, lda, sizeof(T))});
          host::geqrf(m, n, a[i], lda, tau[i]);
        }
        return true;
      });
}

template <typename T>
cublasStatus_t gels(
    const char* function,
    cublasHandle_t handle,
    cublasOperation_t operation,
    int m,
    int n,
    int columns,
    T* const a[],
    int lda,
    T* const c[],
    int ldc,
    int* info,
    int* device_info,
    int count) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (info == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *info = m < 0              ? -2
      : n < 0                ? -3
      : columns < 0          ? -4
      : lda < std::max(1, m) ? -6
      : ldc < std::max(1, m) ? -8
      : count < 0            ? -10
                             : 0;
  if (*info != 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // cuBLAS solves overdetermined systems without transposition only.
  if (operation != CUBLAS_OP_N || m < n) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const bool is_empty = m == 0 || columns == 0;
  const std::size_t pointers = is_empty ? 0 : count * sizeof(void*);
  return submit_checked(
      function,
      handle,
      {{a, pointers},
       {c, pointers},
       {device_info, device_info == nullptr ? 0 : count * sizeof(int)}},
      [=] {
        reads({{a, pointers}, {c, pointers}});
        for (int i = 0; i < count; ++i) {
          if (!is_empty &&
              !accessible(
                  function,
                  {{a[i], matrix_bytes(m, n, lda, sizeof(T))},
                   {c[i], matrix_bytes(m, columns, ldc, sizeof(T))}})) {
            return false;
          }
          if (!is_empty) {
            reads(
                {matrix_read(a[i], m, n, lda, sizeof(T)),
                 matrix_read(c[i], m, columns, ldc, sizeof(T))});
          }
          const int result = is_empty
              ? 0
              : host::gels('N', m, n, columns, a[i], lda, c[i], ldc);
          if (device_info != nullptr) {
            device_info[i] = result;
          }
        }
        return true;
      });
}

} // namespace
} // namespace accelerator::blas

using namespace accelerator::blas;

ENTRY_POINTS(7, cublas, getrfBatched, getrf)
ENTRY_POINTS(11, cublas, getrsBatched, getrs)
ENTRY_POINTS(9, cublas, getriBatched, getri)
ENTRY_POINTS(8, cublas, geqrfBatched, geqrf)
ENTRY_POINTS(12, cublas, gelsBatched, gels)

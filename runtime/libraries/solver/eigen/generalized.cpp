// Eigenvalues of pairs of symmetric or Hermitian matrices, and some of those of
// one. Jacobi's method gives what LAPACK's gives.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "runtime/libraries/solver/eigen/range.h"
#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

/// The matrices of a call; B is null where there is but one.
template <typename T>
struct Pencil {
  cusolverEigType_t type;
  cusolverEigMode_t mode;
  cublasFillMode_t triangle;
  int n;
  T* a;
  int lda;
  T* b;
  int ldb;

  bool has_vectors() const {
    return mode == CUSOLVER_EIG_MODE_VECTOR;
  }
  /// @returns LAPACK's info.
  int solve(const Routines<T>& lapack, RealOf<T>* values) const {
    const char job = has_vectors() ? 'V' : 'N';
    reads({triangle_read(a, triangle, n, lda)});
    if (b == nullptr) {
      return lapack.syevd(job, letter(triangle), n, a, lda, values);
    }
    reads({triangle_read(b, triangle, n, ldb)});
    return lapack.sygvd(
        static_cast<int>(type),
        job,
        letter(triangle),
        n,
        a,
        lda,
        b,
        ldb,
        values);
  }
};

template <typename T>
cusolverStatus_t check_pencil(
    cusolverDnHandle_t handle,
    const Pencil<T>& pencil) {
  return check(
      handle,
      {pencil.type >= CUSOLVER_EIG_TYPE_1 && pencil.type <= CUSOLVER_EIG_TYPE_3,
       is_mode(pencil.mode),
       is_triangle(pencil.triangle),
       is_matrix(pencil.n, pencil.n, pencil.lda),
       is_matrix(pencil.n, pencil.n, pencil.ldb)});
}

template <typename T>
cusolverStatus_t check_pencil(
    cusolverDnHandle_t handle,
    const Pencil<T>& pencil,
    const Range<RealOf<T>>& range) {
  const auto status = check_pencil(handle, pencil);
  return status != CUSOLVER_STATUS_SUCCESS
      ? status
      : check(handle, {range.is_valid(pencil.n)});
}

/// All eigenvalues.
template <typename T>
cusolverStatus_t sygvd(
    const char* function,
    cusolverDnHandle_t handle,
    const Pencil<T>& its,
    RealOf<T>* values,
    int work_size,
    int* info) {
  for (const auto status :
       {check_pencil(handle, its),
        check(handle, {work_size >= kWorkSize, info != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  return submit<T>(
      function,
      handle,
      {matrix(its.a, its.n, its.n, its.lda),
       matrix(its.b, its.n, its.n, its.ldb),
       vector(values, its.n),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        *info = its.solve(lapack, values);
        return true;
      });
}

/// A triangle's matrix, column-major and dense.
template <typename T>
std::vector<std::complex<double>> whole(
    cublasFillMode_t triangle,
    int n,
    const T* a,
    int lda) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::complex<double>> result(size * size);
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = j; i < size; ++i) {
      const bool is_lower = triangle == CUBLAS_FILL_MODE_LOWER;
      const std::complex<double> value(
          is_lower ? a[j * lda + i] : a[i * lda + j]);
      result[j * size + i] = is_lower ? value : std::conj(value);
      result[i * size + j] = is_lower ? std::conj(value) : value;
    }
  }
  return result;
}

/// The norm of what V^H A V has besides W. For the second type it is V^H B A B
/// V: of V^H B V = 1 it is what the others' is.
template <typename T>
double residual_norm(
    const std::vector<std::complex<double>>& a,
    const std::vector<std::complex<double>>& b,
    const Pencil<T>& vectors,
    const RealOf<T>* values) {
  const auto n = static_cast<std::size_t>(vectors.n);
  const auto times_column = [n](const std::vector<std::complex<double>>& left,
                                const std::complex<double>* column) {
    std::vector<std::complex<double>> product(n);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        product[i] += left[k * n + i] * column[k];
      }
    }
    return product;
  };
  std::vector<std::vector<std::complex<double>>> columns;
  for (std::size_t j = 0; j < n; ++j) {
    const T* const column = vectors.a + j * vectors.lda;
    columns.emplace_back(column, column + n);
    if (vectors.type == CUSOLVER_EIG_TYPE_2) {
      columns[j] = times_column(b, columns[j].data());
    }
  }
  double sum = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const auto product = times_column(a, columns[j].data());
    for (std::size_t i = 0; i < n; ++i) {
      std::complex<double> element = i == j ? -double{values[j]} : 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        element += std::conj(columns[i][k]) * product[k];
      }
      sum += std::norm(element);
    }
  }
  return std::sqrt(sum);
}

/// All eigenvalues by Jacobi's method, which leaves a residual.
template <typename T>
cusolverStatus_t sygvj(
    const char* function,
    cusolverDnHandle_t handle,
    const Pencil<T>& its,
    RealOf<T>* values,
    int work_size,
    int* info,
    syevjInfo_t params) {
  for (const auto status :
       {check_pencil(handle, its),
        check(
            handle,
            {work_size >= kWorkSize, info != nullptr, params != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  auto residual = std::make_shared<std::atomic<double>>(std::nan(""));
  params->residual = residual;
  return submit<T>(
      function,
      handle,
      {matrix(its.a, its.n, its.n, its.lda),
       matrix(its.b, its.n, its.n, its.ldb),
       vector(values, its.n),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads(
            {triangle_read(its.a, its.triangle, its.n, its.lda),
             triangle_read(its.b, its.triangle, its.n, its.ldb)});
        const auto a = whole(its.triangle, its.n, its.a, its.lda);
        const auto b = whole(its.triangle, its.n, its.b, its.ldb);
        // The residual is that of the vectors, even where nobody wants them.
        Pencil<T> with_vectors = its;
        with_vectors.mode = CUSOLVER_EIG_MODE_VECTOR;
        const std::size_t elements =
            matrix_bytes(its.n, its.n, its.lda, sizeof(T)) / sizeof(T);
        std::vector<T> own(its.has_vectors() ? 0 : elements);
        if (!its.has_vectors()) {
          std::copy_n(its.a, elements, own.begin());
          with_vectors.a = own.data();
        }
        const int failed = with_vectors.solve(lapack, values);
        // LAPACK counts the minors of B behind the n of what does not
        // converge, and cuSOLVER before.
        *info = failed > its.n ? failed - its.n
            : failed > 0       ? its.n + 1
                               : failed;
        if (failed == 0) {
          *residual = residual_norm(a, b, with_vectors, values);
        }
        return true;
      });
}

/// Some of them.
/// @param count receives how many these are, on the host.
template <typename T, typename Count>
cusolverStatus_t in_range(
    const char* function,
    cusolverDnHandle_t handle,
    const Pencil<T>& its,
    const Range<RealOf<T>>& range,
    Count* count,
    RealOf<T>* values,
    int work_size,
    int* info) {
  for (const auto status :
       {check_pencil(handle, its, range),
        check(
            handle,
            {work_size >= kWorkSize, count != nullptr, info != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  return submit_counted(handle, range, its.n, count, [&](Count* unknown_count) {
    return submit<T>(
        function,
        handle,
        {matrix(its.a, its.n, its.n, its.lda),
         matrix(its.b, its.b == nullptr ? 0 : its.n, its.n, its.ldb),
         vector(values, its.n),
         vector(info, 1)},
        [=](const Routines<T>& lapack) {
          std::vector<RealOf<T>> all(static_cast<std::size_t>(its.n));
          *info = its.solve(lapack, all.data());
          const auto found = keep(
              range, all, values, its.has_vectors() ? its.a : nullptr, its.lda);
          if (unknown_count != nullptr) {
            *unknown_count = static_cast<Count>(found);
          }
          return true;
        });
  });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;
using accelerator::counterpart;

extern "C" {

// clang-format off
#define ACCEL_API(L, T, Api, Real, sy)                                                           \
  cusolverStatus_t cusolverDn##L##sy##gvd_bufferSize(cusolverDnHandle_t handle,                  \
      cusolverEigType_t type, cusolverEigMode_t mode, cublasFillMode_t triangle, int n,          \
      const Api*, int lda, const Api*, int ldb, const Real*, int* size) {                        \
    return answer_work_size(check_pencil(handle,                                                 \
        Pencil<T>{type, mode, triangle, n, nullptr, lda, nullptr, ldb}), sizeof(T), size);       \
  }                                                                                              \
  cusolverStatus_t cusolverDn##L##sy##gvd(cusolverDnHandle_t handle, cusolverEigType_t type,     \
      cusolverEigMode_t mode, cublasFillMode_t triangle, int n, Api* a, int lda, Api* b,         \
      int ldb, Real* values, Api*, int size, int* info) {                                        \
    return sygvd(__func__, handle,                                                               \
        Pencil<T>{type, mode, triangle, n, counterpart(a), lda, counterpart(b), ldb}, values,    \
        size, info);                                                                             \
  }                                                                                              \
  cusolverStatus_t cusolverDn##L##sy##gvj_bufferSize(cusolverDnHandle_t handle,                  \
      cusolverEigType_t type, cusolverEigMode_t mode, cublasFillMode_t triangle, int n,          \
      const Api*, int lda, const Api*, int ldb, const Real*, int* size, syevjInfo_t) {           \
    return answer_work_size(check_pencil(handle,                                                 \
        Pencil<T>{type, mode, triangle, n, nullptr, lda, nullptr, ldb}), sizeof(T), size);       \
  }                                                                                              \
  cusolverStatus_t cusolverDn##L##sy##gvj(cusolverDnHandle_t handle, cusolverEigType_t type,     \
      cusolverEigMode_t mode, cublasFillMode_t triangle, int n, Api* a, int lda, Api* b,         \
      int ldb, Real* values, Api*, int size, int* info, syevjInfo_t params) {                    \
    return sygvj(__func__, handle,                                                               \
        Pencil<T>{type, mode, triangle, n, counterpart(a), lda, counterpart(b), ldb}, values,    \
        size, info, params);                                                                     \
  }                                                                                              \
  cusolverStatus_t cusolverDn##L##sy##gvdx_bufferSize(cusolverDnHandle_t handle,                 \
      cusolverEigType_t type, cusolverEigMode_t mode, cusolverEigRange_t range,                  \
      cublasFillMode_t triangle, int n, const Api*, int lda, const Api*, int ldb, Real vl,       \
      Real vu, int il, int iu, int*, const Real*, int* size) {                                   \
    return answer_work_size(check_pencil(handle,                                                 \
        Pencil<T>{type, mode, triangle, n, nullptr, lda, nullptr, ldb},                          \
        {range, vl, vu, il, iu}), sizeof(T), size);                                              \
  }                                                                                              \
  cusolverStatus_t cusolverDn##L##sy##gvdx(cusolverDnHandle_t handle, cusolverEigType_t type,    \
      cusolverEigMode_t mode, cusolverEigRange_t range, cublasFillMode_t triangle, int n,        \
      Api* a, int lda, Api* b, int ldb, Real vl, Real vu, int il, int iu, int* count,            \
      Real* values, Api*, int size, int* info) {                                                 \
    return in_range(__func__, handle,                                                            \
        Pencil<T>{type, mode, triangle, n, counterpart(a), lda, counterpart(b), ldb},            \
        {range, vl, vu, il, iu}, count, values, size, info);                                     \
  }                                                                                              \
  cusolverStatus_t cusolverDn##L##sy##evdx_bufferSize(cusolverDnHandle_t handle,                 \
      cusolverEigMode_t mode, cusolverEigRange_t range, cublasFillMode_t triangle, int n,        \
      const Api*, int lda, Real vl, Real vu, int il, int iu, int*, const Real*, int* size) {     \
    return answer_work_size(check_pencil(handle,                                                 \
        Pencil<T>{CUSOLVER_EIG_TYPE_1, mode, triangle, n, nullptr, lda, nullptr, lda},           \
        {range, vl, vu, il, iu}), sizeof(T), size);                                              \
  }                                                                                              \
  cusolverStatus_t cusolverDn##L##sy##evdx(cusolverDnHandle_t handle, cusolverEigMode_t mode,    \
      cusolverEigRange_t range, cublasFillMode_t triangle, int n, Api* a, int lda, Real vl,      \
      Real vu, int il, int iu, int* count, Real* values, Api*, int size, int* info) {            \
    return in_range(__func__, handle,                                                            \
        Pencil<T>{CUSOLVER_EIG_TYPE_1, mode, triangle, n, counterpart(a), lda, nullptr, lda},    \
        {range, vl, vu, il, iu}, count, values, size, info);                                     \
  }
ACCEL_API(S, float, float, float, sy)
ACCEL_API(D, double, double, double, sy)
ACCEL_API(C, std::complex<float>, cuComplex, float, he)
ACCEL_API(Z, std::complex<double>, cuDoubleComplex, double, he)
#undef ACCEL_API
// clang-format on

// The same for matrices of 64-bit sizes, whose types are arguments.

cusolverStatus_t cusolverDnXsyevdx_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cusolverEigMode_t mode,
    cusolverEigRange_t range,
    cublasFillMode_t triangle,
    int64_t n,
    cudaDataType type,
    const void*,
    int64_t lda,
    void*,
    void*,
    int64_t,
    int64_t,
    int64_t*,
    cudaDataType type_values,
    const void*,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(handle, type, {compute_type}, {n, lda}, [&](auto zero) {
    return answer_work_size(
        check(
            handle,
            {type_values == real_of(type),
             is_mode(mode),
             range >= CUSOLVER_EIG_RANGE_ALL && range <= CUSOLVER_EIG_RANGE_V,
             is_triangle(triangle),
             is_matrix(narrow(n), narrow(n), narrow(lda))}),
        sizeof(zero),
        device_bytes,
        host_bytes);
  });
}

cusolverStatus_t cusolverDnXsyevdx(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cusolverEigMode_t mode,
    cusolverEigRange_t range,
    cublasFillMode_t triangle,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    void* vl,
    void* vu,
    int64_t il,
    int64_t iu,
    int64_t* count,
    cudaDataType type_values,
    void* values,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle, type, {compute_type}, {n, lda}, device_bytes, [&](auto zero) {
        using T = decltype(zero);
        using Real = accelerator::solver::RealOf<T>;
        const bool is_interval = range == CUSOLVER_EIG_RANGE_V;
        if (type_values != real_of(type) ||
            (is_interval && (vl == nullptr || vu == nullptr))) {
          return CUSOLVER_STATUS_INVALID_VALUE;
        }
        return in_range(
            "cusolverDnXsyevdx",
            handle,
            Pencil<T>{
                CUSOLVER_EIG_TYPE_1,
                mode,
                triangle,
                narrow(n),
                static_cast<T*>(a),
                narrow(lda),
                nullptr,
                narrow(lda)},
            {range,
             is_interval ? *static_cast<const Real*>(vl) : Real{},
             is_interval ? *static_cast<const Real*>(vu) : Real{},
             il,
             iu},
            count,
            static_cast<Real*>(values),
            kWorkSize,
            info);
      });
}

} // extern "C"

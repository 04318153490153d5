// Eigenvalues of matrices of any kind.
#include <cmath>
#include <limits>

#include "runtime/libraries/solver/generic.h"

namespace accelerator::solver {
namespace {

cudaDataType complex_of(cudaDataType type) {
  return type == CUDA_R_32F ? CUDA_C_32F
      : type == CUDA_R_64F  ? CUDA_C_64F
                            : type;
}

template <typename T>
struct Vectors {
  cusolverEigMode_t mode;
  T* elements;
  int leading;

  bool are_wanted() const {
    return mode == CUSOLVER_EIG_MODE_VECTOR;
  }
  char letter() const {
    return are_wanted() ? 'V' : 'N';
  }
  Extent extent(int n) const {
    return are_wanted() ? matrix(elements, n, n, leading) : Extent{nullptr, 0};
  }
};

cusolverStatus_t check_geev(
    cusolverDnHandle_t handle,
    cusolverEigMode_t left,
    cusolverEigMode_t right,
    int n,
    int lda,
    int ldvl,
    int ldvr) {
  const auto fits = [n](cusolverEigMode_t mode, int leading) {
    return leading >= (mode == CUSOLVER_EIG_MODE_VECTOR ? std::max(1, n) : 1);
  };
  return check(
      handle,
      {is_mode(left),
       is_mode(right),
       is_matrix(n, n, lda),
       fits(left, ldvl),
       fits(right, ldvr)});
}

template <typename T>
bool is_finite(const T* a, int n, int lda) {
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const T& value = a[j * lda + i];
      if (!std::isfinite(std::real(value)) ||
          !std::isfinite(std::imag(value))) {
        return false;
      }
    }
  }
  return true;
}

/// A value as T, or its parts: the real ones of n values come before the
/// imaginary ones where `parts` is wanted.
template <typename Real>
void write_value(
    void* values,
    bool parts,
    int n,
    int i,
    const std::complex<Real>& value) {
  if (parts) {
    static_cast<Real*>(values)[i] = value.real();
    static_cast<Real*>(values)[n + i] = value.imag();
  } else {
    static_cast<std::complex<Real>*>(values)[i] = value;
  }
}

template <typename T>
cusolverStatus_t geev(
    const char* function,
    cusolverDnHandle_t handle,
    int n,
    T* a,
    int lda,
    void* values,
    bool parts,
    Vectors<T> left,
    Vectors<T> right,
    int* info) {
  using Real = RealOf<T>;
  for (const auto status :
       {check_geev(
            handle, left.mode, right.mode, n, lda, left.leading, right.leading),
        check(handle, {info != nullptr})}) {
    if (status != CUSOLVER_STATUS_SUCCESS) {
      return status;
    }
  }
  return submit<T>(
      function,
      handle,
      {matrix(a, n, n, lda),
       vector(static_cast<std::complex<Real>*>(values), n),
       left.extent(n),
       right.extent(n),
       vector(info, 1)},
      [=](const Routines<T>& lapack) {
        reads({matrix_read(a, n, n, lda)});
        constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();
        std::vector<std::complex<Real>> found(
            static_cast<std::size_t>(n) + 1, {kNan, kNan});
        if (is_finite(a, n, lda)) {
          *info = lapack.geev(
              left.letter(),
              right.letter(),
              n,
              a,
              lda,
              found.data(),
              left.elements,
              left.leading,
              right.elements,
              right.leading);
        } else {
          // LAPACK's answer would be anything: no value was found.
          *info = n;
          for (const Vectors<T>& vectors : {left, right}) {
            for (std::ptrdiff_t j = 0; vectors.are_wanted() && j < n; ++j) {
              std::fill_n(vectors.elements + j * vectors.leading, n, T(kNan));
            }
          }
        }
        for (int i = 0; i < n; ++i) {
          write_value(values, parts, n, i, found[static_cast<std::size_t>(i)]);
        }
        return true;
      });
}

} // namespace
} // namespace accelerator::solver

using namespace accelerator::solver;

// The headers of CUDA 12.4 lack both.
extern "C" {

cusolverStatus_t cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cusolverEigMode_t left,
    cusolverEigMode_t right,
    int64_t n,
    cudaDataType type,
    const void*,
    int64_t lda,
    cudaDataType type_values,
    const void*,
    cudaDataType type_left,
    const void*,
    int64_t ldvl,
    cudaDataType type_right,
    const void*,
    int64_t ldvr,
    cudaDataType compute_type,
    size_t* device_bytes,
    size_t* host_bytes) {
  return dispatch(
      handle,
      type,
      {type_left, type_right, compute_type},
      {n, lda, ldvl, ldvr},
      [&](auto zero) {
        const auto status = check(
            handle, {type_values == type || type_values == complex_of(type)});
        return answer_work_size(
            status != CUSOLVER_STATUS_SUCCESS ? status
                                              : check_geev(
                                                    handle,
                                                    left,
                                                    right,
                                                    narrow(n),
                                                    narrow(lda),
                                                    narrow(ldvl),
                                                    narrow(ldvr)),
            sizeof(zero),
            device_bytes,
            host_bytes);
      });
}

cusolverStatus_t cusolverDnXgeev(
    cusolverDnHandle_t handle,
    cusolverDnParams_t,
    cusolverEigMode_t left,
    cusolverEigMode_t right,
    int64_t n,
    cudaDataType type,
    void* a,
    int64_t lda,
    cudaDataType type_values,
    void* values,
    cudaDataType type_left,
    void* vl,
    int64_t ldvl,
    cudaDataType type_right,
    void* vr,
    int64_t ldvr,
    cudaDataType compute_type,
    void*,
    size_t device_bytes,
    void*,
    size_t,
    int* info) {
  return dispatch_with_work(
      handle,
      type,
      {type_left, type_right, compute_type},
      {n, lda, ldvl, ldvr},
      device_bytes,
      [&](auto zero) {
        using T = decltype(zero);
        if (type_values != type && type_values != complex_of(type)) {
          return CUSOLVER_STATUS_INVALID_VALUE;
        }
        return geev(
            "cusolverDnXgeev",
            handle,
            narrow(n),
            static_cast<T*>(a),
            narrow(lda),
            values,
            !kIsComplex<T> && type_values == type,
            Vectors<T>{left, static_cast<T*>(vl), narrow(ldvl)},
            Vectors<T>{right, static_cast<T*>(vr), narrow(ldvr)},
            info);
      });
}

} // extern "C"

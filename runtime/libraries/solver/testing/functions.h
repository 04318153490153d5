// cuSOLVER's functions by element type, and what its tests share.
#pragma once

#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::solver::testing {

using blas::testing::apply;
using blas::testing::Array;
using blas::testing::expect_near;
using blas::testing::Matrix;
using blas::testing::random;
using blas::testing::Wide;

// clang-format off
#define ACCEL_FUNCTIONS(Name, L, Element, ApiType, RealType, orthogonal, symmetric, type, real) \
  struct Name {                                                               \
    using T = Element;                                                        \
    using Api = ApiType;                                                      \
    using Real = RealType;                                                    \
    static constexpr bool kIsComplex = !std::is_same_v<T, Real>;              \
    static constexpr double kTolerance =                                      \
        4000 * std::numeric_limits<Real>::epsilon();                          \
    static constexpr cudaDataType kType = type;                               \
    static constexpr cudaDataType kRealType = real;                           \
    static constexpr auto getrf_size = cusolverDn##L##getrf_bufferSize;       \
    static constexpr auto getrf = cusolverDn##L##getrf;                       \
    static constexpr auto getrs = cusolverDn##L##getrs;                       \
    static constexpr auto laswp = cusolverDn##L##laswp;                       \
    static constexpr auto potrf_size = cusolverDn##L##potrf_bufferSize;       \
    static constexpr auto potrf = cusolverDn##L##potrf;                       \
    static constexpr auto potrs = cusolverDn##L##potrs;                       \
    static constexpr auto potri_size = cusolverDn##L##potri_bufferSize;       \
    static constexpr auto potri = cusolverDn##L##potri;                       \
    static constexpr auto potrf_batched = cusolverDn##L##potrfBatched;        \
    static constexpr auto potrs_batched = cusolverDn##L##potrsBatched;        \
    static constexpr auto geqrf_size = cusolverDn##L##geqrf_bufferSize;       \
    static constexpr auto geqrf = cusolverDn##L##geqrf;                       \
    static constexpr auto orgqr_size = cusolverDn##L##orthogonal##gqr_bufferSize; \
    static constexpr auto orgqr = cusolverDn##L##orthogonal##gqr;             \
    static constexpr auto ormqr_size = cusolverDn##L##orthogonal##mqr_bufferSize; \
    static constexpr auto ormqr = cusolverDn##L##orthogonal##mqr;             \
    static constexpr auto sytrd_size = cusolverDn##L##symmetric##trd_bufferSize; \
    static constexpr auto sytrd = cusolverDn##L##symmetric##trd;              \
    static constexpr auto orgtr_size = cusolverDn##L##orthogonal##gtr_bufferSize; \
    static constexpr auto orgtr = cusolverDn##L##orthogonal##gtr;             \
    static constexpr auto ormtr_size = cusolverDn##L##orthogonal##mtr_bufferSize; \
    static constexpr auto ormtr = cusolverDn##L##orthogonal##mtr;             \
    static constexpr auto sytrf_size = cusolverDn##L##sytrf_bufferSize;       \
    static constexpr auto sytrf = cusolverDn##L##sytrf;                       \
    static constexpr auto syevd_size = cusolverDn##L##symmetric##evd_bufferSize; \
    static constexpr auto syevd = cusolverDn##L##symmetric##evd;              \
    static constexpr auto syevj_size = cusolverDn##L##symmetric##evj_bufferSize; \
    static constexpr auto syevj = cusolverDn##L##symmetric##evj;              \
    static constexpr auto syevj_batched_size = cusolverDn##L##symmetric##evjBatched_bufferSize; \
    static constexpr auto syevj_batched = cusolverDn##L##symmetric##evjBatched; \
    static constexpr auto sygvd_size = cusolverDn##L##symmetric##gvd_bufferSize; \
    static constexpr auto sygvd = cusolverDn##L##symmetric##gvd;              \
    static constexpr auto sygvj_size = cusolverDn##L##symmetric##gvj_bufferSize; \
    static constexpr auto sygvj = cusolverDn##L##symmetric##gvj;              \
    static constexpr auto sygvdx_size = cusolverDn##L##symmetric##gvdx_bufferSize; \
    static constexpr auto sygvdx = cusolverDn##L##symmetric##gvdx;            \
    static constexpr auto syevdx_size = cusolverDn##L##symmetric##evdx_bufferSize; \
    static constexpr auto syevdx = cusolverDn##L##symmetric##evdx;            \
    static constexpr auto gesvd_size = cusolverDn##L##gesvd_bufferSize;       \
    static constexpr auto gesvd = cusolverDn##L##gesvd;                       \
    static constexpr auto gesvdj_size = cusolverDn##L##gesvdj_bufferSize;     \
    static constexpr auto gesvdj = cusolverDn##L##gesvdj;                     \
    static constexpr auto gesvdj_batched_size = cusolverDn##L##gesvdjBatched_bufferSize; \
    static constexpr auto gesvdj_batched = cusolverDn##L##gesvdjBatched;      \
    static constexpr auto gesvda_size = cusolverDn##L##gesvdaStridedBatched_bufferSize; \
    static constexpr auto gesvda = cusolverDn##L##gesvdaStridedBatched;       \
  };
ACCEL_FUNCTIONS(Single, S, float, float, float, or, sy, CUDA_R_32F, CUDA_R_32F)
ACCEL_FUNCTIONS(Double, D, double, double, double, or, sy, CUDA_R_64F, CUDA_R_64F)
ACCEL_FUNCTIONS(SingleComplex, C, std::complex<float>, cuComplex, float, un, he, CUDA_C_32F, CUDA_R_32F)
ACCEL_FUNCTIONS(DoubleComplex, Z, std::complex<double>, cuDoubleComplex, double, un, he, CUDA_C_64F, CUDA_R_64F)
#undef ACCEL_FUNCTIONS
// clang-format on

using AllTypes = ::testing::Types<Single, Double, SingleComplex, DoubleComplex>;

/// A test with a handle, a work area and an info, for one element type.
template <typename F>
class SolverTest : public ::testing::Test {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;
  using Real = typename F::Real;

  void SetUp() override {
    ASSERT_EQ(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(cusolverDnCreateParams(&params), CUSOLVER_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cusolverDnDestroyParams(params), CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(cusolverDnDestroy(handle), CUSOLVER_STATUS_SUCCESS);
  }

  /// What the last function said of its result.
  int last_info() const {
    return info.values()[0];
  }
  /// Random numbers, of which every bit of imaginary parts is left to T.
  static Matrix random_matrix(int rows, int columns, unsigned seed) {
    return Matrix(
        random<T>(static_cast<std::size_t>(rows) * columns, seed),
        rows,
        columns,
        rows);
  }
  /// Hermitian, or, on demand, with eigenvalues that are all positive.
  static Matrix hermitian(int n, unsigned seed, bool is_positive) {
    const Matrix a = random_matrix(n, n, seed);
    Matrix result = is_positive ? a * apply(CUBLAS_OP_C, a) : a;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < j; ++i) {
        result(i, j) = std::conj(result(j, i));
      }
      result(j, j) = result(j, j).real() + (is_positive ? n : 0);
    }
    return result;
  }
  /// As elements of the device, with a value between the columns.
  static std::vector<T> packed(const Matrix& a, int leading) {
    std::vector<T> values(static_cast<std::size_t>(leading) * a.columns, T(77));
    for (int j = 0; j < a.columns; ++j) {
      for (int i = 0; i < a.rows; ++i) {
        values[static_cast<std::size_t>(j) * leading + i] = narrow(a(i, j));
      }
    }
    return values;
  }
  /// A matrix that begins somewhere in an array.
  static Matrix piece(
      const std::vector<T>& values,
      std::ptrdiff_t first,
      int rows,
      int columns,
      int leading) {
    return Matrix(
        std::vector<T>(values.begin() + first, values.end()),
        rows,
        columns,
        leading);
  }
  static T narrow(Wide value) {
    if constexpr (F::kIsComplex) {
      return T(value);
    } else {
      return static_cast<T>(value.real());
    }
  }
  static Matrix identity(int n) {
    Matrix result(n, n);
    for (int i = 0; i < n; ++i) {
      result(i, i) = 1;
    }
    return result;
  }
  template <typename Values>
  static Matrix diagonal(const Values& values, int rows, int columns) {
    Matrix result(rows, columns);
    for (int i = 0; i < std::min(rows, columns); ++i) {
      result(i, i) = static_cast<double>(values[i]);
    }
    return result;
  }
  /// What is above the diagonal, and below, and on it: ones, or its own.
  static Matrix upper(const Matrix& a, int rows) {
    Matrix result(rows, a.columns);
    for (int j = 0; j < a.columns; ++j) {
      for (int i = 0; i <= std::min(j, rows - 1); ++i) {
        result(i, j) = a(i, j);
      }
    }
    return result;
  }
  static Matrix lower(const Matrix& a, int columns, bool is_unit) {
    Matrix result(a.rows, columns);
    for (int j = 0; j < columns; ++j) {
      for (int i = j; i < a.rows; ++i) {
        result(i, j) = is_unit && i == j ? Wide(1) : a(i, j);
      }
    }
    return result;
  }
  static Matrix first_columns(const Matrix& a, int columns) {
    Matrix result(a.rows, columns);
    std::copy_n(a.values.begin(), result.values.size(), result.values.begin());
    return result;
  }
  /// That columns have length 1 and right angles.
  static void expect_orthonormal(const Matrix& a) {
    expect_near(apply(CUBLAS_OP_C, a) * a, identity(a.columns), F::kTolerance);
  }

  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t params = nullptr;
  const Array<int> info{std::vector<int>(1, -99)};
  const Array<T> work{std::vector<T>(8)};
};

} // namespace accelerator::solver::testing

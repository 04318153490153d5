// Symmetric, Hermitian and triangular matrices for tests of cuBLAS, of which
// one triangle is stored, and the functions for them by their kinds.
#pragma once

#include <type_traits>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {

inline constexpr int kM = 7;
inline constexpr int kN = 5;
inline constexpr int kLead = 9;
inline constexpr cublasFillMode_t kFills[] = {
    CUBLAS_FILL_MODE_LOWER,
    CUBLAS_FILL_MODE_UPPER};
inline constexpr cublasOperation_t kOperations[] = {
    CUBLAS_OP_N,
    CUBLAS_OP_T,
    CUBLAS_OP_C};

/// The functions of symmetric matrices, or of Hermitian ones, whose updates by
/// one matrix have a real factor.
#define ACCEL_FUNCTIONS(Name, Base, L, ger_, gerc_, sy, scale) \
  struct Name : Base {                                         \
    static constexpr bool kHermitian = #sy[0] == 'h';          \
    using Scale = scale;                                       \
    static constexpr auto ger = ger_;                          \
    static constexpr auto gerc = gerc_;                        \
    static constexpr auto symv = cublas##L##sy##mv;            \
    static constexpr auto syr = cublas##L##sy##r;              \
    static constexpr auto syr2 = cublas##L##sy##r2;            \
    static constexpr auto trmv = cublas##L##trmv;              \
    static constexpr auto trsv = cublas##L##trsv;              \
    static constexpr auto symm = cublas##L##sy##mm;            \
    static constexpr auto syrk = cublas##L##sy##rk;            \
    static constexpr auto syr2k = cublas##L##sy##r2k;          \
    static constexpr auto syrkx = cublas##L##sy##rkx;          \
    static constexpr auto trmm = cublas##L##trmm;              \
  };
ACCEL_FUNCTIONS(Real32, Single, S, cublasSger, cublasSger, sy, float)
ACCEL_FUNCTIONS(Real64, Double, D, cublasDger, cublasDger, sy, double)
ACCEL_FUNCTIONS(
    Symmetric32,
    SingleComplex,
    C,
    cublasCgeru,
    cublasCgerc,
    sy,
    cuComplex)
ACCEL_FUNCTIONS(
    Symmetric64,
    DoubleComplex,
    Z,
    cublasZgeru,
    cublasZgerc,
    sy,
    cuDoubleComplex)
ACCEL_FUNCTIONS(
    Hermitian32,
    SingleComplex,
    C,
    cublasCgeru,
    cublasCgerc,
    he,
    float)
ACCEL_FUNCTIONS(
    Hermitian64,
    DoubleComplex,
    Z,
    cublasZgeru,
    cublasZgerc,
    he,
    double)
#undef ACCEL_FUNCTIONS

using Kinds = ::testing::
    Types<Real32, Real64, Symmetric32, Symmetric64, Hermitian32, Hermitian64>;

/// A test of functions of one kind of matrices, with one of them and vectors.
template <typename F>
class SymmetricTest : public HandleTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;
  using Scale = typename F::Scale;

  /// A vector as a column, from its elements with a stride.
  static Matrix column(const std::vector<T>& values, int n, int stride) {
    Matrix result(n, 1);
    for (int i = 0; i < n; ++i) {
      result(i, 0) = Wide(values[static_cast<std::size_t>(
          stride > 0 ? i * stride : (n - 1 - i) * -stride)]);
    }
    return result;
  }
  /// A number times a matrix, and their sum.
  static Matrix sum(Wide a, const Matrix& x, Wide b, const Matrix& y) {
    Matrix result = x;
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      result.values[i] = a * x.values[i] + b * y.values[i];
    }
    return result;
  }
  static constexpr cublasOperation_t kOther =
      F::kHermitian ? CUBLAS_OP_C : CUBLAS_OP_T;

  /// The matrix whose triangle is stored.
  static Matrix whole(const std::vector<T>& a, cublasFillMode_t fill) {
    const Matrix stored(a, kN, kN, kLead);
    Matrix result = stored;
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kN; ++i) {
        const bool is_there = fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
        if (!is_there) {
          result(i, j) = apply(kOther, stored)(i, j);
        }
      }
      if (F::kHermitian) {
        result(j, j) = result(j, j).real();
      }
    }
    return result;
  }
  /// That a triangle is the wanted one's, and the rest as it was.
  static void expect_triangle(
      const std::vector<T>& found,
      const std::vector<T>& before,
      cublasFillMode_t fill,
      const Matrix& wanted) {
    Matrix all(before, kN, kN, kLead);
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kN; ++i) {
        if (fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j) {
          all(i, j) = wanted(i, j);
        }
      }
    }
    expect_near(Matrix(found, kN, kN, kLead), all, F::kTolerance);
    for (int j = 0; j < kN; ++j) {
      for (int i = kN; i < kLead; ++i) {
        EXPECT_EQ(found[j * kLead + i], before[j * kLead + i]);
      }
    }
  }
  /// That `found` is alpha times `matrix` times x, and beta times y.
  void expect_product(
      const std::vector<T>& found,
      const Matrix& matrix,
      int incx,
      int incy) {
    expect_near(
        this->column(found, matrix.rows, incy),
        this->sum(
            Wide(this->alpha),
            matrix * this->column(this->x, matrix.columns, incx),
            Wide(this->beta),
            this->column(this->y, matrix.rows, incy)),
        F::kTolerance);
  }
  /// The triangle that counts of a triangular matrix.
  static Matrix triangle(
      const std::vector<T>& a,
      cublasFillMode_t fill,
      bool is_unit) {
    const Matrix stored(a, kN, kN, kLead);
    Matrix result(kN, kN);
    for (int j = 0; j < kN; ++j) {
      for (int i = 0; i < kN; ++i) {
        if (fill == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j) {
          result(i, j) = stored(i, j);
        }
      }
      result(j, j) = is_unit ? Wide(1) : stored(j, j);
    }
    return result;
  }

  /// Numbers with imaginary parts where there are some.
  static T number(double real, double imaginary) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(real);
    } else {
      return {
          static_cast<typename F::Real>(real),
          static_cast<typename F::Real>(imaginary)};
    }
  }
  const T alpha = number(1.5, -0.5);
  const T beta = number(-0.75, 0.25);
  /// Those of updates, which are the real parts where they are Hermitian.
  static const Scale* scale(const T& number) {
    return reinterpret_cast<const Scale*>(&number);
  }
  static Wide scale_value(const T& number) {
    return F::kHermitian ? Wide(std::real(number)) : Wide(number);
  }

  const std::vector<T> a = random<T>(kLead * kLead, 1);
  const std::vector<T> x = random<T>(3 * kLead, 2);
  const std::vector<T> y = random<T>(3 * kLead, 3);
  const Array<T> x_array{x};
};

} // namespace accelerator::blas::testing

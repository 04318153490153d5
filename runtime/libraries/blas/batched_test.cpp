// Triangular systems, LU, QR and least squares: a product with what was solved
// or factored gives what was there before.
#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kCount = 3;
constexpr int kN = 6;
constexpr int kLeading = 8;
constexpr int kColumns = 4;
constexpr std::size_t kElements = kLeading * kN;

template <typename F>
class Batched : public HandleTest<F> {
 protected:
  using T = typename F::T;

  /// Matrix `i` of an array of square ones.
  static Matrix square(const std::vector<T>& values, int i) {
    return part(values, i, kN);
  }
  static Matrix part(const std::vector<T>& values, int i, int columns) {
    const std::size_t elements = kLeading * static_cast<std::size_t>(columns);
    return Matrix(
        std::vector<T>(
            values.begin() + i * elements, values.begin() + (i + 1) * elements),
        kN,
        columns,
        kLeading);
  }
  /// The triangle of a matrix that a system uses.
  static Matrix triangle(Matrix a, bool lower, bool unit) {
    for (int i = 0; i < a.rows; ++i) {
      for (int j = 0; j < a.columns; ++j) {
        if (lower ? j > i : j < i) {
          a(i, j) = 0;
        }
      }
      if (unit) {
        a(i, i) = 1;
      }
    }
    return a;
  }
  /// Far enough from singular for any triangle of it.
  static std::vector<T> regular(unsigned seed) {
    std::vector<T> values = random<T>(kElements * kCount, seed);
    for (int m = 0; m < kCount; ++m) {
      for (std::size_t i = 0; i < kN; ++i) {
        values[m * kElements + i * kLeading + i] += T(6);
      }
    }
    return values;
  }
};

TYPED_TEST_SUITE(Batched, AllTypes);

TYPED_TEST(Batched, TriangularSystemsAreSolved) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a = this->regular(1);
  const Array<T> a_array(a);
  const T alpha(2);
  for (const auto fill : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      for (const auto diagonal : {CUBLAS_DIAG_UNIT, CUBLAS_DIAG_NON_UNIT}) {
        const auto b = random<T>(kLeading * kColumns, 2);
        const Array<T> x(b);
        ASSERT_EQ(
            F::trsm(
                this->handle,
                CUBLAS_SIDE_LEFT,
                fill,
                op,
                diagonal,
                kN,
                kColumns,
                this->scalar(&alpha),
                a_array.template get<Api>(),
                kLeading,
                x.template get<Api>(),
                kLeading),
            CUBLAS_STATUS_SUCCESS);
        const Matrix used = apply(
            op,
            this->triangle(
                this->square(a, 0),
                fill == CUBLAS_FILL_MODE_LOWER,
                diagonal == CUBLAS_DIAG_UNIT));
        Matrix wanted = this->part(b, 0, kColumns);
        for (Wide& value : wanted.values) {
          value *= 2;
        }
        const double scale = diagonal == CUBLAS_DIAG_UNIT ? 1000 : 1;
        expect_near(
            used * this->part(x.values(), 0, kColumns),
            wanted,
            F::kTolerance * scale);
      }
    }
  }
}

TYPED_TEST(Batched, TriangularSystemsAreSolvedFromTheRight) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a = this->regular(1);
  const auto b = random<T>(kLeading * kN, 2);
  const Array<T> a_array(a);
  const Array<T> x(b);
  const T alpha(1);
  // Three rows: X op(A) = B.
  constexpr int kRows = 3;
  ASSERT_EQ(
      F::trsm(
          this->handle,
          CUBLAS_SIDE_RIGHT,
          CUBLAS_FILL_MODE_UPPER,
          CUBLAS_OP_T,
          CUBLAS_DIAG_NON_UNIT,
          kRows,
          kN,
          this->scalar(&alpha),
          a_array.template get<Api>(),
          kLeading,
          x.template get<Api>(),
          kLeading),
      CUBLAS_STATUS_SUCCESS);
  expect_near(
      Matrix(x.values(), kRows, kN, kLeading) *
          apply(CUBLAS_OP_T, this->triangle(this->square(a, 0), false, false)),
      Matrix(b, kRows, kN, kLeading),
      F::kTolerance);
}

TYPED_TEST(Batched, ManyTriangularSystemsAreSolved) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a = this->regular(3);
  const auto b = random<T>(kLeading * kColumns * kCount, 4);
  const Array<T> a_array(a);
  const Array<T> x(b);
  const Array<Api*> a_pieces(this->pieces(a_array, kCount, kElements));
  const Array<Api*> x_pieces(this->pieces(x, kCount, kLeading * kColumns));
  const T alpha(1);
  ASSERT_EQ(
      F::trsm_batched(
          this->handle,
          CUBLAS_SIDE_LEFT,
          CUBLAS_FILL_MODE_LOWER,
          CUBLAS_OP_N,
          CUBLAS_DIAG_NON_UNIT,
          kN,
          kColumns,
          this->scalar(&alpha),
          a_pieces.get(),
          kLeading,
          x_pieces.get(),
          kLeading,
          kCount),
      CUBLAS_STATUS_SUCCESS);
  const auto solved = x.values();
  for (int i = 0; i < kCount; ++i) {
    expect_near(
        this->triangle(this->square(a, i), true, false) *
            this->part(solved, i, kColumns),
        this->part(b, i, kColumns),
        F::kTolerance);
  }
}

TYPED_TEST(Batched, SystemsAreSolvedByTheirFactors) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  for (const bool pivoting : {true, false}) {
    for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      // Without pivots the diagonal has to be large.
      const auto a =
          pivoting ? random<T>(kElements * kCount, 5) : this->regular(5);
      const auto b = random<T>(kLeading * kColumns * kCount, 6);
      const Array<T> factors(a);
      const Array<T> x(b);
      const Array<Api*> a_pieces(this->pieces(factors, kCount, kElements));
      const Array<Api*> x_pieces(this->pieces(x, kCount, kLeading * kColumns));
      const Array<int> pivots(std::vector<int>(kN * kCount, -1));
      const Array<int> info(std::vector<int>(kCount, -1));
      int* pivot_pointer = pivoting ? pivots.get() : nullptr;
      ASSERT_EQ(
          F::getrf(
              this->handle,
              kN,
              a_pieces.get(),
              kLeading,
              pivot_pointer,
              info.get(),
              kCount),
          CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(info.values(), std::vector<int>(kCount, 0));
      int status = -1;
      ASSERT_EQ(
          F::getrs(
              this->handle,
              op,
              kN,
              kColumns,
              a_pieces.get(),
              kLeading,
              pivot_pointer,
              x_pieces.get(),
              kLeading,
              &status,
              kCount),
          CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(status, 0);
      const auto solved = x.values();
      for (int i = 0; i < kCount; ++i) {
        expect_near(
            apply(op, this->square(a, i)) * this->part(solved, i, kColumns),
            this->part(b, i, kColumns),
            F::kTolerance * 10);
      }
    }
  }
}

TYPED_TEST(Batched, AMatrixTimesItsInverseIsTheIdentity) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a = this->regular(7);
  const Array<T> factors(a);
  const Array<T> inverse(std::vector<T>(kElements * kCount));
  const Array<Api*> a_pieces(this->pieces(factors, kCount, kElements));
  const Array<Api*> c_pieces(this->pieces(inverse, kCount, kElements));
  const Array<int> pivots(std::vector<int>(kN * kCount));
  const Array<int> info(std::vector<int>(kCount, -1));
  ASSERT_EQ(
      F::getrf(
          this->handle,
          kN,
          a_pieces.get(),
          kLeading,
          pivots.get(),
          info.get(),
          kCount),
      CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(
      F::getri(
          this->handle,
          kN,
          a_pieces.get(),
          kLeading,
          pivots.get(),
          c_pieces.get(),
          kLeading,
          info.get(),
          kCount),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(info.values(), std::vector<int>(kCount, 0));
  Matrix identity(kN, kN);
  for (int i = 0; i < kN; ++i) {
    identity(i, i) = 1;
  }
  for (int i = 0; i < kCount; ++i) {
    expect_near(
        this->square(a, i) * this->square(inverse.values(), i),
        identity,
        F::kTolerance);
  }
}

TYPED_TEST(Batched, ASingularMatrixNamesItsPivot) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  auto a = random<T>(kElements, 8);
  std::fill_n(a.begin() + 2 * kLeading, kLeading, T(0)); // the third column
  const Array<T> factors(a);
  const Array<Api*> a_pieces(this->pieces(factors, 1, kElements));
  const Array<int> pivots{std::vector<int>(kN)};
  const Array<int> info(std::vector<int>(1, -1));
  ASSERT_EQ(
      F::getrf(
          this->handle,
          kN,
          a_pieces.get(),
          kLeading,
          pivots.get(),
          info.get(),
          1),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(info.values(), std::vector<int>{3});
}

TYPED_TEST(Batched, AnOrthogonalFactorKeepsLengths) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a = random<T>(kLeading * kColumns * kCount, 9);
  const Array<T> factors(a);
  const Array<T> scales(std::vector<T>(kColumns * kCount));
  const Array<Api*> a_pieces(
      this->pieces(factors, kCount, kLeading * kColumns));
  const Array<Api*> tau_pieces(this->pieces(scales, kCount, kColumns));
  int status = -1;
  ASSERT_EQ(
      F::geqrf(
          this->handle,
          kN,
          kColumns,
          a_pieces.get(),
          kLeading,
          tau_pieces.get(),
          &status,
          kCount),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(status, 0);
  // A = Q R with QᴴQ = 1, so AᴴA = RᴴR, whatever Q is.
  for (int i = 0; i < kCount; ++i) {
    const Matrix whole = this->part(a, i, kColumns);
    Matrix upper(kColumns, kColumns);
    const Matrix factored = this->part(factors.values(), i, kColumns);
    for (int row = 0; row < kColumns; ++row) {
      for (int column = row; column < kColumns; ++column) {
        upper(row, column) = factored(row, column);
      }
    }
    expect_near(
        apply(CUBLAS_OP_C, upper) * upper,
        apply(CUBLAS_OP_C, whole) * whole,
        F::kTolerance);
  }
}

TYPED_TEST(Batched, LeastSquaresLeaveARestOrthogonalToTheColumns) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  constexpr int kRight = 2;
  const auto a = random<T>(kLeading * kColumns * kCount, 10);
  const auto b = random<T>(kLeading * kRight * kCount, 11);
  const Array<T> factors(a);
  const Array<T> x(b);
  const Array<Api*> a_pieces(
      this->pieces(factors, kCount, kLeading * kColumns));
  const Array<Api*> x_pieces(this->pieces(x, kCount, kLeading * kRight));
  const Array<int> device_info(std::vector<int>(kCount, -1));
  int status = -1;
  ASSERT_EQ(
      F::gels(
          this->handle,
          CUBLAS_OP_N,
          kN,
          kColumns,
          kRight,
          a_pieces.get(),
          kLeading,
          x_pieces.get(),
          kLeading,
          &status,
          device_info.get(),
          kCount),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(device_info.values(), std::vector<int>(kCount, 0));
  for (int i = 0; i < kCount; ++i) {
    const Matrix whole = this->part(a, i, kColumns);
    const Matrix solved = this->part(x.values(), i, kRight);
    Matrix solution(kColumns, kRight);
    for (int row = 0; row < kColumns; ++row) {
      for (int column = 0; column < kRight; ++column) {
        solution(row, column) = solved(row, column);
      }
    }
    Matrix rest = whole * solution;
    const Matrix wanted = this->part(b, i, kRight);
    for (std::size_t at = 0; at < rest.values.size(); ++at) {
      rest.values[at] -= wanted.values[at];
    }
    expect_near(
        apply(CUBLAS_OP_C, whole) * rest,
        Matrix(kColumns, kRight),
        F::kTolerance);
  }
}

TYPED_TEST(Batched, ProductsOfScatteredMatrices) {
  using F = TypeParam;
  using T = typename F::T;
  using Api = typename F::Api;
  const auto a = random<T>(kElements * kCount, 12);
  const auto b = random<T>(kElements * kCount, 13);
  const Array<T> a_array(a), b_array(b);
  const Array<T> c(std::vector<T>(kElements * kCount, T(3)));
  const auto reversed = [&](const Array<T>& array) {
    auto pieces = this->pieces(array, kCount, kElements);
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
  };
  const Array<Api*> a_pieces(reversed(a_array));
  const Array<Api*> b_pieces(this->pieces(b_array, kCount, kElements));
  const Array<Api*> c_pieces(this->pieces(c, kCount, kElements));
  const T alpha(2), beta(1);
  ASSERT_EQ(
      F::gemm_batched(
          this->handle,
          CUBLAS_OP_C,
          CUBLAS_OP_T,
          kN,
          kN,
          kN,
          this->scalar(&alpha),
          a_pieces.get(),
          kLeading,
          b_pieces.get(),
          kLeading,
          this->scalar(&beta),
          c_pieces.get(),
          kLeading,
          kCount),
      CUBLAS_STATUS_SUCCESS);
  for (int i = 0; i < kCount; ++i) {
    Matrix wanted = apply(CUBLAS_OP_C, this->square(a, kCount - 1 - i)) *
        apply(CUBLAS_OP_T, this->square(b, i));
    for (Wide& value : wanted.values) {
      value = 2.0 * value + 3.0;
    }
    expect_near(this->square(c.values(), i), wanted, F::kTolerance);
  }
}

} // namespace
} // namespace accelerator::blas::testing

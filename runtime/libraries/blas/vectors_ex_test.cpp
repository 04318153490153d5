// Vectors whose type is an argument: halves against sums of whole numbers, all
// others against what the elements say.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

/// Small whole numbers: exact in every type, and so are their products.
template <typename T>
std::vector<T> small(std::size_t count, int seed) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    const int value = (static_cast<int>(i) * 5 + seed) % 7 - 3;
    values.push_back(T(static_cast<float>(value)));
  }
  return values;
}

template <typename T>
Wide number(T value) {
  return static_cast<float>(value);
}
template <typename T>
Wide number(std::complex<T> value) {
  return value;
}
Wide number(double value) {
  return value;
}

/// The types that go together: of elements, of factors (axpy, scal), of norms
/// and rotations.
template <typename T_, typename Factor_, typename Real_>
struct Kind {
  using T = T_;
  using Factor = Factor_;
  using Real = Real_;
  cudaDataType_t type;
  cudaDataType_t factor;
  cudaDataType_t real;
  cudaDataType_t execution;
  cudaDataType_t norm_execution;
};

using VectorsEx = HandleTest<Single>;

constexpr int kCount = 10;

template <typename K>
void expect_vectors(cublasHandle_t handle, const K& kind) {
  using T = typename K::T;
  const auto x = small<T>(2 * kCount, 1);
  const auto y = small<T>(kCount, 2);
  const Array<T> x_array(x), y_array(y);
  const auto at = [&](int i) {
    return number(x[static_cast<std::size_t>(2 * i)]);
  };
  for (const int stride : {1, -1}) {
    const auto other = [&](const std::vector<T>& values, int i) {
      return number(
          values[static_cast<std::size_t>(stride > 0 ? i : kCount - 1 - i)]);
    };
    T result{};
    for (const auto function : {cublasDotEx, cublasDotcEx}) {
      ASSERT_EQ(
          function(
              handle,
              kCount,
              x_array.get(),
              kind.type,
              2,
              y_array.get(),
              kind.type,
              stride,
              &result,
              kind.type,
              kind.execution),
          CUBLAS_STATUS_SUCCESS);
      Wide wanted = 0;
      for (int i = 0; i < kCount; ++i) {
        wanted += at(i) * other(y, i);
      }
      EXPECT_EQ(number(result), wanted);
    }
    const typename K::Factor alpha(2);
    const Array<T> sum(y);
    ASSERT_EQ(
        cublasAxpyEx(
            handle,
            kCount,
            &alpha,
            kind.factor,
            x_array.get(),
            kind.type,
            2,
            sum.get(),
            kind.type,
            stride,
            kind.execution),
        CUBLAS_STATUS_SUCCESS);
    const auto sums = sum.values();
    for (int i = 0; i < kCount; ++i) {
      EXPECT_EQ(other(sums, i), 2.0 * at(i) + other(y, i));
    }
    // A quarter turn.
    const Array<T> left(x), right(y);
    const typename K::Real zero(0.0F), one(1.0F);
    ASSERT_EQ(
        cublasRotEx(
            handle,
            kCount,
            left.get(),
            kind.type,
            2,
            right.get(),
            kind.type,
            stride,
            &zero,
            &one,
            kind.real,
            kind.execution),
        CUBLAS_STATUS_SUCCESS);
    const auto lefts = left.values();
    const auto rights = right.values();
    for (int i = 0; i < kCount; ++i) {
      EXPECT_EQ(number(lefts[static_cast<std::size_t>(2 * i)]), other(y, i));
      EXPECT_EQ(
          number(lefts[static_cast<std::size_t>(2 * i + 1)]),
          number(x[static_cast<std::size_t>(2 * i + 1)]));
      EXPECT_EQ(other(rights, i), -at(i));
    }
  }
  const typename K::Factor three(3);
  const Array<T> scaled(x);
  ASSERT_EQ(
      cublasScalEx(
          handle,
          kCount,
          &three,
          kind.factor,
          scaled.get(),
          kind.type,
          2,
          kind.execution),
      CUBLAS_STATUS_SUCCESS);
  const auto products = scaled.values();
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(number(products[i]), (i % 2 == 0 ? 3.0 : 1.0) * number(x[i]));
  }
  // 3, 4, 0: of length 5.
  const Array<T> sides(
      std::vector<T>{T(3.0F), T(9.0F), T(4.0F), T(9.0F), T(0.0F)});
  typename K::Real length{};
  ASSERT_EQ(
      cublasNrm2Ex(
          handle,
          3,
          sides.get(),
          kind.type,
          2,
          &length,
          kind.real,
          kind.norm_execution),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(number(length), Wide(5));
}

TEST_F(VectorsEx, Halves) {
  expect_vectors(
      handle,
      Kind<__half, float, __half>{
          CUDA_R_16F, CUDA_R_32F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F});
  expect_vectors(
      handle,
      Kind<__nv_bfloat16, float, __nv_bfloat16>{
          CUDA_R_16BF, CUDA_R_32F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F});
}

TEST_F(VectorsEx, OneTypeForAll) {
  expect_vectors(
      handle,
      Kind<float, float, float>{
          CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F});
  expect_vectors(
      handle,
      Kind<double, double, double>{
          CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F});
  expect_vectors(
      handle,
      Kind<std::complex<float>, std::complex<float>, float>{
          CUDA_C_32F, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUDA_R_32F});
  expect_vectors(
      handle,
      Kind<std::complex<double>, std::complex<double>, double>{
          CUDA_C_64F, CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUDA_R_64F});
}

TEST_F(VectorsEx, OneIsConjugated) {
  const Array<std::complex<float>> x({{1, 2}}), y({{3, 4}});
  std::complex<float> plain, conjugated;
  const auto dot = [&](auto function, void* result) {
    ASSERT_EQ(
        function(
            handle,
            1,
            x.get(),
            CUDA_C_32F,
            1,
            y.get(),
            CUDA_C_32F,
            1,
            result,
            CUDA_C_32F,
            CUDA_C_32F),
        CUBLAS_STATUS_SUCCESS);
  };
  dot(cublasDotEx, &plain);
  dot(cublasDotcEx, &conjugated);
  EXPECT_EQ(plain, std::complex<float>(-5, 10));
  EXPECT_EQ(conjugated, std::complex<float>(11, -2));
}

TEST_F(VectorsEx, FactorsOfHalvesMayBeOnTheDevice) {
  ASSERT_EQ(
      cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  const Array<float> two(std::vector<float>{2});
  const Array<__half> x(small<__half>(3, 1)), result(small<__half>(1, 0));
  ASSERT_EQ(
      cublasScalEx(
          handle, 3, two.get(), CUDA_R_32F, x.get(), CUDA_R_16F, 1, CUDA_R_32F),
      CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(
      cublasNrm2Ex(
          handle,
          1,
          x.get(),
          CUDA_R_16F,
          1,
          result.get(),
          CUDA_R_16F,
          CUDA_R_32F),
      CUBLAS_STATUS_SUCCESS);
  const auto before = small<__half>(3, 1);
  const auto after = x.values();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(number(after[i]), 2.0 * number(before[i]));
  }
  EXPECT_EQ(number(result.values()[0]), std::abs(number(after[0])));
}

TEST_F(VectorsEx, RefuseWhatIsWrong) {
  const Array<__half> x(small<__half>(20, 1)), y(small<__half>(20, 2));
  const float factor = 1;
  __half result{};
  const auto dot = [&](int stride, cudaDataType_t type) {
    return cublasDotEx(
        handle,
        10,
        x.get(),
        type,
        2,
        y.get(),
        type,
        stride,
        &result,
        CUDA_R_16F,
        CUDA_R_32F);
  };
  EXPECT_EQ(dot(1, CUDA_R_4I), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(dot(100, CUDA_R_16F), CUBLAS_STATUS_EXECUTION_FAILED);
  const auto axpy = [&](const void* alpha, cudaDataType_t type) {
    return cublasAxpyEx(
        handle,
        3,
        alpha,
        CUDA_R_32F,
        x.get(),
        CUDA_R_16F,
        1,
        y.get(),
        type,
        1,
        CUDA_R_32F);
  };
  EXPECT_EQ(axpy(nullptr, CUDA_R_16F), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(axpy(&factor, CUDA_R_16BF), CUBLAS_STATUS_NOT_SUPPORTED);
  const auto scal = [&](const void* alpha, cudaDataType_t execution) {
    return cublasScalEx(
        handle, 3, alpha, CUDA_R_32F, x.get(), CUDA_R_16F, 1, execution);
  };
  EXPECT_EQ(scal(nullptr, CUDA_R_32F), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(scal(&factor, CUDA_R_16F), CUBLAS_STATUS_NOT_SUPPORTED);
  const auto norm = [&](void* into, cudaDataType_t type) {
    return cublasNrm2Ex(
        handle, 3, x.get(), CUDA_R_16F, 1, into, type, CUDA_R_32F);
  };
  EXPECT_EQ(norm(nullptr, CUDA_R_16F), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(norm(&result, CUDA_R_32F), CUBLAS_STATUS_NOT_SUPPORTED);
  const auto rot = [&](const void* c, cudaDataType_t turn) {
    return cublasRotEx(
        handle,
        3,
        x.get(),
        CUDA_R_16F,
        1,
        y.get(),
        CUDA_R_16F,
        1,
        c,
        &result,
        turn,
        CUDA_R_32F);
  };
  EXPECT_EQ(rot(nullptr, CUDA_R_16F), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(rot(&result, CUDA_R_32F), CUBLAS_STATUS_NOT_SUPPORTED);
  for (const auto& [found, wanted] :
       {std::pair(x.values(), small<__half>(20, 1)),
        std::pair(y.values(), small<__half>(20, 2))}) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(number(found[i]), number(wanted[i]));
    }
  }
}

// Single complex numbers: 3m, and ranks of given types.
TEST_F(VectorsEx, ProductsOfComplexMatrices) {
  using T = std::complex<float>;
  const T i(0, 1);
  // [1 i; 0 2] by columns.
  const std::vector<T> a{1, 0, i, 2};
  const Array<T> a_array(a);
  const cuComplex one{1, 0}, zero{0, 0};
  const float real_one = 1, real_zero = 0;
  const Array<T> product(std::vector<T>(4)), rank(std::vector<T>(4));
  ASSERT_EQ(
      cublasCgemm3m(
          handle,
          CUBLAS_OP_N,
          CUBLAS_OP_C,
          2,
          2,
          2,
          &one,
          a_array.get<cuComplex>(),
          2,
          a_array.get<cuComplex>(),
          2,
          &zero,
          product.get<cuComplex>(),
          2),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.values(), (std::vector<T>{2, -2.0F * i, 2.0F * i, 4}));
  for (const auto function : {cublasCsyrkEx, cublasCsyrk3mEx}) {
    const auto call = [&](cudaDataType_t type) {
      return function(
          handle,
          CUBLAS_FILL_MODE_UPPER,
          CUBLAS_OP_N,
          2,
          2,
          &one,
          a_array.get(),
          type,
          2,
          &zero,
          rank.get(),
          CUDA_C_32F,
          2);
    };
    ASSERT_EQ(call(CUDA_C_32F), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(rank.values(), (std::vector<T>{0, 0, 2.0F * i, 4}));
    EXPECT_EQ(call(CUDA_C_8I), CUBLAS_STATUS_NOT_SUPPORTED);
  }
  for (const auto function : {cublasCherkEx, cublasCherk3mEx}) {
    ASSERT_EQ(
        function(
            handle,
            CUBLAS_FILL_MODE_UPPER,
            CUBLAS_OP_N,
            2,
            2,
            &real_one,
            a_array.get(),
            CUDA_C_32F,
            2,
            &real_zero,
            rank.get(),
            CUDA_C_32F,
            2),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(rank.values(), (std::vector<T>{2, 0, 2.0F * i, 4}));
  }
}

} // namespace
} // namespace accelerator::blas::testing

// Operations, triangles, sides and diagonals that cuBLAS does not have: every
// function refuses them, instead of taking them for one that it has.
#include <cuda_fp16.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kN = 3;
constexpr int kSize = kN * kN;

/// CUBLAS_OP_CONJG is in the header, "not supported in the current release".
const cublasOperation_t kNoOperations[] = {
    CUBLAS_OP_CONJG,
    static_cast<cublasOperation_t>(9)};

/// A function that takes one operation, or one of its two.
struct Taker {
  const char* name;
  std::function<cublasStatus_t(cublasOperation_t)> call;
};

/// That `result` stays `kept` when an operation that there is not is asked for,
/// and that those that there are pass.
template <typename T>
void expect_refused(
    const std::vector<Taker>& takers,
    const Array<T>& result,
    const std::vector<T>& kept) {
  for (const Taker& taker : takers) {
    SCOPED_TRACE(taker.name);
    for (const auto operation : kNoOperations) {
      EXPECT_EQ(taker.call(operation), CUBLAS_STATUS_INVALID_VALUE);
    }
  }
  EXPECT_TRUE(result.values() == kept);
  for (const Taker& taker : takers) {
    SCOPED_TRACE(taker.name);
    for (const auto operation : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      EXPECT_EQ(taker.call(operation), CUBLAS_STATUS_SUCCESS);
    }
  }
}

template <typename F>
class Operations : public HandleTest<F> {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;

  /// The identity, which every function can divide by.
  static std::vector<T> identity() {
    std::vector<T> values(kSize);
    for (int i = 0; i < kSize; i += kN + 1) {
      values[i] = T(1);
    }
    return values;
  }

  const T one = T(1);
  const std::vector<T> old = random<T>(kSize, 1);
  const Array<T> a_array{identity()};
  const Array<T> b_array{old};
  const Array<Api*> a_pieces{this->pieces(a_array, 1, 0)};
  const Array<Api*> b_pieces{this->pieces(b_array, 1, 0)};
  Api* const a = a_array.template get<Api>();
  Api* const b = b_array.template get<Api>();
  const Api* const alpha = this->scalar(&one);
};

TYPED_TEST_SUITE(Operations, AllTypes);

TYPED_TEST(Operations, OfProductsAreThoseOfTheHeader) {
  using F = TypeParam;
  constexpr auto kPlain = CUBLAS_OP_N;
  const auto handle = this->handle;
  auto* const a = this->a;
  auto* const b = this->b;
  auto* const many_a = this->a_pieces.get();
  auto* const many_b = this->b_pieces.get();
  const auto* const one = this->alpha;
  const auto gemm = [=](cublasOperation_t left, cublasOperation_t right) {
    return F::gemm(
        handle, left, right, kN, kN, kN, one, a, kN, a, kN, one, b, kN);
  };
  const auto strided = [=](cublasOperation_t left, cublasOperation_t right) {
    return F::gemm_strided(
        handle,
        left,
        right,
        kN,
        kN,
        kN,
        one,
        a,
        kN,
        0,
        a,
        kN,
        0,
        one,
        b,
        kN,
        0,
        1);
  };
  const auto batched = [=](cublasOperation_t left, cublasOperation_t right) {
    return F::gemm_batched(
        handle,
        left,
        right,
        kN,
        kN,
        kN,
        one,
        many_a,
        kN,
        many_a,
        kN,
        one,
        many_b,
        kN,
        1);
  };
  expect_refused(
      {{"gemm, A", [=](auto operation) { return gemm(operation, kPlain); }},
       {"gemm, B", [=](auto operation) { return gemm(kPlain, operation); }},
       {"strided, A",
        [=](auto operation) { return strided(operation, kPlain); }},
       {"strided, B",
        [=](auto operation) { return strided(kPlain, operation); }},
       {"batched, A",
        [=](auto operation) { return batched(operation, kPlain); }},
       {"batched, B",
        [=](auto operation) { return batched(kPlain, operation); }},
       {"gemv",
        [=](auto operation) {
          return F::gemv(
              handle, operation, kN, kN, one, a, kN, a, 1, one, b, 1);
        }}},
      this->b_array,
      this->old);
}

TYPED_TEST(Operations, OfSolversAreThoseOfTheHeader) {
  using F = TypeParam;
  const auto handle = this->handle;
  auto* const a = this->a;
  auto* const b = this->b;
  auto* const many_a = this->a_pieces.get();
  auto* const many_b = this->b_pieces.get();
  const auto* const one = this->alpha;
  int info = 0;
  int* const told = &info;
  expect_refused(
      {{"trsm",
        [=](auto operation) {
          return F::trsm(
              handle,
              CUBLAS_SIDE_LEFT,
              CUBLAS_FILL_MODE_LOWER,
              operation,
              CUBLAS_DIAG_UNIT,
              kN,
              kN,
              one,
              a,
              kN,
              b,
              kN);
        }},
       {"trsmBatched",
        [=](auto operation) {
          return F::trsm_batched(
              handle,
              CUBLAS_SIDE_LEFT,
              CUBLAS_FILL_MODE_LOWER,
              operation,
              CUBLAS_DIAG_UNIT,
              kN,
              kN,
              one,
              many_a,
              kN,
              many_b,
              kN,
              1);
        }},
       {"getrsBatched",
        [=](auto operation) {
          const auto status = F::getrs(
              handle,
              operation,
              kN,
              kN,
              many_a,
              kN,
              nullptr,
              many_b,
              kN,
              told,
              1);
          // It is the first argument but the handle.
          EXPECT_EQ(*told, status == CUBLAS_STATUS_SUCCESS ? 0 : -1);
          return status;
        }}},
      this->b_array,
      this->old);
}

/// What a triangular system may be asked for besides its operation.
struct Triangle {
  cublasSideMode_t side;
  cublasFillMode_t fill;
  cublasDiagType_t diagonal;
};

TYPED_TEST(Operations, TrianglesSidesAndDiagonalsAreThoseOfTheHeader) {
  using F = TypeParam;
  constexpr auto kLeft = CUBLAS_SIDE_LEFT;
  constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;
  constexpr auto kUnit = CUBLAS_DIAG_UNIT;
  for (const Triangle& none : {
           Triangle{static_cast<cublasSideMode_t>(2), kLower, kUnit},
           Triangle{kLeft, CUBLAS_FILL_MODE_FULL, kUnit},
           Triangle{kLeft, static_cast<cublasFillMode_t>(3), kUnit},
           Triangle{kLeft, kLower, static_cast<cublasDiagType_t>(2)},
       }) {
    EXPECT_EQ(
        F::trsm(
            this->handle,
            none.side,
            none.fill,
            CUBLAS_OP_N,
            none.diagonal,
            kN,
            kN,
            this->alpha,
            this->a,
            kN,
            this->b,
            kN),
        CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(
        F::trsm_batched(
            this->handle,
            none.side,
            none.fill,
            CUBLAS_OP_N,
            none.diagonal,
            kN,
            kN,
            this->alpha,
            this->a_pieces.get(),
            kN,
            this->b_pieces.get(),
            kN,
            1),
        CUBLAS_STATUS_INVALID_VALUE);
  }
  EXPECT_EQ(this->b_array.values(), this->old);
}

using MixedOperations = HandleTest<Single>;

TEST_F(MixedOperations, OfProductsAreThoseOfTheHeader) {
  const std::vector<float> old(kSize, 2);
  const Array<float> a_array(std::vector<float>(kSize, 1)), c_array(old);
  const Array<__half> halves{std::vector<__half>(kSize)};
  const float one = 1;
  const __half half_one(1.0F);
  const float* const a = a_array.get();
  float* const c = c_array.get();
  __half* const h = halves.get();
  constexpr auto kPlain = CUBLAS_OP_N;
  const auto uniform = [&](cublasOperation_t left, cublasOperation_t right) {
    return cublasGemmEx(
        handle,
        left,
        right,
        kN,
        kN,
        kN,
        &one,
        a,
        CUDA_R_32F,
        kN,
        a,
        CUDA_R_32F,
        kN,
        &one,
        c,
        CUDA_R_32F,
        kN,
        CUBLAS_COMPUTE_32F,
        CUBLAS_GEMM_DEFAULT);
  };
  const auto strided = [&](cublasOperation_t left, cublasOperation_t right) {
    return cublasGemmStridedBatchedEx(
        handle,
        left,
        right,
        kN,
        kN,
        kN,
        &one,
        h,
        CUDA_R_16F,
        kN,
        0,
        h,
        CUDA_R_16F,
        kN,
        0,
        &one,
        c,
        CUDA_R_32F,
        kN,
        0,
        1,
        CUBLAS_COMPUTE_32F,
        CUBLAS_GEMM_DEFAULT);
  };
  expect_refused(
      {{"GemmEx, A",
        [&](auto operation) { return uniform(operation, kPlain); }},
       {"GemmEx, B",
        [&](auto operation) { return uniform(kPlain, operation); }},
       {"strided, A",
        [&](auto operation) { return strided(operation, kPlain); }},
       {"strided, B",
        [&](auto operation) { return strided(kPlain, operation); }},
       {"Hgemm",
        [&](auto operation) {
          return cublasHgemm(
              handle,
              operation,
              kPlain,
              kN,
              kN,
              kN,
              &half_one,
              h,
              kN,
              h,
              kN,
              &half_one,
              h,
              kN);
        }}},
      c_array,
      old);
}

} // namespace
} // namespace accelerator::blas::testing

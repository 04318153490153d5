// Sizes and pointers of batches that are empty, or make no sense.
#include <utility>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kCount = 3;
constexpr int kN = 6;
constexpr int kLeading = 8;

template <typename F>
class BatchedArguments : public HandleTest<F> {};

TYPED_TEST_SUITE(BatchedArguments, AllTypes);

TYPED_TEST(BatchedArguments, WhereMatricesAreEmptyNoPointersAreAskedFor) {
  using F = TypeParam;
  using T = typename F::T;
  const T one(1);
  for (const auto& [m, n] : {std::pair(kN, 0), std::pair(0, kN)}) {
    EXPECT_EQ(
        F::trsm_batched(
            this->handle,
            CUBLAS_SIDE_LEFT,
            CUBLAS_FILL_MODE_LOWER,
            CUBLAS_OP_N,
            CUBLAS_DIAG_NON_UNIT,
            m,
            n,
            this->scalar(&one),
            nullptr,
            kLeading,
            nullptr,
            kLeading,
            kCount),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(
        F::gemm_batched(
            this->handle,
            CUBLAS_OP_N,
            CUBLAS_OP_N,
            m,
            n,
            kN,
            this->scalar(&one),
            nullptr,
            kLeading,
            nullptr,
            kLeading,
            this->scalar(&one),
            nullptr,
            kLeading,
            kCount),
        CUBLAS_STATUS_SUCCESS);
    int info = -1;
    EXPECT_EQ(
        F::getrs(
            this->handle,
            CUBLAS_OP_N,
            m,
            n,
            nullptr,
            kLeading,
            nullptr,
            nullptr,
            kLeading,
            &info,
            kCount),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(info, 0);
  }
}

TYPED_TEST(BatchedArguments, WrongSizesAreRefused) {
  using F = TypeParam;
  int info = 0;
  EXPECT_EQ(
      F::getrf(this->handle, -1, nullptr, 1, nullptr, nullptr, 0),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      F::getrs(
          this->handle,
          CUBLAS_OP_N,
          4,
          1,
          nullptr,
          3, // less than n
          nullptr,
          nullptr,
          4,
          &info,
          0),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(info, -5);
}

} // namespace
} // namespace accelerator::blas::testing

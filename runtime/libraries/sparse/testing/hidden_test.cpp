// Where the host does not see the device's memory, nothing can be computed.
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::sparse::testing {
namespace {

constexpr auto kGood = CUSPARSE_STATUS_SUCCESS;

TEST(Hidden, ProductsAreNotSupported) {
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnVecDescr_t x = nullptr;
  const blas::testing::Array<double> values{std::vector<double>(2)};
  ASSERT_EQ(cusparseCreate(&handle), kGood);
  ASSERT_EQ(
      cusparseCreateCsr(
          &a,
          2,
          2,
          0,
          nullptr,
          nullptr,
          nullptr,
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_BASE_ZERO,
          CUDA_R_64F),
      kGood);
  ASSERT_EQ(cusparseCreateDnVec(&x, 2, values.get(), CUDA_R_64F), kGood);
  const double one = 1;
  EXPECT_EQ(
      cusparseSpMV(
          handle,
          CUSPARSE_OPERATION_NON_TRANSPOSE,
          &one,
          a,
          x,
          &one,
          x,
          CUDA_R_64F,
          CUSPARSE_SPMV_ALG_DEFAULT,
          nullptr),
      CUSPARSE_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cusparseDestroyDnVec(x), kGood);
  EXPECT_EQ(cusparseDestroySpMat(a), kGood);
  EXPECT_EQ(cusparseDestroy(handle), kGood);
}

} // namespace
} // namespace accelerator::sparse::testing

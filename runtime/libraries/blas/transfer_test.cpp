// Vectors and matrices to the device and back, with and without a stream.
#include <cublas_v2.h>

#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kRows = 3;
constexpr int kColumns = 4;
constexpr int kSize = sizeof(float);
constexpr auto kGood = CUBLAS_STATUS_SUCCESS;
constexpr auto kBad = CUBLAS_STATUS_INVALID_VALUE;

std::vector<float> counted(int count) {
  std::vector<float> values(count);
  for (int i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i + 1);
  }
  return values;
}

class Transfers : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    cudaGetLastError();
  }
  /// The function, or its other one and what waits for it.
  template <typename Now, typename Later, typename... Arguments>
  cublasStatus_t call(Now now, Later later, Arguments... arguments) {
    if (!GetParam()) {
      return now(arguments...);
    }
    const cublasStatus_t status = later(arguments..., stream);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return status;
  }

  cudaStream_t stream = nullptr;
};

TEST_P(Transfers, VectorsHaveTheirStrides) {
  const std::vector<float> from = counted(12);
  const Array<float> device(std::vector<float>(12));
  ASSERT_EQ(
      call(
          cublasSetVector,
          cublasSetVectorAsync,
          4,
          kSize,
          from.data(),
          3,
          device.get(),
          2),
      kGood);
  EXPECT_EQ(
      device.values(),
      (std::vector<float>{1, 0, 4, 0, 7, 0, 10, 0, 0, 0, 0, 0}));
  std::vector<float> to(5);
  ASSERT_EQ(
      call(
          cublasGetVector,
          cublasGetVectorAsync,
          3,
          kSize,
          device.get(),
          2,
          to.data(),
          1),
      kGood);
  EXPECT_EQ(to, (std::vector<float>{1, 4, 7, 0, 0}));
}

TEST_P(Transfers, MatricesHaveTheirLeadingDimensions) {
  const int leading = kRows + 2;
  const std::vector<float> from = counted(kRows * kColumns);
  const Array<float> device(std::vector<float>(leading * kColumns));
  ASSERT_EQ(
      call(
          cublasSetMatrix,
          cublasSetMatrixAsync,
          kRows,
          kColumns,
          kSize,
          from.data(),
          kRows,
          device.get(),
          leading),
      kGood);
  const std::vector<float> there = device.values();
  for (int i = 0; i < leading * kColumns; ++i) {
    const int row = i % leading;
    EXPECT_EQ(there[i], row < kRows ? from[i / leading * kRows + row] : 0.f);
  }
  std::vector<float> to(kRows * kColumns);
  ASSERT_EQ(
      call(
          cublasGetMatrix,
          cublasGetMatrixAsync,
          kRows,
          kColumns,
          kSize,
          device.get(),
          leading,
          to.data(),
          kRows),
      kGood);
  EXPECT_EQ(to, from);
}

TEST_P(Transfers, WhatThereIsNotIsRefused) {
  float host[4] = {};
  const Array<float> device(std::vector<float>(4));
  float* const d = device.get();
  const auto set = [&](int n, int size, int incx, int incy, void* to) {
    return call(
        cublasSetVector, cublasSetVectorAsync, n, size, host, incx, to, incy);
  };
  const auto get = [&](int rows, int columns, int size, int lda, int ldb) {
    return call(
        cublasGetMatrix,
        cublasGetMatrixAsync,
        rows,
        columns,
        size,
        d,
        lda,
        host,
        ldb);
  };
  EXPECT_EQ(set(2, kSize, 1, 1, d), kGood);
  EXPECT_EQ(set(2, 0, 1, 1, d), kBad);
  EXPECT_EQ(set(2, kSize, 0, 1, d), kBad);
  EXPECT_EQ(set(2, kSize, 1, 0, d), kBad);
  EXPECT_EQ(set(-1, kSize, 1, 1, d), kBad);
  EXPECT_EQ(set(2, kSize, 1, 1, nullptr), CUBLAS_STATUS_MAPPING_ERROR);
  EXPECT_EQ(get(2, 2, kSize, 2, 2), kGood);
  EXPECT_EQ(get(0, 2, kSize, 2, 2), kGood);
  EXPECT_EQ(get(-1, 2, kSize, 2, 2), kBad);
  EXPECT_EQ(get(2, -1, kSize, 2, 2), kBad);
  EXPECT_EQ(get(2, 2, -1, 2, 2), kBad);
  EXPECT_EQ(get(2, 2, kSize, 0, 2), kBad);
  EXPECT_EQ(get(2, 2, kSize, 2, 0), kBad);
}

INSTANTIATE_TEST_SUITE_P(Streams, Transfers, ::testing::Bool());

} // namespace
} // namespace accelerator::blas::testing

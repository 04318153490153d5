// Eigenvalues and eigenvectors of many symmetric matrices at a time.
#include <algorithm>
#include <vector>

#include "runtime/libraries/solver/testing/functions.h"

// The headers are those of an earlier version.
extern "C" {
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t,
    cublasFillMode_t,
    int64_t,
    cudaDataType,
    const void*,
    int64_t,
    cudaDataType,
    const void*,
    cudaDataType,
    size_t*,
    size_t*,
    int64_t);
cusolverStatus_t cusolverDnXsyevBatched(
    cusolverDnHandle_t,
    cusolverDnParams_t,
    cusolverEigMode_t,
    cublasFillMode_t,
    int64_t,
    cudaDataType,
    void*,
    int64_t,
    cudaDataType,
    void*,
    cudaDataType,
    void*,
    size_t,
    void*,
    size_t,
    int*,
    int64_t);
}

namespace accelerator::solver::testing {
namespace {

constexpr auto kGood = CUSOLVER_STATUS_SUCCESS;
constexpr auto kBad = CUSOLVER_STATUS_INVALID_VALUE;
constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
constexpr auto kNoVectors = CUSOLVER_EIG_MODE_NOVECTOR;

template <typename F>
using ManyEigenTest = SolverTest<F>;
TYPED_TEST_SUITE(ManyEigenTest, AllTypes);

TYPED_TEST(ManyEigenTest, ManySymmetricOnesAreSolvedAtATime) {
  using F = TypeParam;
  using T = typename F::T;
  using Real = typename F::Real;
  constexpr int kN = 5, kLda = 7, kCount = 6;
  std::vector<Matrix> all;
  std::vector<T> elements;
  for (unsigned i = 0; i < kCount; ++i) {
    all.push_back(this->hermitian(kN, 20 + i, false));
    const auto its = this->packed(all.back(), kLda);
    elements.insert(elements.end(), its.begin(), its.end());
  }
  std::vector<Real> with_vectors;
  for (const auto mode : {kVectors, kNoVectors}) {
    for (const auto triangle :
         {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      const Array<T> array(elements);
      const Array<Real> values{std::vector<Real>(kN * kCount)};
      const Array<int> infos{std::vector<int>(kCount, -1)};
      size_t device = 0;
      size_t host = 1;
      ASSERT_EQ(
          cusolverDnXsyevBatched_bufferSize(
              this->handle,
              this->params,
              mode,
              triangle,
              kN,
              F::kType,
              array.get(),
              kLda,
              F::kRealType,
              values.get(),
              F::kType,
              &device,
              &host,
              kCount),
          kGood);
      ASSERT_EQ(
          cusolverDnXsyevBatched(
              this->handle,
              this->params,
              mode,
              triangle,
              kN,
              F::kType,
              array.get(),
              kLda,
              F::kRealType,
              values.get(),
              F::kType,
              this->work.get(),
              device,
              nullptr,
              host,
              infos.get(),
              kCount),
          kGood);
      EXPECT_EQ(infos.values(), std::vector<int>(kCount));
      const auto vectors = array.values();
      const auto found = values.values();
      if (mode == kNoVectors) {
        expect_near(
            this->diagonal(found, kN * kCount, kN * kCount),
            this->diagonal(with_vectors, kN * kCount, kN * kCount),
            F::kTolerance);
        continue;
      }
      with_vectors = found;
      for (int i = 0; i < kCount; ++i) {
        const std::vector<Real> its(
            found.begin() + i * kN, found.begin() + (i + 1) * kN);
        EXPECT_TRUE(std::is_sorted(its.begin(), its.end()));
        const Matrix v = this->piece(vectors, i * kLda * kN, kN, kN, kLda);
        this->expect_orthonormal(v);
        expect_near(all[i] * v, v * this->diagonal(its, kN, kN), F::kTolerance);
      }
    }
  }
}

TYPED_TEST(ManyEigenTest, ManySymmetricOnesAreChecked) {
  using F = TypeParam;
  using T = typename F::T;
  const Array<T> array{std::vector<T>(9)};
  const auto status = [&](std::int64_t n,
                          std::int64_t lda,
                          cudaDataType values,
                          size_t device,
                          int* info,
                          std::int64_t count) {
    return cusolverDnXsyevBatched(
        this->handle,
        this->params,
        kVectors,
        CUBLAS_FILL_MODE_LOWER,
        n,
        F::kType,
        array.get(),
        lda,
        values,
        array.get(),
        F::kType,
        this->work.get(),
        device,
        nullptr,
        0,
        info,
        count);
  };
  int* const info = this->info.get();
  const size_t enough = sizeof(T);
  EXPECT_EQ(status(3, 3, F::kRealType, enough, info, 0), kGood);
  EXPECT_EQ(status(-1, 3, F::kRealType, enough, info, 1), kBad);
  EXPECT_EQ(status(3, 2, F::kRealType, enough, info, 1), kBad);
  EXPECT_EQ(status(3, 3, CUDA_R_16F, enough, info, 1), kBad);
  EXPECT_EQ(status(3, 3, F::kRealType, 0, info, 1), kBad);
  EXPECT_EQ(status(3, 3, F::kRealType, enough, nullptr, 1), kBad);
  EXPECT_EQ(status(3, 3, F::kRealType, enough, info, -1), kBad);
  size_t device = 0;
  size_t host = 0;
  EXPECT_EQ(
      cusolverDnXsyevBatched_bufferSize(
          this->handle,
          this->params,
          kVectors,
          CUBLAS_FILL_MODE_LOWER,
          3,
          F::kType,
          array.get(),
          3,
          F::kRealType,
          array.get(),
          F::kType,
          &device,
          &host,
          -1),
      kBad);
}

} // namespace
} // namespace accelerator::solver::testing

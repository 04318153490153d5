// Where a matrix in BSR has no pivot: what is asked of an analysis and of
// solutions, in whatever stream they run.
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

constexpr int kBlock = 2, kBlockRows = 6, kN = kBlock * kBlockRows;
constexpr auto kPolicy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
constexpr int kNoZero = -1;
using Blocks = std::set<int>;

class ZeroPivotsTest : public SparseTest {
 protected:
  void SetUp() override {
    SparseTest::SetUp();
    ASSERT_EQ(cusparseCreateMatDescr(&description), kGood);
    ASSERT_EQ(cusparseCreateBsrsv2Info(&info), kGood);
    for (cudaStream_t* const stream : {&busy, &other}) {
      ASSERT_EQ(
          cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking),
          cudaSuccess);
    }
  }
  void TearDown() override {
    EXPECT_EQ(cusparseSetStream(handle, nullptr), kGood);
    SparseTest::TearDown();
    EXPECT_EQ(cudaStreamDestroy(busy), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
    EXPECT_EQ(cusparseDestroyBsrsv2Info(info), kGood);
    EXPECT_EQ(cusparseDestroyMatDescr(description), kGood);
  }
  /// Blocks on the diagonal, some of which are not there, or have a zero.
  static Matrix diagonal(const Blocks& missing, const Blocks& singular) {
    Matrix matrix(kN, kN);
    for (int row = 0; row < kBlockRows; ++row) {
      const int i = row * kBlock;
      if (missing.count(row) == 0) {
        matrix(i, i) = singular.count(row) == 0 ? 1 : 0;
        matrix(i + 1, i) = 1;
        matrix(i + 1, i + 1) = 1;
      }
    }
    return matrix;
  }
  static Sparse sparse(const Blocks& missing, const Blocks& singular) {
    Storage storage{CUSPARSE_FORMAT_BSR, CUDA_R_64F};
    storage.block = kBlock;
    return {diagonal(missing, singular), storage};
  }
  void analyse(const Sparse& a) const {
    ASSERT_EQ(
        cusparseDbsrsv2_analysis(
            handle,
            CUSPARSE_DIRECTION_ROW,
            kNone,
            kBlockRows,
            static_cast<int>(a.arrays.nnz),
            description,
            static_cast<double*>(a.values.get()),
            static_cast<int*>(a.offsets.get()),
            static_cast<int*>(a.indices.get()),
            kBlock,
            info,
            kPolicy,
            work.get()),
        kGood);
  }
  void solve(const Sparse& a) const {
    ASSERT_EQ(
        cusparseDbsrsv2_solve(
            handle,
            CUSPARSE_DIRECTION_ROW,
            kNone,
            kBlockRows,
            static_cast<int>(a.arrays.nnz),
            &one,
            description,
            static_cast<double*>(a.values.get()),
            static_cast<int*>(a.offsets.get()),
            static_cast<int*>(a.indices.get()),
            kBlock,
            info,
            b.get(),
            x.get(),
            kPolicy,
            work.get()),
        kGood);
  }
  void expect_zero(int wanted) const {
    int position = 7;
    EXPECT_EQ(
        cusparseXbsrsv2_zeroPivot(handle, info, &position),
        wanted == kNoZero ? kGood : CUSPARSE_STATUS_ZERO_PIVOT);
    EXPECT_EQ(position, wanted);
  }
  /// The handle's work from here on is in a stream that has to wait.
  void go_to_busy_stream() const {
    ASSERT_EQ(cusparseSetStream(handle, busy), kGood);
    ASSERT_EQ(
        cudaLaunchHostFunc(
            busy,
            [](void*) {
              std::this_thread::sleep_for(std::chrono::milliseconds(50));
            },
            nullptr),
        cudaSuccess);
  }

  const double one = 1;
  const Array<double> b{std::vector<double>(kN, 1)};
  const Array<double> x{std::vector<double>(kN)};
  cusparseMatDescr_t description = nullptr;
  bsrsv2Info_t info = nullptr;
  cudaStream_t busy = nullptr;
  cudaStream_t other = nullptr;
};

// Asking waits for the device, so that the handle's stream may be another one
// by then.
TEST_F(ZeroPivotsTest, OfWorkInAnotherStream) {
  const Sparse incomplete = sparse({3}, {});
  go_to_busy_stream();
  analyse(incomplete);
  ASSERT_EQ(cusparseSetStream(handle, other), kGood);
  expect_zero(3);
  const Sparse singular = sparse({}, {1});
  go_to_busy_stream();
  analyse(singular);
  solve(singular);
  ASSERT_EQ(cusparseSetStream(handle, other), kGood);
  expect_zero(1);
}

// As cudaDeviceSynchronize(), which it is to call.
TEST_F(ZeroPivotsTest, AreNotToldDuringACapture) {
  const Sparse a = sparse({}, {});
  analyse(a);
  ASSERT_EQ(
      cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal), cudaSuccess);
  int position = 7;
  EXPECT_EQ(cusparseXbsrsv2_zeroPivot(handle, info, &position), kFailed);
  EXPECT_EQ(position, 7);
  cudaGraph_t graph = nullptr;
  EXPECT_NE(cudaStreamEndCapture(other, &graph), cudaSuccess);
  EXPECT_NE(cudaGetLastError(), cudaSuccess);
  expect_zero(kNoZero);
}

TEST_F(ZeroPivotsTest, TheFirstCountsWhoeverFoundIt) {
  for (const int singular : {0, 2, 5}) {
    SCOPED_TRACE(singular);
    const Sparse a = sparse({4}, {singular});
    analyse(a);
    expect_zero(4);
    solve(a);
    expect_zero(std::min(4, singular));
  }
}

// A solution knows what the analysis found, but nothing of the one before.
TEST_F(ZeroPivotsTest, AreThoseOfTheLastSolution) {
  const Sparse good = sparse({}, {}), bad = sparse({}, {2, 3});
  analyse(good);
  solve(bad);
  expect_zero(2);
  solve(good);
  expect_zero(kNoZero);
  const Sparse incomplete = sparse({5}, {}), both = sparse({5}, {1});
  analyse(incomplete);
  expect_zero(5);
  solve(both);
  expect_zero(1);
  solve(incomplete);
  expect_zero(5);
  // Without pivots, only the structure is left.
  ASSERT_EQ(
      cusparseSetMatDiagType(description, CUSPARSE_DIAG_TYPE_UNIT), kGood);
  solve(both);
  expect_zero(5);
  analyse(both);
  expect_zero(kNoZero);
  solve(both);
  expect_zero(kNoZero);
}

} // namespace
} // namespace accelerator::sparse::testing

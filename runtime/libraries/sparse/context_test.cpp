// Handles, what the library says of itself, and how its work runs: in streams,
// graphs and threads.
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <thread>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

class ContextTest : public SparseTest {
 protected:
  /// y = a * x.
  cusparseStatus_t multiply(
      const Sparse& a,
      const Vector& x,
      const Vector& y,
      const void* alpha,
      const void* beta) const {
    return cusparseSpMV(
        handle,
        kNone,
        alpha,
        a.descriptor,
        x.descriptor,
        beta,
        y.descriptor,
        CUDA_R_64F,
        CUSPARSE_SPMV_ALG_DEFAULT,
        work.get());
  }

  const double one = 1, zero = 0;
};

TEST_F(ContextTest, Handles) {
  EXPECT_EQ(cusparseCreate(nullptr), kInvalid);
  EXPECT_EQ(cusparseDestroy(nullptr), kGood);
  cudaStream_t stream = nullptr, got = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  EXPECT_EQ(cusparseGetStream(handle, &got), kGood);
  EXPECT_EQ(got, nullptr);
  EXPECT_EQ(cusparseSetStream(handle, stream), kGood);
  EXPECT_EQ(cusparseGetStream(handle, &got), kGood);
  EXPECT_EQ(got, stream);
  EXPECT_EQ(cusparseSetStream(nullptr, stream), kInvalid);
  EXPECT_EQ(cusparseGetStream(nullptr, &got), kInvalid);
  EXPECT_EQ(cusparseGetStream(handle, nullptr), kInvalid);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  ASSERT_EQ(cusparseSetStream(handle, nullptr), kGood);
  auto mode = CUSPARSE_POINTER_MODE_DEVICE;
  EXPECT_EQ(cusparseGetPointerMode(handle, &mode), kGood);
  EXPECT_EQ(mode, CUSPARSE_POINTER_MODE_HOST);
  EXPECT_EQ(
      cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE), kGood);
  EXPECT_EQ(cusparseGetPointerMode(handle, &mode), kGood);
  EXPECT_EQ(mode, CUSPARSE_POINTER_MODE_DEVICE);
  EXPECT_EQ(
      cusparseSetPointerMode(handle, static_cast<cusparsePointerMode_t>(2)),
      kInvalid);
  EXPECT_EQ(cusparseSetPointerMode(nullptr, mode), kInvalid);
  EXPECT_EQ(cusparseGetPointerMode(nullptr, &mode), kInvalid);
  EXPECT_EQ(cusparseGetPointerMode(handle, nullptr), kInvalid);
}

TEST_F(ContextTest, Versions) {
  int version = 0, part = 0;
  EXPECT_EQ(cusparseGetVersion(handle, &version), kGood);
  EXPECT_EQ(version, CUSPARSE_VERSION);
  EXPECT_EQ(cusparseGetVersion(nullptr, &version), kInvalid);
  EXPECT_EQ(cusparseGetVersion(handle, nullptr), kInvalid);
  int sum = 0, factor = 1000;
  for (const auto type : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    EXPECT_EQ(cusparseGetProperty(type, &part), kGood);
    sum += part * factor;
    factor = factor == 1000 ? 100 : 1;
  }
  EXPECT_EQ(sum, version);
  for (const int type : {-1, 3}) {
    EXPECT_EQ(
        cusparseGetProperty(static_cast<libraryPropertyType>(type), &part),
        kInvalid);
  }
  EXPECT_EQ(cusparseGetProperty(MAJOR_VERSION, nullptr), kInvalid);
}

// As NVIDIA's library has them.
TEST_F(ContextTest, Texts) {
  EXPECT_STREQ(cusparseGetErrorName(kGood), "CUSPARSE_STATUS_SUCCESS");
  EXPECT_STREQ(cusparseGetErrorString(kGood), "success");
  EXPECT_STREQ(
      cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT),
      "CUSPARSE_STATUS_ZERO_PIVOT");
  EXPECT_STREQ(
      cusparseGetErrorString(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES),
      "insufficient resources");
  for (const int status : {-1, 12}) {
    EXPECT_STREQ(
        cusparseGetErrorName(static_cast<cusparseStatus_t>(status)),
        "unrecognized error code");
    EXPECT_STREQ(
        cusparseGetErrorString(static_cast<cusparseStatus_t>(status)),
        "unrecognized error code");
  }
}

TEST_F(ContextTest, TheLoggerTakesSettings) {
  EXPECT_EQ(cusparseLoggerSetCallback(nullptr), kGood);
  EXPECT_EQ(cusparseLoggerSetFile(stderr), kGood);
  EXPECT_EQ(cusparseLoggerOpenFile(nullptr), kGood);
  EXPECT_EQ(cusparseLoggerSetLevel(5), kGood);
  EXPECT_EQ(cusparseLoggerSetLevel(6), kInvalid);
  EXPECT_EQ(cusparseLoggerSetLevel(-1), kInvalid);
  EXPECT_EQ(cusparseLoggerSetMask(3), kGood);
  EXPECT_EQ(cusparseLoggerForceDisable(), kGood);
}

TEST_F(ContextTest, ScalarsOnTheDevice) {
  const Matrix a = sparse_matrix(4, 4, CUDA_R_64F, 1);
  const Sparse left(a, {});
  const std::vector<Wide> ones(4, 1);
  const Vector x(ones, CUDA_R_64F), y(ones, CUDA_R_64F);
  const Array<double> scalars(std::vector<double>{3, 2});
  ASSERT_EQ(
      cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE), kGood);
  ASSERT_EQ(multiply(left, x, y, scalars.get(), scalars.get() + 1), kGood);
  Matrix b(4, 1);
  b.values = ones;
  const Matrix product = a * b;
  const std::vector<Wide> got = y.values.read();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(got[i], 3.0 * product(i, 0) + 2.0);
  }
  // They are read when the work runs, and have to be there.
  EXPECT_EQ(multiply(left, x, y, &one, &zero), kFailed);
  EXPECT_EQ(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST), kGood);
}

// One node of a graph, which computes anew at each launch, whatever has become
// of the descriptors.
TEST_F(ContextTest, GraphsRepeatIt) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, 1), cudaSuccess);
  ASSERT_EQ(cusparseSetStream(handle, stream), kGood);
  const Matrix a = sparse_matrix(4, 4, CUDA_R_64F, 2);
  const Sparse left(a, {});
  const Values x(CUDA_R_64F, std::vector<Wide>(4, 1));
  const Vector y(std::vector<Wide>(4), CUDA_R_64F);
  cusparseDnVecDescr_t right = nullptr;
  ASSERT_EQ(cusparseCreateDnVec(&right, 4, x.get(), CUDA_R_64F), kGood);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(
      cusparseSpMV(
          handle,
          kNone,
          &one,
          left.descriptor,
          right,
          &zero,
          y.descriptor,
          CUDA_R_64F,
          CUSPARSE_SPMV_ALG_DEFAULT,
          work.get()),
      kGood);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cusparseDestroyDnVec(right), kGood);
  std::size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1U);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(y.values.read(), std::vector<Wide>(4));
  for (const double value : {1.0, 5.0}) {
    const std::vector<double> values(4, value);
    ASSERT_EQ(
        cudaMemcpy(
            x.get(), values.data(), 4 * sizeof(double), cudaMemcpyHostToDevice),
        cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    Matrix b(4, 1);
    b.values.assign(4, value);
    EXPECT_EQ(y.values.read(), (a * b).values);
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cusparseSetStream(handle, nullptr), kGood);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// The result on the host is a graph's, too: it is there when that has run.
TEST_F(ContextTest, ADotProductIsCapturedWithItsResultOnTheHost) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cusparseSetStream(handle, stream), kGood);
  const Array<std::int32_t> places(std::vector<std::int32_t>{3, 0});
  const Array<double> values(std::vector<double>{2, 10});
  const Array<double> dense(std::vector<double>{1, 7, 8, 5});
  cusparseSpVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  ASSERT_EQ(
      cusparseCreateSpVec(
          &x,
          4,
          2,
          places.get(),
          values.get(),
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_BASE_ZERO,
          CUDA_R_64F),
      kGood);
  ASSERT_EQ(cusparseCreateDnVec(&y, 4, dense.get(), CUDA_R_64F), kGood);
  double result = -1;
  const auto dot = [&] {
    return cusparseSpVV(handle, kNone, x, y, &result, CUDA_R_64F, work.get());
  };
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(dot(), kGood);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(result, -1);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (const double first : {1.0, 4.0}) {
    ASSERT_EQ(
        cudaMemcpy(dense.get(), &first, sizeof(first), cudaMemcpyHostToDevice),
        cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(result, 2 * 5 + 10 * first);
  }
  result = -1;
  EXPECT_EQ(dot(), kGood);
  EXPECT_EQ(result, 50) << "is there at once without a capture";
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cusparseDestroySpVec(x), kGood);
  EXPECT_EQ(cusparseDestroyDnVec(y), kGood);
  ASSERT_EQ(cusparseSetStream(handle, nullptr), kGood);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(ContextTest, EachThreadWithItsHandle) {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([this, number] {
      cusparseHandle_t own = nullptr;
      ASSERT_EQ(cusparseCreate(&own), kGood);
      for (unsigned round = 0; round < 20; ++round) {
        const Matrix a = sparse_matrix(9, 7, CUDA_R_64F, number * 100 + round);
        const Matrix b = full_matrix(7, 1, CUDA_R_64F, round);
        const Sparse left(a, {});
        const Vector x(b.values, CUDA_R_64F);
        const Vector y(std::vector<Wide>(9), CUDA_R_64F);
        ASSERT_EQ(
            cusparseSpMV(
                own,
                kNone,
                &one,
                left.descriptor,
                x.descriptor,
                &zero,
                y.descriptor,
                CUDA_R_64F,
                CUSPARSE_SPMV_ALG_DEFAULT,
                nullptr),
            kGood);
        ASSERT_EQ(y.values.read(), (a * b).values);
      }
      ASSERT_EQ(cusparseDestroy(own), kGood);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(ContextTest, MemoryThatIsNotThere) {
  const Sparse a(sparse_matrix(4, 4, CUDA_R_64F, 3), {});
  const Vector x(std::vector<Wide>(4, 1), CUDA_R_64F);
  std::vector<double> host(4);
  for (void* const pointer :
       {static_cast<void*>(host.data()), static_cast<void*>(nullptr)}) {
    const Vector y(std::vector<Wide>(4), CUDA_R_64F);
    ASSERT_EQ(cusparseDnVecSetValues(y.descriptor, pointer), kGood);
    EXPECT_EQ(multiply(a, x, y, &one, &zero), kFailed);
    EXPECT_EQ(multiply(a, y, x, &one, &zero), kFailed);
  }
  const Vector y(std::vector<Wide>(4), CUDA_R_64F);
  ASSERT_EQ(
      cusparseCsrSetPointers(
          a.descriptor, a.offsets.get(), nullptr, a.values.get()),
      kGood);
  EXPECT_EQ(multiply(a, x, y, &one, &zero), kFailed);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// What only the work can see is a fault of the device.
class FaultTest : public ::testing::TestWithParam<cusparseFormat_t> {
 protected:
  /// With a matrix in which one index, or offset, is another.
  static void expect_fault(
      bool is_offset,
      std::size_t at,
      std::int64_t value,
      const Storage& storage) {
    SCOPED_TRACE(::testing::Message() << is_offset << at << " " << value);
    const double one = 1, zero = 0;
    cusparseHandle_t handle = nullptr;
    ASSERT_EQ(cusparseCreate(&handle), kGood);
    {
      const Sparse a(sparse_matrix(6, 6, CUDA_R_64F, 4), storage);
      const auto index = static_cast<int>(value);
      void* const where =
          static_cast<int*>((is_offset ? a.offsets : a.indices).get()) + at;
      ASSERT_EQ(
          cudaMemcpy(where, &index, sizeof(index), cudaMemcpyHostToDevice),
          cudaSuccess);
      const Vector x(std::vector<Wide>(6, 1), CUDA_R_64F);
      const Vector y(std::vector<Wide>(6), CUDA_R_64F);
      EXPECT_EQ(
          cusparseSpMV(
              handle,
              kNone,
              &one,
              a.descriptor,
              x.descriptor,
              &zero,
              y.descriptor,
              CUDA_R_64F,
              CUSPARSE_SPMV_ALG_DEFAULT,
              nullptr),
          kGood);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    }
    EXPECT_EQ(cusparseDestroy(handle), kGood);
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  }
};

TEST_P(FaultTest, IndicesOutsideOfTheMatrix) {
  const Storage storage{GetParam()};
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const int value : {6, kMost}) {
    expect_fault(false, 0, value, storage);
  }
  for (const int value : {-1, kMost}) {
    expect_fault(true, 1, value, storage);
  }
  if (GetParam() != CUSPARSE_FORMAT_SLICED_ELLPACK) {
    expect_fault(false, 0, -1, storage);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats,
    FaultTest,
    ::testing::Values(
        CUSPARSE_FORMAT_CSR,
        CUSPARSE_FORMAT_CSC,
        CUSPARSE_FORMAT_COO,
        CUSPARSE_FORMAT_SLICED_ELLPACK));

} // namespace
} // namespace accelerator::sparse::testing

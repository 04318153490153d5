// What a handle keeps, and how cuBLAS names itself and its statuses.
#include <cstddef>
#include <string>

#include "runtime/libraries/blas/testing/arrays.h"

// Of CUDA 13, whose enumerations are int: the header that this is built with
// does not have them.
extern "C" {
cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle, int value);
cublasStatus_t cublasGetEmulationStrategy(cublasHandle_t handle, int* value);
cublasStatus_t cublasSetEmulationSpecialValuesSupport(
    cublasHandle_t handle,
    int value);
cublasStatus_t cublasGetEmulationSpecialValuesSupport(
    cublasHandle_t handle,
    int* value);
cublasStatus_t cublasSetFixedPointEmulationMantissaControl(
    cublasHandle_t handle,
    int value);
cublasStatus_t cublasGetFixedPointEmulationMantissaControl(
    cublasHandle_t handle,
    int* value);
cublasStatus_t cublasSetFixedPointEmulationMaxMantissaBitCount(
    cublasHandle_t handle,
    int value);
cublasStatus_t cublasGetFixedPointEmulationMaxMantissaBitCount(
    cublasHandle_t handle,
    int* value);
cublasStatus_t cublasSetFixedPointEmulationMantissaBitOffset(
    cublasHandle_t handle,
    int value);
cublasStatus_t cublasGetFixedPointEmulationMantissaBitOffset(
    cublasHandle_t handle,
    int* value);
}

namespace accelerator::blas::testing {
namespace {

using Handle = HandleTest<Single>;

TEST_F(Handle, TheVersionIsThatOfTheHeader) {
  int version = 0, major = 0, minor = 0, patch = 0;
  EXPECT_EQ(cublasGetVersion(handle, &version), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(version, CUBLAS_VERSION);
  EXPECT_EQ(cublasGetProperty(MAJOR_VERSION, &major), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetProperty(MINOR_VERSION, &minor), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetProperty(PATCH_LEVEL, &patch), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(major * 10000 + minor * 100 + patch, CUBLAS_VERSION);
  EXPECT_EQ(
      cublasGetProperty(static_cast<libraryPropertyType>(9), &major),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      cublasGetProperty(MAJOR_VERSION, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasGetVersion(handle, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasGetCudartVersion(), static_cast<std::size_t>(CUDART_VERSION));
}

TEST_F(Handle, ModesAreKept) {
  cublasPointerMode_t pointer = CUBLAS_POINTER_MODE_DEVICE;
  EXPECT_EQ(cublasGetPointerMode(handle, &pointer), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(pointer, CUBLAS_POINTER_MODE_HOST);
  EXPECT_EQ(
      cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetPointerMode(handle, &pointer), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(pointer, CUBLAS_POINTER_MODE_DEVICE);

  cublasMath_t math = CUBLAS_PEDANTIC_MATH;
  EXPECT_EQ(cublasGetMathMode(handle, &math), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(math, CUBLAS_DEFAULT_MATH);
  const auto reduced = static_cast<cublasMath_t>(
      CUBLAS_TF32_TENSOR_OP_MATH |
      CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  EXPECT_EQ(cublasSetMathMode(handle, reduced), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetMathMode(handle, &math), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(math, reduced);

  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_ALLOWED;
  EXPECT_EQ(cublasGetAtomicsMode(handle, &atomics), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(atomics, CUBLAS_ATOMICS_NOT_ALLOWED);
  EXPECT_EQ(
      cublasSetAtomicsMode(handle, CUBLAS_ATOMICS_ALLOWED),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetAtomicsMode(handle, &atomics), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(atomics, CUBLAS_ATOMICS_ALLOWED);

  int count = -1;
  EXPECT_EQ(cublasGetSmCountTarget(handle, &count), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cublasSetSmCountTarget(handle, 20), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetSmCountTarget(handle, &count), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(count, 20);
}

TEST_F(Handle, ModesThatThereAreNotAreRefused) {
  EXPECT_EQ(
      cublasSetPointerMode(handle, static_cast<cublasPointerMode_t>(7)),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(
      cublasSetMathMode(handle, static_cast<cublasMath_t>(9)),
      CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSetSmCountTarget(handle, -1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasGetPointerMode(handle, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasGetStream(handle, nullptr), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Handle, SettingsOfEmulationAreKept) {
  struct Setting {
    cublasStatus_t (*set)(cublasHandle_t, int);
    cublasStatus_t (*get)(cublasHandle_t, int*);
    int at_first;
    int valid;
    int invalid;
  };
  for (const Setting& its :
       {Setting{
            cublasSetEmulationStrategy, cublasGetEmulationStrategy, 0, 2, 3},
        Setting{
            cublasSetEmulationSpecialValuesSupport,
            cublasGetEmulationSpecialValuesSupport,
            0xffff,
            0,
            -1},
        Setting{
            cublasSetFixedPointEmulationMantissaControl,
            cublasGetFixedPointEmulationMantissaControl,
            0,
            1,
            2},
        Setting{
            cublasSetFixedPointEmulationMaxMantissaBitCount,
            cublasGetFixedPointEmulationMaxMantissaBitCount,
            0,
            55,
            -1}}) {
    int value = -5;
    EXPECT_EQ(its.get(handle, &value), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(value, its.at_first);
    EXPECT_EQ(its.set(handle, its.valid), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(its.set(handle, its.invalid), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_EQ(its.set(nullptr, its.valid), CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT_EQ(its.get(handle, &value), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(value, its.valid);
    EXPECT_EQ(its.get(handle, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  }
  int offset = 5;
  EXPECT_EQ(
      cublasSetFixedPointEmulationMantissaBitOffset(handle, -2),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      cublasGetFixedPointEmulationMantissaBitOffset(handle, &offset),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(offset, -2);
  for (const int emulated : {4, 8}) {
    EXPECT_EQ(
        cublasSetMathMode(handle, static_cast<cublasMath_t>(emulated)),
        CUBLAS_STATUS_SUCCESS);
  }
}

TEST_F(Handle, WorkspacesAreAligned) {
  const Array<char> room(std::vector<char>(4096));
  EXPECT_EQ(
      cublasSetWorkspace(handle, room.get(), 4096), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      cublasSetWorkspace(handle, room.get() + 16, 4080),
      CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(Handle, WorkGoesIntoItsStream) {
  cudaStream_t stream = nullptr, kept = nullptr;
  ASSERT_EQ(
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasGetStream(handle, &kept), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(kept, stream);
  const Array<float> x(std::vector<float>{1, 2});
  const float factor = 3;
  cudaGraph_t graph = nullptr;
  std::size_t nodes = 0;
  ASSERT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
      cudaSuccess);
  EXPECT_EQ(cublasSscal(handle, 2, &factor, x.get(), 1), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
  EXPECT_EQ(x.values(), (std::vector<float>{1, 2}));
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

// cuBLAS API, 2.1.9: results on the host need a synchronization, and are the
// exception among what can be captured.
TEST_F(Handle, ResultsAreCapturedOnTheDeviceOnly) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cublasSetStream(handle, stream), CUBLAS_STATUS_SUCCESS);
  const Array<float> x(std::vector<float>{3, -4});
  const Array<float> results(std::vector<float>(3));
  const Array<int> index(std::vector<int>(1));
  const auto all = [&](float* result, int* place) {
    return std::vector<cublasStatus_t>{
        cublasSdot(handle, 2, x.get(), 1, x.get(), 1, result),
        cublasSnrm2(handle, 2, x.get(), 1, result + 1),
        cublasSasum(handle, 2, x.get(), 1, result + 2),
        cublasIsamax(handle, 2, x.get(), 1, place)};
  };
  const auto begin = [&] {
    ASSERT_EQ(
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
        cudaSuccess);
  };
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  begin();
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  EXPECT_EQ(
      all(results.get(), index.get()),
      std::vector<cublasStatus_t>(4, CUBLAS_STATUS_SUCCESS));
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(results.values(), std::vector<float>(3));
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(results.values(), (std::vector<float>{25, 5, 7}));
  EXPECT_EQ(index.values(), std::vector<int>{2});
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);

  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  float told[3] = {-1, -1, -1};
  int place = -1;
  begin();
  EXPECT_EQ(
      all(told, &place),
      std::vector<cublasStatus_t>(4, CUBLAS_STATUS_EXECUTION_FAILED));
  EXPECT_EQ(
      cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(told[0], -1);
  EXPECT_EQ(place, -1);
  cudaGetLastError();
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(NoHandle, NothingIsDoneWithoutAHandle) {
  constexpr auto kNone = CUBLAS_STATUS_NOT_INITIALIZED;
  float value = 1;
  int number = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cublasDestroy(nullptr), kNone);
  EXPECT_EQ(cublasSetStream(nullptr, stream), kNone);
  EXPECT_EQ(cublasGetStream(nullptr, &stream), kNone);
  EXPECT_EQ(cublasSetWorkspace(nullptr, nullptr, 0), kNone);
  EXPECT_EQ(cublasGetSmCountTarget(nullptr, &number), kNone);
  EXPECT_EQ(cublasSscal(nullptr, 1, &value, &value, 1), kNone);
  EXPECT_EQ(cublasSnrm2(nullptr, 1, &value, 1, &value), kNone);
  EXPECT_EQ(
      cublasSgemv(
          nullptr,
          CUBLAS_OP_N,
          1,
          1,
          &value,
          &value,
          1,
          &value,
          1,
          &value,
          &value,
          1),
      kNone);
  EXPECT_EQ(cublasCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE);
}

TEST(Status, EveryStatusHasANameAndADescription) {
  EXPECT_STREQ(
      cublasGetStatusName(CUBLAS_STATUS_SUCCESS), "CUBLAS_STATUS_SUCCESS");
  EXPECT_STREQ(
      cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED),
      "CUBLAS_STATUS_NOT_SUPPORTED");
  EXPECT_STREQ(cublasGetStatusString(CUBLAS_STATUS_SUCCESS), "success");
  for (const auto status :
       {CUBLAS_STATUS_NOT_INITIALIZED,
        CUBLAS_STATUS_ALLOC_FAILED,
        CUBLAS_STATUS_INVALID_VALUE,
        CUBLAS_STATUS_ARCH_MISMATCH,
        CUBLAS_STATUS_MAPPING_ERROR,
        CUBLAS_STATUS_EXECUTION_FAILED,
        CUBLAS_STATUS_INTERNAL_ERROR,
        CUBLAS_STATUS_NOT_SUPPORTED,
        CUBLAS_STATUS_LICENSE_ERROR}) {
    const std::string name = cublasGetStatusName(status);
    EXPECT_EQ(name.rfind("CUBLAS_STATUS_", 0), 0u) << name;
    EXPECT_NE(name, cublasGetStatusString(status));
  }
  const auto none = static_cast<cublasStatus_t>(99);
  EXPECT_NE(cublasGetStatusName(none), nullptr);
  EXPECT_NE(cublasGetStatusString(none), nullptr);
}

} // namespace
} // namespace accelerator::blas::testing

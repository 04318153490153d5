// The way from the runtime to the driver's functions, with both as shared
// libraries.
#include <cuda.h>

#include "runtime/api/cudart/testing/support.h"

// What the header gives to programs with a per-thread default stream.
extern "C" cudaError_t cudaGetDriverEntryPoint_ptsz(
    const char* symbol,
    void** function,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* result);
// Which CUDA 12.5 and later have.
extern "C" cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol,
    void** function,
    unsigned version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* result);
extern "C" cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol,
    void** function,
    unsigned version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* result);

namespace accelerator::cudart::testing {
namespace {

class EntryPoints : public Runtime {};

TEST_F(EntryPoints, AreTheDriversFunctions) {
  CUresult (*device_count)(int*) = nullptr;
  auto result = cudaDriverEntryPointSymbolNotFound;
  ASSERT_OK(cudaGetDriverEntryPoint(
      "cuDeviceGetCount",
      reinterpret_cast<void**>(&device_count),
      cudaEnableDefault,
      &result));
  EXPECT_EQ(result, cudaDriverEntryPointSuccess);
  ASSERT_NE(device_count, nullptr);
  int of_driver = -1;
  int of_runtime = -2;
  EXPECT_EQ(device_count(&of_driver), CUDA_SUCCESS);
  EXPECT_OK(cudaGetDeviceCount(&of_runtime));
  EXPECT_EQ(of_driver, of_runtime);
}

TEST_F(EntryPoints, AreNotFoundByNamesThatDoNotExist) {
  int nothing = 0;
  void* function = &nothing;
  auto result = cudaDriverEntryPointSuccess;
  EXPECT_OK(cudaGetDriverEntryPoint(
      "cuNoSuchFunction", &function, cudaEnableDefault, &result));
  EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(
      cudaGetDriverEntryPoint(
          "cuNoSuchFunction", &function, cudaEnableDefault, nullptr),
      cudaErrorSymbolNotFound);
  EXPECT_EQ(
      cudaGetDriverEntryPoint(nullptr, &function, cudaEnableDefault, &result),
      cudaErrorInvalidValue);
}

TEST_F(EntryPoints, OfStreamsAreThoseOfTheCallersDefaultStream) {
  void* legacy = nullptr;
  void* own = nullptr;
  void* asked = nullptr;
  const char* name = "cuStreamSynchronize";
  ASSERT_OK(cudaGetDriverEntryPoint(name, &legacy, cudaEnableDefault, nullptr));
  ASSERT_OK(
      cudaGetDriverEntryPoint_ptsz(name, &own, cudaEnableDefault, nullptr));
  ASSERT_OK(cudaGetDriverEntryPoint(
      name, &asked, cudaEnablePerThreadDefaultStream, nullptr));
  EXPECT_NE(own, legacy);
  EXPECT_EQ(own, asked);
  ASSERT_OK(cudaGetDriverEntryPoint_ptsz(
      name, &asked, cudaEnableLegacyStream, nullptr));
  EXPECT_EQ(asked, legacy);
}

TEST_F(EntryPoints, OfAVersionAreTheFormsThatItHas) {
  const char* name = "cuCtxCreate";
  void* first = nullptr;
  void* third = nullptr;
  ASSERT_OK(cudaGetDriverEntryPointByVersion(
      name, &first, 11030, cudaEnableDefault, nullptr));
  ASSERT_OK(cudaGetDriverEntryPointByVersion(
      name, &third, 11040, cudaEnableDefault, nullptr));
  EXPECT_NE(first, nullptr);
  EXPECT_NE(third, nullptr);
  EXPECT_NE(first, third);
  EXPECT_EQ(
      cudaGetDriverEntryPointByVersion(
          name, nullptr, 12040, cudaEnableDefault, nullptr),
      cudaErrorInvalidValue);
}

TEST_F(EntryPoints, OfAVersionAreThoseOfTheCallersDefaultStreamToo) {
  const char* name = "cuStreamSynchronize";
  void* own = nullptr;
  void* asked = nullptr;
  ASSERT_OK(
      cudaGetDriverEntryPoint_ptsz(name, &own, cudaEnableDefault, nullptr));
  ASSERT_OK(cudaGetDriverEntryPointByVersion_ptsz(
      name, &asked, 12040, cudaEnableDefault, nullptr));
  EXPECT_NE(own, nullptr);
  EXPECT_EQ(own, asked);
  ASSERT_OK(cudaGetDriverEntryPointByVersion(
      name, &asked, 12040, cudaEnableDefault, nullptr));
  EXPECT_NE(own, asked);
}

} // namespace
} // namespace accelerator::cudart::testing

// The way from the runtime to the driver's functions, with both as shared
// libraries.
#include <cuda.h>

#include "accelerator/runtime/cudart/testing/support.h"

// What the header gives to programs with a per-thread default stream.
extern "C" cudaError_t cudaGetDriverEntryPoint_ptsz(
    const char* symbol,
    void** function,
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

} // namespace
} // namespace accelerator::cudart::testing

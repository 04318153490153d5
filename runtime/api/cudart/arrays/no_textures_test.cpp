// A device that reads no textures (TORCH_CUDA_DEVICES, in BUILD.bazel) says so.
#include <gtest/gtest.h>

#include <string>

#include "runtime/api/cudart/testing/arrays.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

class NoTextures : public Runtime {};

TEST_F(NoTextures, AreRefusedWithWhatIsNeeded) {
  const Array array(
      {"plane", {8, 8, 0}, cudaArraySurfaceLoadStore},
      {32, 0, 0, 0, cudaChannelFormatKindFloat});
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc texture{};
  cudaTextureObject_t object = 7;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(
      cudaCreateTextureObject(&object, &resource, &texture, nullptr),
      cudaErrorNotSupported);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("TORCH_CUDA_DEVICES=sim"), std::string::npos) << text;
  EXPECT_EQ(object, 7u);
  EXPECT_EQ(cudaCreateSurfaceObject(&object, &resource), cudaErrorNotSupported);
  EXPECT_EQ(cudaDestroyTextureObject(7), cudaErrorInvalidResourceHandle);
}

} // namespace
} // namespace accelerator::cudart::testing

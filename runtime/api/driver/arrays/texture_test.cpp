// Texture and surface objects of the driver: what they are made of, and what
// they say of themselves. The runtime's tests have the rules: both are one
// core. Source of statuses: CUDA driver API, texture object management.
#include <cuda.h>

#include <cstring>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

class TextureObjects : public ContextTest {
 protected:
  TextureObjects() {
    const CUDA_ARRAY3D_DESCRIPTOR wanted = {
        16, 8, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_SURFACE_LDST};
    EXPECT_EQ(cuArray3DCreate(&array, &wanted), CUDA_SUCCESS);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
  }
  ~TextureObjects() override {
    EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  }
  CUresult make(const CUDA_TEXTURE_DESC& texture) const {
    CUtexObject object = 0;
    const CUresult result =
        cuTexObjectCreate(&object, &resource, &texture, nullptr);
    if (result == CUDA_SUCCESS) {
      EXPECT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
    }
    return result;
  }

  CUarray array = nullptr;
  CUDA_RESOURCE_DESC resource{};
};

TEST_F(TextureObjects, SayWhatTheyWereMadeOf) {
  CUDA_TEXTURE_DESC texture{};
  texture.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
  texture.addressMode[2] = CU_TR_ADDRESS_MODE_BORDER;
  texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
  texture.flags = CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
      CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  texture.maxAnisotropy = 3;
  texture.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  texture.mipmapLevelBias = 0.5f;
  texture.minMipmapLevelClamp = 1;
  texture.maxMipmapLevelClamp = 2;
  texture.borderColor[3] = 1;
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_SINT_1X8;
  view.width = 16;
  view.height = 8;
  CUtexObject object = 0;
  ASSERT_EQ(
      cuTexObjectCreate(&object, &resource, &texture, &view), CUDA_SUCCESS);
  CUDA_RESOURCE_DESC found{};
  ASSERT_EQ(cuTexObjectGetResourceDesc(&found, object), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&found, &resource, sizeof(found)), 0);
  CUDA_TEXTURE_DESC found_texture{};
  ASSERT_EQ(cuTexObjectGetTextureDesc(&found_texture, object), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&found_texture, &texture, sizeof(texture)), 0);
  CUDA_RESOURCE_VIEW_DESC found_view{};
  ASSERT_EQ(cuTexObjectGetResourceViewDesc(&found_view, object), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&found_view, &view, sizeof(view)), 0);
  EXPECT_EQ(cuSurfObjectDestroy(object), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
  EXPECT_EQ(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuTexObjectGetResourceDesc(&found, object), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuTexObjectGetTextureDesc(&found_texture, object),
      CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuTexObjectGetResourceViewDesc(&found_view, object),
      CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(TextureObjects, OfMemorySayWhereItIs) {
  const Array<float> memory(1024);
  CUDA_RESOURCE_DESC line{};
  line.resType = CU_RESOURCE_TYPE_LINEAR;
  line.res.linear = {memory.address(), CU_AD_FORMAT_FLOAT, 2, 4096};
  CUDA_RESOURCE_DESC plane{};
  plane.resType = CU_RESOURCE_TYPE_PITCH2D;
  plane.res.pitch2D = {memory.address(), CU_AD_FORMAT_HALF, 4, 12, 10, 128};
  for (const CUDA_RESOURCE_DESC& wanted : {line, plane}) {
    const CUDA_TEXTURE_DESC texture{};
    CUtexObject object = 0;
    ASSERT_EQ(
        cuTexObjectCreate(&object, &wanted, &texture, nullptr), CUDA_SUCCESS);
    CUDA_RESOURCE_DESC found{};
    ASSERT_EQ(cuTexObjectGetResourceDesc(&found, object), CUDA_SUCCESS);
    EXPECT_EQ(std::memcmp(&found, &wanted, sizeof(found)), 0);
    CUDA_RESOURCE_VIEW_DESC view{};
    EXPECT_EQ(
        cuTexObjectGetResourceViewDesc(&view, object),
        CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
  }
}

// Whole numbers are fractions unless the program wants them as they are.
TEST_F(TextureObjects, OfWholeNumbersAreFilteredAsFractionsOnly) {
  CUDA_TEXTURE_DESC texture{};
  texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
  EXPECT_EQ(make(texture), CUDA_SUCCESS);
  texture.flags = CU_TRSF_READ_AS_INTEGER;
  EXPECT_EQ(make(texture), CUDA_ERROR_INVALID_VALUE);
  texture.filterMode = CU_TR_FILTER_MODE_POINT;
  EXPECT_EQ(make(texture), CUDA_SUCCESS);
  texture.flags = 0x1000;
  EXPECT_EQ(make(texture), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(TextureObjects, SurfacesSayWhatTheyWereMadeOf) {
  CUsurfObject object = 0;
  ASSERT_EQ(cuSurfObjectCreate(&object, &resource), CUDA_SUCCESS);
  EXPECT_NE(object, 0u);
  CUDA_RESOURCE_DESC found{};
  ASSERT_EQ(cuSurfObjectGetResourceDesc(&found, object), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&found, &resource, sizeof(found)), 0);
  EXPECT_EQ(cuTexObjectDestroy(object), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(cuSurfObjectDestroy(object), CUDA_SUCCESS);
  EXPECT_EQ(cuSurfObjectDestroy(object), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuSurfObjectGetResourceDesc(&found, object), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(TextureObjects, NeedWhatTheyAreMadeOf) {
  CUtexObject object = 0;
  const CUDA_TEXTURE_DESC texture{};
  constexpr auto kBad = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(cuTexObjectCreate(nullptr, &resource, &texture, nullptr), kBad);
  EXPECT_EQ(cuTexObjectCreate(&object, nullptr, &texture, nullptr), kBad);
  EXPECT_EQ(cuTexObjectCreate(&object, &resource, nullptr, nullptr), kBad);
  EXPECT_EQ(cuSurfObjectCreate(&object, nullptr), kBad);
  EXPECT_EQ(cuSurfObjectCreate(nullptr, &resource), kBad);
  resource.flags = 1;
  EXPECT_EQ(make(texture), kBad);
  resource.flags = 0;
  resource.res.array.hArray = nullptr;
  EXPECT_EQ(make(texture), CUDA_ERROR_INVALID_HANDLE);
}

} // namespace
} // namespace accelerator::driver::testing

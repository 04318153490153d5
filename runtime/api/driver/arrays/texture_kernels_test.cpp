// Kernels read and write arrays by texture and surface objects: what the driver
// tells the device of an object is what the program said. The simulated GPU's
// own tests have the rules of filtering.
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

// One thread each: reads one element into *to, or writes one.
constexpr char kTextureKernels[] = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry plane(.param .u64 to, .param .u64 object, .param .f32 x, .param .f32 y)
{
  .reg .b64 %rd<3>;
  .reg .f32 %f<6>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [object];
  ld.param.f32 %f4, [x];
  ld.param.f32 %f5, [y];
  tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd2, {%f4, %f5}];
  st.global.f32 [%rd1], %f0;
  ret;
}

.visible .entry layer(.param .u64 to, .param .u64 object, .param .f32 x, .param .f32 y, .param .u32 number)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  .reg .f32 %f<6>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [object];
  ld.param.f32 %f4, [x];
  ld.param.f32 %f5, [y];
  ld.param.u32 %r1, [number];
  tex.a2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd2, {%r1, %f4, %f5, %f5}];
  st.global.f32 [%rd1], %f0;
  ret;
}

.visible .entry level(.param .u64 to, .param .u64 object, .param .f32 x, .param .f32 y, .param .f32 number)
{
  .reg .b64 %rd<3>;
  .reg .f32 %f<7>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [object];
  ld.param.f32 %f4, [x];
  ld.param.f32 %f5, [y];
  ld.param.f32 %f6, [number];
  tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd2, {%f4, %f5}], %f6;
  st.global.f32 [%rd1], %f0;
  ret;
}

.visible .entry line(.param .u64 to, .param .u64 object, .param .u32 x)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [object];
  ld.param.u32 %r1, [x];
  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd2, {%r1}];
  st.global.f32 [%rd1], %f0;
  ret;
}

.visible .entry write(.param .u64 object, .param .u32 x, .param .u32 y, .param .u32 value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [object];
  ld.param.u32 %r1, [x];
  ld.param.u32 %r2, [y];
  ld.param.u32 %r3, [value];
  sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};
  ret;
}
)";

// An element's value says where it is.
float value_at(unsigned x, unsigned y, unsigned z = 0) {
  return static_cast<float>(100 * z + 10 * y + x);
}

class TextureKernels : public ContextTest {
 protected:
  TextureKernels() {
    EXPECT_EQ(cuModuleLoadData(&module, kTextureKernels), CUDA_SUCCESS);
  }
  ~TextureKernels() override {
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }
  template <typename... Arguments>
  void launch(const char* name, Arguments... arguments) {
    CUfunction kernel = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&kernel, module, name), CUDA_SUCCESS);
    void* places[] = {&arguments...};
    ASSERT_EQ(
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, places, nullptr),
        CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  }
  /// What a kernel reads by an object.
  template <typename... Arguments>
  float read(const char* name, CUtexObject object, Arguments... arguments) {
    launch(name, result.address(), object, arguments...);
    return result.values()[0];
  }
  static void fill(
      CUarray array,
      unsigned width,
      unsigned height,
      unsigned depth) {
    std::vector<float> host;
    for (unsigned z = 0; z < depth; ++z) {
      for (unsigned y = 0; y < height; ++y) {
        for (unsigned x = 0; x < width; ++x) {
          host.push_back(value_at(x, y, z));
        }
      }
    }
    CUDA_MEMCPY3D p{};
    p.srcMemoryType = CU_MEMORYTYPE_HOST;
    p.srcHost = host.data();
    p.srcPitch = width * sizeof(float);
    p.srcHeight = height;
    p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    p.dstArray = array;
    p.WidthInBytes = width * sizeof(float);
    p.Height = height;
    p.Depth = depth;
    ASSERT_EQ(cuMemcpy3D(&p), CUDA_SUCCESS);
  }
  static CUDA_RESOURCE_DESC of(CUarray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
  }
  CUtexObject texture(
      const CUDA_RESOURCE_DESC& resource,
      const CUDA_TEXTURE_DESC& how = {},
      const CUDA_RESOURCE_VIEW_DESC* view = nullptr) {
    CUtexObject object = 0;
    EXPECT_EQ(cuTexObjectCreate(&object, &resource, &how, view), CUDA_SUCCESS);
    return object;
  }

  CUmodule module = nullptr;
  const Array<float> result{1};
};

// Rows of 28 bytes, which lie at multiples of more.
TEST_F(TextureKernels, ReadPlanes) {
  const CUDA_ARRAY_DESCRIPTOR wanted = {7, 5, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  ASSERT_EQ(cuArrayCreate(&array, &wanted), CUDA_SUCCESS);
  fill(array, 7, 5, 1);
  const CUtexObject object = texture(of(array));
  for (unsigned y = 0; y < 5; ++y) {
    for (unsigned x = 0; x < 7; ++x) {
      EXPECT_EQ(
          read(
              "plane",
              object,
              static_cast<float>(x) + 0.5f,
              static_cast<float>(y) + 0.5f),
          value_at(x, y));
    }
  }
  // Modes that need normalized coordinates become the one that clamps.
  EXPECT_EQ(read("plane", object, -3.5f, 9.5f), value_at(0, 4));
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  how.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  how.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER;
  how.borderColor[0] = -1;
  const CUtexObject wrapped = texture(of(array), how);
  EXPECT_EQ(read("plane", wrapped, 1.5f / 7 + 1, 2.5f / 5), value_at(1, 2));
  EXPECT_EQ(read("plane", wrapped, 0.5f, 1.2f), -1);
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  how.flags = 0;
  const CUtexObject mixed = texture(of(array), how);
  EXPECT_EQ(
      read("plane", mixed, 3.0f, 2.5f), (value_at(2, 2) + value_at(3, 2)) / 2);
  for (const CUtexObject one : {object, wrapped, mixed}) {
    EXPECT_EQ(cuTexObjectDestroy(one), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

TEST_F(TextureKernels, ReadLayersOfViews) {
  const CUDA_ARRAY3D_DESCRIPTOR wanted = {
      5, 3, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED};
  CUarray array = nullptr;
  ASSERT_EQ(cuArray3DCreate(&array, &wanted), CUDA_SUCCESS);
  fill(array, 5, 3, 4);
  const CUtexObject all = texture(of(array));
  CUDA_RESOURCE_VIEW_DESC view{};
  view.width = 5;
  view.height = 3;
  view.depth = 4;
  view.firstLayer = 1;
  view.lastLayer = 2;
  const CUtexObject some = texture(of(array), {}, &view);
  for (unsigned number = 0; number < 4; ++number) {
    EXPECT_EQ(read("layer", all, 4.5f, 2.5f, number), value_at(4, 2, number));
  }
  EXPECT_EQ(read("layer", some, 1.5f, 0.5f, 0u), value_at(1, 0, 1));
  EXPECT_EQ(read("layer", some, 1.5f, 0.5f, 1u), value_at(1, 0, 2));
  EXPECT_EQ(read("layer", some, 1.5f, 0.5f, 3u), value_at(1, 0, 2)) << "last";
  EXPECT_EQ(cuTexObjectDestroy(all), CUDA_SUCCESS);
  EXPECT_EQ(cuTexObjectDestroy(some), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
}

TEST_F(TextureKernels, ReadLevelsOfViews) {
  const CUDA_ARRAY3D_DESCRIPTOR wanted = {8, 4, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&array, &wanted, 3), CUDA_SUCCESS);
  for (unsigned number = 0; number < 3; ++number) {
    CUarray level = nullptr;
    ASSERT_EQ(cuMipmappedArrayGetLevel(&level, array, number), CUDA_SUCCESS);
    fill(level, 8 >> number, 4 >> number, 1);
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = array;
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  how.maxMipmapLevelClamp = 9;
  const CUtexObject all = texture(resource, how);
  CUDA_RESOURCE_VIEW_DESC view{};
  view.width = 8;
  view.height = 4;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  const CUtexObject some = texture(resource, how, &view);
  // The last element of each level.
  EXPECT_EQ(read("level", all, 0.99f, 0.99f, 0.0f), value_at(7, 3));
  EXPECT_EQ(read("level", all, 0.99f, 0.99f, 1.0f), value_at(3, 1));
  EXPECT_EQ(read("level", all, 0.99f, 0.99f, 2.0f), value_at(1, 0));
  EXPECT_EQ(read("level", some, 0.99f, 0.99f, 0.0f), value_at(3, 1));
  EXPECT_EQ(read("level", some, 0.99f, 0.99f, 1.0f), value_at(1, 0));
  EXPECT_EQ(cuTexObjectDestroy(all), CUDA_SUCCESS);
  EXPECT_EQ(cuTexObjectDestroy(some), CUDA_SUCCESS);
  EXPECT_EQ(cuMipmappedArrayDestroy(array), CUDA_SUCCESS);
}

TEST_F(TextureKernels, ReadMemory) {
  std::vector<float> values(64);
  for (unsigned i = 0; i < 64; ++i) {
    values[i] = value_at(i, 0);
  }
  const Array<float> memory(values);
  CUDA_RESOURCE_DESC line{};
  line.resType = CU_RESOURCE_TYPE_LINEAR;
  line.res.linear = {memory.address(), CU_AD_FORMAT_FLOAT, 1, 256};
  const CUtexObject by_number = texture(line);
  EXPECT_EQ(read("line", by_number, 63u), 63);
  EXPECT_EQ(read("line", by_number, 64u), 0) << "behind its end";
  CUDA_RESOURCE_DESC plane{};
  plane.resType = CU_RESOURCE_TYPE_PITCH2D;
  plane.res.pitch2D = {memory.address(), CU_AD_FORMAT_FLOAT, 1, 6, 4, 64};
  const CUtexObject by_place = texture(plane);
  EXPECT_EQ(read("plane", by_place, 5.5f, 3.5f), 3 * 16 + 5);
  EXPECT_EQ(read("plane", by_place, 6.5f, 1.5f), 16 + 5) << "not the gap";
  EXPECT_EQ(cuTexObjectDestroy(by_number), CUDA_SUCCESS);
  EXPECT_EQ(cuTexObjectDestroy(by_place), CUDA_SUCCESS);
}

// By a level of an array, which a texture object reads.
TEST_F(TextureKernels, WriteByASurface) {
  const CUDA_ARRAY3D_DESCRIPTOR wanted = {
      6, 4, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUmipmappedArray array = nullptr;
  CUarray level = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&array, &wanted, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMipmappedArrayGetLevel(&level, array, 1), CUDA_SUCCESS);
  fill(level, 3, 2, 1);
  const auto resource = of(level);
  CUsurfObject surface = 0;
  ASSERT_EQ(cuSurfObjectCreate(&surface, &resource), CUDA_SUCCESS);
  const CUtexObject object = texture(resource);
  constexpr std::uint32_t kFive = 0x40a00000; // 5.0f
  launch("write", surface, 2 * 4, 1, kFive); // x in bytes
  EXPECT_EQ(read("plane", object, 2.5f, 1.5f), 5);
  EXPECT_EQ(read("plane", object, 1.5f, 1.5f), value_at(1, 1));
  EXPECT_EQ(cuTexObjectDestroy(object), CUDA_SUCCESS);
  EXPECT_EQ(cuSurfObjectDestroy(surface), CUDA_SUCCESS);
  EXPECT_EQ(cuMipmappedArrayDestroy(array), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing

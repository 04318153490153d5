// Texture and surface objects: which there can be, and what they say of
// themselves. What kernels read by them, the simulated GPU's tests check.
// Source of statuses: CUDA runtime API, texture object management.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/api/cudart/testing/arrays.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

constexpr cudaChannelFormatDesc kFloat =
    {32, 0, 0, 0, cudaChannelFormatKindFloat};
constexpr cudaChannelFormatDesc kByte =
    {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
constexpr cudaChannelFormatDesc kWord =
    {32, 0, 0, 0, cudaChannelFormatKindUnsigned};

cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaResourceDesc of(cudaMipmappedArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array;
  return resource;
}

cudaResourceDesc of(
    void* memory,
    std::size_t bytes,
    const cudaChannelFormatDesc& format = kFloat) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = format;
  resource.res.linear.sizeInBytes = bytes;
  return resource;
}

cudaResourceDesc of(
    void* memory,
    std::size_t width,
    std::size_t height,
    std::size_t pitch) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = kFloat;
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return resource;
}

cudaResourceViewDesc view_of(
    const Geometry& geometry,
    cudaResourceViewFormat format = cudaResViewFormatNone) {
  cudaResourceViewDesc view{};
  view.format = format;
  view.width = geometry.extent.width;
  view.height = geometry.extent.height;
  view.depth = geometry.extent.depth;
  return view;
}

/// Whether there can be such a texture; it ends at once.
cudaError_t make(
    const cudaResourceDesc& resource,
    const cudaTextureDesc& texture = {},
    const cudaResourceViewDesc* view = nullptr) {
  cudaTextureObject_t object = 0;
  const cudaError_t status =
      cudaCreateTextureObject(&object, &resource, &texture, view);
  if (status == cudaSuccess) {
    // cuda-core keeps it as a signed number.
    EXPECT_GT(static_cast<std::int64_t>(object), 0);
    EXPECT_OK(cudaDestroyTextureObject(object));
  }
  return status;
}

/// Whether there can be such a surface; it ends at once.
cudaError_t make_surface(const cudaResourceDesc& resource) {
  cudaSurfaceObject_t object = 0;
  const cudaError_t status = cudaCreateSurfaceObject(&object, &resource);
  if (status == cudaSuccess) {
    EXPECT_NE(object, 0u);
    EXPECT_OK(cudaDestroySurfaceObject(object));
  }
  return status;
}

class Textures : public Runtime {
 protected:
  Textures() {
    EXPECT_OK(cudaMalloc(&memory, 1 << 16));
  }
  ~Textures() override {
    EXPECT_OK(cudaFree(memory));
  }
  char* at(std::size_t byte) const {
    return static_cast<char*>(memory) + byte;
  }

  void* memory = nullptr;
};

TEST_F(Textures, AreMadeOfEveryArray) {
  for (const Geometry& geometry : geometries()) {
    for (const cudaChannelFormatDesc& format : formats()) {
      SCOPED_TRACE(geometry.name);
      const Array array(geometry, format);
      EXPECT_OK(make(of(array)));
      const bool writable = (geometry.flags & cudaArraySurfaceLoadStore) != 0;
      EXPECT_EQ(
          make_surface(of(array)),
          writable ? cudaSuccess : cudaErrorInvalidValue);
    }
  }
}

TEST_F(Textures, SayWhatTheyWereMadeOf) {
  const Geometry plane = {"plane", {16, 8, 0}, 0};
  const Array array(plane, kByte);
  const auto resource = of(array);
  cudaTextureDesc texture{};
  texture.addressMode[1] = cudaAddressModeMirror;
  texture.filterMode = cudaFilterModeLinear;
  texture.readMode = cudaReadModeNormalizedFloat;
  texture.borderColor[2] = 0.5f;
  texture.maxAnisotropy = 4;
  texture.maxMipmapLevelClamp = 2;
  const auto view = view_of(plane, cudaResViewFormatSignedChar1);
  cudaTextureObject_t object = 0;
  ASSERT_OK(cudaCreateTextureObject(&object, &resource, &texture, &view));
  cudaResourceDesc found_resource{};
  ASSERT_OK(cudaGetTextureObjectResourceDesc(&found_resource, object));
  EXPECT_EQ(found_resource.resType, cudaResourceTypeArray);
  EXPECT_EQ(found_resource.res.array.array, resource.res.array.array);
  cudaTextureDesc found{};
  ASSERT_OK(cudaGetTextureObjectTextureDesc(&found, object));
  EXPECT_EQ(std::memcmp(&found, &texture, sizeof(found)), 0);
  cudaResourceViewDesc found_view{};
  ASSERT_OK(cudaGetTextureObjectResourceViewDesc(&found_view, object));
  EXPECT_EQ(found_view.format, view.format);
  EXPECT_EQ(found_view.width, 16u);
  EXPECT_EQ(found_view.height, 8u);
  EXPECT_EQ(
      cudaGetTextureObjectResourceDesc(nullptr, object), cudaErrorInvalidValue);
  // It is no surface.
  EXPECT_EQ(
      cudaGetSurfaceObjectResourceDesc(&found_resource, object),
      cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaDestroySurfaceObject(object), cudaErrorInvalidResourceHandle);
  ASSERT_OK(cudaDestroyTextureObject(object));
  constexpr auto kStale = cudaErrorInvalidResourceHandle;
  EXPECT_EQ(cudaDestroyTextureObject(object), kStale);
  EXPECT_EQ(cudaGetTextureObjectTextureDesc(&found, object), kStale);
  EXPECT_EQ(cudaGetTextureObjectResourceDesc(&found_resource, object), kStale);
  EXPECT_EQ(cudaGetTextureObjectResourceViewDesc(&found_view, object), kStale);
}

TEST_F(Textures, WithoutAViewHaveNone) {
  const auto resource = of(memory, 1024);
  const cudaTextureDesc texture{};
  cudaTextureObject_t object = 0;
  ASSERT_OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  cudaResourceViewDesc view{};
  EXPECT_EQ(
      cudaGetTextureObjectResourceViewDesc(&view, object),
      cudaErrorInvalidValue);
  cudaResourceDesc found{};
  ASSERT_OK(cudaGetTextureObjectResourceDesc(&found, object));
  EXPECT_EQ(found.resType, cudaResourceTypeLinear);
  EXPECT_EQ(found.res.linear.devPtr, memory);
  EXPECT_EQ(found.res.linear.sizeInBytes, 1024u);
  EXPECT_EQ(found.res.linear.desc.f, cudaChannelFormatKindFloat);
  EXPECT_OK(cudaDestroyTextureObject(object));
}

TEST_F(Textures, SurfacesSayWhatTheyWereMadeOf) {
  const Array array({"box", {4, 4, 4}, cudaArraySurfaceLoadStore}, kFloat);
  const auto resource = of(array);
  cudaSurfaceObject_t object = 0;
  ASSERT_OK(cudaCreateSurfaceObject(&object, &resource));
  cudaResourceDesc found{};
  ASSERT_OK(cudaGetSurfaceObjectResourceDesc(&found, object));
  EXPECT_EQ(found.res.array.array, resource.res.array.array);
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaErrorInvalidResourceHandle);
  EXPECT_OK(cudaDestroySurfaceObject(object));
  EXPECT_EQ(cudaDestroySurfaceObject(object), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(
      cudaGetSurfaceObjectResourceDesc(&found, object),
      cudaErrorInvalidResourceHandle);
}

TEST_F(Textures, NeedWhatTheyAreMadeOf) {
  cudaTextureObject_t object = 0;
  const auto resource = of(memory, 1024);
  const cudaTextureDesc texture{};
  constexpr auto kBad = cudaErrorInvalidValue;
  EXPECT_EQ(
      cudaCreateTextureObject(nullptr, &resource, &texture, nullptr), kBad);
  EXPECT_EQ(cudaCreateTextureObject(&object, nullptr, &texture, nullptr), kBad);
  EXPECT_EQ(
      cudaCreateTextureObject(&object, &resource, nullptr, nullptr), kBad);
  EXPECT_EQ(cudaCreateSurfaceObject(&object, nullptr), kBad);
  EXPECT_EQ(make(of(cudaArray_t{nullptr})), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(
      make(of(cudaMipmappedArray_t{nullptr})), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(make_surface(resource), kBad);
  auto unknown = resource;
  unknown.resType = static_cast<cudaResourceType>(7);
  EXPECT_EQ(make(unknown), kBad);
}

TEST_F(Textures, OfMemoryNeedItsAlignmentAndItsEnd) {
  constexpr auto kBad = cudaErrorInvalidValue;
  EXPECT_OK(make(of(memory, 1 << 16)));
  EXPECT_OK(make(of(at(512), (1 << 16) - 512)));
  EXPECT_EQ(make(of(memory, (1 << 16) + 4)), kBad);
  EXPECT_EQ(make(of(at(256), 1024)), kBad);
  EXPECT_EQ(make(of(memory, 0)), kBad);
  EXPECT_EQ(make(of(memory, 3)), kBad); // no element
  std::vector<float> host(1024);
  EXPECT_EQ(make(of(host.data(), 64)), kBad);
  EXPECT_EQ(make(of(nullptr, 64)), kBad);
  EXPECT_OK(make(of(memory, 30, 16, 128)));
  EXPECT_EQ(make(of(memory, 33, 16, 128)), kBad); // longer than the pitch
  EXPECT_EQ(make(of(memory, 30, 16, 130)), kBad);
  EXPECT_EQ(make(of(at(32), 30, 16, 128)), kBad);
  EXPECT_EQ(make(of(memory, 30, 513, 128)), kBad);
  // Of the last row only the elements are there.
  EXPECT_OK(make(of(at(512), 32, 508, 128)));
  EXPECT_EQ(make(of(at(512), 32, 509, 128)), kBad);
  EXPECT_EQ(make(of(memory, 0, 16, 128)), kBad);
  EXPECT_EQ(make(of(memory, 30, 0, 128)), kBad);
  EXPECT_EQ(
      make(of(memory, 64, {8, 8, 8, 0, cudaChannelFormatKindUnsigned})),
      cudaErrorInvalidChannelDescriptor);
}

TEST_F(Textures, OfWholeNumbersAreFilteredAsFractionsOnly) {
  const Geometry plane = {"plane", {8, 8, 0}, 0};
  const Array bytes(plane, kByte);
  const Array words(plane, kWord);
  const Array floats(plane, kFloat);
  cudaTextureDesc texture{};
  texture.filterMode = cudaFilterModeLinear;
  EXPECT_EQ(make(of(bytes), texture), cudaErrorInvalidFilterSetting);
  EXPECT_EQ(make(of(words), texture), cudaErrorInvalidFilterSetting);
  EXPECT_OK(make(of(floats), texture));
  texture.readMode = cudaReadModeNormalizedFloat;
  EXPECT_OK(make(of(bytes), texture));
  EXPECT_OK(make(of(floats), texture));
  // 32 bits stay whole.
  EXPECT_EQ(make(of(words), texture), cudaErrorInvalidFilterSetting);
  texture.filterMode = cudaFilterModePoint;
  EXPECT_OK(make(of(words), texture));
  // Of memory without rows the filter is not looked at.
  texture.filterMode = cudaFilterModeLinear;
  EXPECT_OK(make(of(memory, 1024, kWord), texture));
}

TEST_F(Textures, NeedModesThatThereAre) {
  const Array array({"plane", {8, 8, 0}, 0}, kFloat);
  constexpr auto kBad = cudaErrorInvalidValue;
  cudaTextureDesc texture{};
  texture.addressMode[1] = static_cast<cudaTextureAddressMode>(4);
  EXPECT_EQ(make(of(array), texture), kBad);
  texture = {};
  texture.filterMode = static_cast<cudaTextureFilterMode>(2);
  EXPECT_EQ(make(of(array), texture), kBad);
  texture = {};
  texture.readMode = static_cast<cudaTextureReadMode>(2);
  EXPECT_EQ(make(of(array), texture), kBad);
  texture = {};
  texture.seamlessCubemap = 1;
  EXPECT_EQ(make(of(array), texture), kBad);
  const Array cube({"cubemap", {8, 8, 6}, cudaArrayCubemap}, kFloat);
  EXPECT_OK(make(of(cube), texture));
}

TEST_F(Textures, OfLevelsNeedNormalizedCoordinates) {
  cudaMipmappedArray_t levels = nullptr;
  ASSERT_OK(cudaMallocMipmappedArray(
      &levels, &kFloat, {16, 8, 0}, 5, cudaArraySurfaceLoadStore));
  cudaTextureDesc texture{};
  EXPECT_EQ(make(of(levels), texture), cudaErrorInvalidValue);
  texture.normalizedCoords = 1;
  EXPECT_OK(make(of(levels), texture));
  const Geometry plane = {"plane", {16, 8, 0}, 0};
  auto view = view_of(plane);
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 4;
  EXPECT_OK(make(of(levels), texture, &view));
  view.lastMipmapLevel = 5;
  EXPECT_EQ(make(of(levels), texture, &view), cudaErrorInvalidValue);
  view.lastMipmapLevel = 0;
  EXPECT_EQ(make(of(levels), texture, &view), cudaErrorInvalidValue);
  // A level is an array like others.
  cudaArray_t level = nullptr;
  ASSERT_OK(cudaGetMipmappedArrayLevel(&level, levels, 1));
  EXPECT_OK(make(of(level)));
  EXPECT_OK(make_surface(of(level)));
  EXPECT_EQ(make_surface(of(levels)), cudaErrorInvalidValue);
  EXPECT_OK(cudaFreeMipmappedArray(levels));
  EXPECT_EQ(make(of(level)), cudaErrorInvalidResourceHandle);
}

TEST_F(Textures, ViewsAreOfTheSameSize) {
  const Geometry layers = {"layers", {8, 4, 5}, cudaArrayLayered};
  const Array array(layers, {16, 16, 0, 0, cudaChannelFormatKindFloat});
  const auto with = [&](const cudaResourceViewDesc& view) {
    return make(of(array), {}, &view);
  };
  auto view = view_of(layers);
  EXPECT_OK(with(view));
  view.firstLayer = 2;
  view.lastLayer = 4;
  EXPECT_OK(with(view));
  view.lastLayer = 5;
  EXPECT_EQ(with(view), cudaErrorInvalidValue);
  view.lastLayer = 1;
  EXPECT_EQ(with(view), cudaErrorInvalidValue);
  EXPECT_OK(with(view_of(layers, cudaResViewFormatUnsignedInt1)));
  EXPECT_EQ(
      with(view_of(layers, cudaResViewFormatUnsignedInt2)),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      with(view_of(layers, cudaResViewFormatUnsignedBlockCompressed1)),
      cudaErrorNotSupported);
  EXPECT_EQ(
      with(view_of(layers, static_cast<cudaResourceViewFormat>(0x23))),
      cudaErrorInvalidValue);
  view = view_of(layers);
  view.width = 7;
  EXPECT_EQ(with(view), cudaErrorInvalidValue);
  // Memory is seen as a whole.
  view = {};
  view.width = 16;
  EXPECT_EQ(make(of(memory, 64), {}, &view), cudaErrorInvalidValue);
}

TEST_F(Textures, BelongToTheirDevice) {
  const Array array({"line", {8, 0, 0}, 0}, kFloat);
  const auto resource = of(array);
  const cudaTextureDesc texture{};
  cudaTextureObject_t object = 0;
  ASSERT_OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  ASSERT_OK(cudaSetDevice(1));
  EXPECT_EQ(make(of(array)), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(make(of(memory, 64)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaErrorInvalidResourceHandle);
  ASSERT_OK(cudaSetDevice(0));
  EXPECT_OK(cudaDestroyTextureObject(object));
}

TEST(TexturesOfADevice, EndWithItsReset) {
  ASSERT_OK(cudaSetDevice(1));
  void* memory = nullptr;
  ASSERT_OK(cudaMalloc(&memory, 1024));
  const auto resource = of(memory, 1024);
  const cudaTextureDesc texture{};
  cudaTextureObject_t object = 0;
  ASSERT_OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  ASSERT_OK(cudaDeviceReset());
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaErrorInvalidResourceHandle);
  ASSERT_OK(cudaSetDevice(0));
  cudaGetLastError();
}

} // namespace
} // namespace accelerator::cudart::testing

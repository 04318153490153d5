// CUDA arrays: which there can be, what they say of themselves, how they end.
// Source of statuses: CUDA runtime API, memory management.
#include <cstddef>
#include <vector>

#include "runtime/api/cudart/testing/arrays.h"
#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

constexpr cudaChannelFormatDesc kFloat =
    {32, 0, 0, 0, cudaChannelFormatKindFloat};

cudaError_t make(
    const cudaChannelFormatDesc& format,
    cudaExtent extent,
    unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaError_t status = cudaMalloc3DArray(&array, &format, extent, flags);
  EXPECT_EQ(array != nullptr, status == cudaSuccess);
  EXPECT_OK(cudaFreeArray(array));
  return status;
}

cudaError_t make(cudaExtent extent, unsigned flags = 0) {
  return make(kFloat, extent, flags);
}

bool same(const cudaChannelFormatDesc& a, const cudaChannelFormatDesc& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w && a.f == b.f;
}

using Arrays = Runtime;

TEST_F(Arrays, SayWhatTheyAre) {
  for (const Geometry& geometry : geometries()) {
    for (const cudaChannelFormatDesc& format : formats()) {
      SCOPED_TRACE(geometry.name);
      const Array array(geometry, format);
      cudaChannelFormatDesc found{};
      cudaExtent extent{};
      unsigned flags = 99;
      ASSERT_OK(cudaArrayGetInfo(&found, &extent, &flags, array));
      EXPECT_TRUE(same(found, format));
      EXPECT_EQ(extent.width, geometry.extent.width);
      EXPECT_EQ(extent.height, geometry.extent.height);
      EXPECT_EQ(extent.depth, geometry.extent.depth);
      EXPECT_EQ(flags, geometry.flags);
      EXPECT_OK(cudaArrayGetInfo(nullptr, nullptr, nullptr, array));
      found = {};
      ASSERT_OK(cudaGetChannelDesc(&found, array));
      EXPECT_TRUE(same(found, format));
    }
  }
}

TEST_F(Arrays, OfOneAndTwoDimensionsHaveAFunctionOfTheirOwn) {
  cudaArray_t line = nullptr;
  cudaArray_t plane = nullptr;
  ASSERT_OK(cudaMallocArray(&line, &kFloat, 20, 0, 0));
  ASSERT_OK(cudaMallocArray(&plane, &kFloat, 20, 3, cudaArraySurfaceLoadStore));
  cudaExtent extent{};
  unsigned flags = 99;
  ASSERT_OK(cudaArrayGetInfo(nullptr, &extent, &flags, line));
  EXPECT_EQ(extent.width, 20u);
  EXPECT_EQ(extent.height, 0u);
  EXPECT_EQ(extent.depth, 0u);
  EXPECT_EQ(flags, 0u);
  ASSERT_OK(cudaArrayGetInfo(nullptr, &extent, &flags, plane));
  EXPECT_EQ(extent.height, 3u);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaArraySurfaceLoadStore));
  EXPECT_OK(cudaFreeArray(line));
  EXPECT_OK(cudaFreeArray(plane));
  EXPECT_EQ(
      cudaMallocArray(&plane, &kFloat, 20, 3, cudaArrayLayered),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(nullptr, &kFloat, 20, 3, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocArray(&plane, nullptr, 20, 3, 0), cudaErrorInvalidValue);
}

TEST_F(Arrays, NeedSizesThatGoWithTheirFlags) {
  EXPECT_EQ(make({0, 0, 0}), cudaErrorInvalidValue);
  EXPECT_EQ(make({0, 4, 0}), cudaErrorInvalidValue);
  EXPECT_EQ(make({4, 0, 4}), cudaErrorInvalidValue); // a line has no depth
  EXPECT_EQ(make({4, 4, 0}, cudaArrayLayered), cudaErrorInvalidValue);
  EXPECT_EQ(make({4, 4, 5}, cudaArrayCubemap), cudaErrorInvalidValue);
  EXPECT_EQ(make({4, 3, 6}, cudaArrayCubemap), cudaErrorInvalidValue);
  EXPECT_EQ(make({4, 4, 12}, cudaArrayCubemap), cudaErrorInvalidValue);
  EXPECT_EQ(make({4, 4, 0}, cudaArrayCubemap), cudaErrorInvalidValue);
  constexpr unsigned kCubes = cudaArrayCubemap | cudaArrayLayered;
  EXPECT_OK(make({4, 4, 12}, kCubes));
  EXPECT_EQ(make({4, 4, 13}, kCubes), cudaErrorInvalidValue);
  // Only planes are gathered.
  EXPECT_EQ(make({4, 0, 0}, cudaArrayTextureGather), cudaErrorInvalidValue);
  EXPECT_EQ(make({4, 4, 4}, cudaArrayTextureGather), cudaErrorInvalidValue);
  EXPECT_EQ(make({4, 4, 0}, 0x1000), cudaErrorInvalidValue);
  EXPECT_EQ(make({4, 4, 0}, cudaArraySparse), cudaErrorNotSupported);
  EXPECT_EQ(make({4, 4, 0}, cudaArrayDeferredMapping), cudaErrorNotSupported);
  EXPECT_EQ(make({4, 4, 0}, cudaArrayColorAttachment), cudaErrorNotSupported);
}

int attribute(cudaDeviceAttr which) {
  int value = -1;
  EXPECT_OK(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

// A size at its limit is not tried where it would take much memory.
TEST_F(Arrays, AreAsLargeAsTheDeviceSays) {
  const auto size = [](cudaDeviceAttr which, int more = 0) {
    return static_cast<std::size_t>(attribute(which) + more);
  };
  EXPECT_OK(make({size(cudaDevAttrMaxTexture1DWidth), 0, 0}));
  EXPECT_EQ(
      make({size(cudaDevAttrMaxTexture1DWidth, 1), 0, 0}),
      cudaErrorInvalidValue);
  EXPECT_OK(make({size(cudaDevAttrMaxTexture2DWidth), 1, 0}));
  EXPECT_EQ(
      make({size(cudaDevAttrMaxTexture2DWidth, 1), 1, 0}),
      cudaErrorInvalidValue);
  EXPECT_OK(make({1, size(cudaDevAttrMaxTexture2DHeight), 0}));
  EXPECT_EQ(
      make({1, size(cudaDevAttrMaxTexture2DHeight, 1), 0}),
      cudaErrorInvalidValue);
  // Deeper than usual, but not as high.
  EXPECT_OK(make({1, 1, size(cudaDevAttrMaxTexture3DDepthAlt)}));
  EXPECT_EQ(
      make({1, 1, size(cudaDevAttrMaxTexture3DDepthAlt, 1)}),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      make(
          {1,
           size(cudaDevAttrMaxTexture3DHeightAlt, 1),
           size(cudaDevAttrMaxTexture3DDepthAlt)}),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      make(
          {1, 0, size(cudaDevAttrMaxTexture1DLayeredLayers, 1)},
          cudaArrayLayered),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      make(
          {size(cudaDevAttrMaxTexture2DLayeredWidth, 1), 1, 1},
          cudaArrayLayered),
      cudaErrorInvalidValue);
  const std::size_t edge = size(cudaDevAttrMaxTextureCubemapWidth, 1);
  EXPECT_EQ(make({edge, edge, 6}, cudaArrayCubemap), cudaErrorInvalidValue);
  // What is written by coordinates may be smaller.
  const std::size_t line = size(cudaDevAttrMaxSurface1DWidth);
  EXPECT_LT(line, size(cudaDevAttrMaxTexture1DWidth));
  EXPECT_OK(make({line, 0, 0}, cudaArraySurfaceLoadStore));
  EXPECT_EQ(
      make({line + 1, 0, 0}, cudaArraySurfaceLoadStore), cudaErrorInvalidValue);
  const std::size_t gathered = size(cudaDevAttrMaxTexture2DGatherWidth, 1);
  EXPECT_OK(make({gathered, 1, 0}));
  EXPECT_EQ(
      make({gathered, 1, 0}, cudaArrayTextureGather), cudaErrorInvalidValue);
}

// Source: CUDA C++ programming guide, technical specifications.
TEST_F(Arrays, LimitsAreThoseOfTheComputeCapability) {
  cudaDeviceProp p{};
  ASSERT_OK(cudaGetDeviceProperties(&p, 0));
  EXPECT_EQ(p.maxTexture1D, 131072);
  EXPECT_EQ(p.maxTexture2D[0], 131072);
  EXPECT_EQ(p.maxTexture2D[1], 65536);
  EXPECT_EQ(p.maxTexture2DLinear[0], 131072);
  EXPECT_EQ(p.maxTexture2DLinear[1], 65000);
  EXPECT_EQ(p.maxTexture2DGather[1], 32768);
  EXPECT_EQ(p.maxTexture3D[2], 16384);
  EXPECT_EQ(p.maxTextureCubemap, 32768);
  EXPECT_EQ(p.maxTexture1DLayered[0], 32768);
  EXPECT_EQ(p.maxTexture1DLayered[1], 2048);
  EXPECT_EQ(p.maxTexture2DLayered[1], 32768);
  EXPECT_EQ(p.maxTexture2DLayered[2], 2048);
  EXPECT_EQ(p.maxTextureCubemapLayered[1], 2046);
  EXPECT_EQ(p.maxSurface1D, 32768);
  EXPECT_EQ(p.maxSurface2D[1], 65536);
  EXPECT_EQ(p.maxSurface2DLayered[2], 2048);
  EXPECT_EQ(p.maxSurfaceCubemapLayered[0], 32768);
  EXPECT_EQ(attribute(cudaDevAttrMaxTexture2DLinearPitch), 2097120);
  EXPECT_EQ(attribute(cudaDevAttrMaxTexture1DLinearWidth), 1 << 28);
  EXPECT_EQ(attribute(cudaDevAttrMaxSurface1DLayeredLayers), 2048);
  EXPECT_EQ(attribute(cudaDevAttrTextureAlignment), 512);
  std::size_t elements = 0;
  EXPECT_OK(cudaDeviceGetTexture1DLinearMaxWidth(&elements, &kFloat, 0));
  EXPECT_EQ(elements, std::size_t{1} << 28);
  EXPECT_EQ(
      cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &kFloat, 0),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaDeviceGetTexture1DLinearMaxWidth(&elements, nullptr, 0),
      cudaErrorInvalidValue);
}

TEST_F(Arrays, NeedAFormatOfOneTwoOrFourEqualChannels) {
  const auto with = [](cudaChannelFormatDesc format) {
    return make(format, {4, 0, 0}, 0);
  };
  constexpr auto kUnsigned = cudaChannelFormatKindUnsigned;
  constexpr auto kBad = cudaErrorInvalidChannelDescriptor;
  EXPECT_EQ(with({8, 8, 8, 0, kUnsigned}), kBad);
  EXPECT_EQ(with({8, 16, 0, 0, kUnsigned}), kBad);
  EXPECT_EQ(with({0, 8, 0, 0, kUnsigned}), kBad);
  EXPECT_EQ(with({8, 0, 8, 0, kUnsigned}), kBad);
  EXPECT_EQ(with({0, 0, 0, 0, kUnsigned}), kBad);
  EXPECT_EQ(with({64, 0, 0, 0, kUnsigned}), kBad);
  EXPECT_EQ(with({-8, 0, 0, 0, kUnsigned}), kBad);
  EXPECT_EQ(with({8, 0, 0, 0, cudaChannelFormatKindFloat}), kBad);
  EXPECT_EQ(with({8, 0, 0, 0, cudaChannelFormatKindNone}), kBad);
  EXPECT_EQ(
      with({16, 16, 0, 0, cudaChannelFormatKindUnsignedNormalized8X2}), kBad);
  EXPECT_OK(with({16, 16, 0, 0, cudaChannelFormatKindSignedNormalized16X2}));
  EXPECT_EQ(
      with({8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1}),
      cudaErrorNotSupported);
  EXPECT_EQ(
      with({8, 8, 8, 0, cudaChannelFormatKindNV12}), cudaErrorNotSupported);
}

std::size_t available() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_OK(cudaMemGetInfo(&free, &total));
  return free;
}

TEST_F(Arrays, CountAsMemory) {
  const std::size_t before = available();
  {
    const Array array({"box", {1024, 64, 16}, 0}, {32, 32, 32, 32, kFloat.f});
    EXPECT_LE(available() + array.bytes(), before);
  }
  EXPECT_EQ(available(), before);
  cudaMipmappedArray_t levels = nullptr;
  ASSERT_OK(cudaMallocMipmappedArray(&levels, &kFloat, {1024, 1024, 0}, 11, 0));
  EXPECT_LE(available() + 4 * 1024 * 1024 * 4 / 3, before);
  EXPECT_OK(cudaFreeMipmappedArray(levels));
  EXPECT_EQ(available(), before);
}

TEST_F(Arrays, ThatDoNotFitAreRefused) {
  // 16384^3 elements of 16 bytes.
  EXPECT_EQ(
      make({32, 32, 32, 32, kFloat.f}, {16384, 16384, 16384}, 0),
      cudaErrorMemoryAllocation);
}

TEST_F(Arrays, AreFreedOnce) {
  cudaArray_t array = nullptr;
  ASSERT_OK(cudaMallocArray(&array, &kFloat, 4, 0, 0));
  ASSERT_OK(cudaFreeArray(array));
  EXPECT_EQ(cudaFreeArray(array), cudaErrorInvalidResourceHandle);
  cudaExtent extent{};
  EXPECT_EQ(
      cudaArrayGetInfo(nullptr, &extent, nullptr, array),
      cudaErrorInvalidResourceHandle);
  int not_an_array = 0;
  EXPECT_EQ(
      cudaFreeArray(reinterpret_cast<cudaArray_t>(&not_an_array)),
      cudaErrorInvalidResourceHandle);
  EXPECT_OK(cudaFreeArray(nullptr));
  EXPECT_OK(cudaFreeMipmappedArray(nullptr));
}

TEST_F(Arrays, AreFreedWhenWorkBeforeIsDone) {
  const OwnStream stream;
  Gate gate;
  Pinned from(16, 7);
  cudaArray_t array = nullptr;
  ASSERT_OK(cudaMallocArray(&array, &kFloat, 16, 0, 0));
  Pinned to(16, 0);
  ASSERT_OK(cudaMemcpy2DToArrayAsync(
      array, 0, 0, from.data(), 64, 64, 1, cudaMemcpyDefault, stream));
  ASSERT_OK(cudaMemcpy2DFromArrayAsync(
      to.data(), 64, array, 0, 0, 64, 1, cudaMemcpyDefault, stream));
  ASSERT_OK(cudaFreeArray(array));
  EXPECT_EQ(to.get(), from.get());
}

TEST_F(Arrays, WithLevelsHalveTheirSizes) {
  struct Case {
    cudaExtent extent;
    unsigned flags;
    unsigned wanted;
    std::vector<cudaExtent> levels;
  };
  const std::vector<Case> cases = {
      {{20, 0, 0}, 0, 3, {{20, 0, 0}, {10, 0, 0}, {5, 0, 0}}},
      // No more than there are: 1 + floor(log2(5)).
      {{5, 3, 0}, 0, 20, {{5, 3, 0}, {2, 1, 0}, {1, 1, 0}}},
      {{4, 2, 8}, 0, 4, {{4, 2, 8}, {2, 1, 4}, {1, 1, 2}, {1, 1, 1}}},
      // Layers stay.
      {{4, 4, 3}, cudaArrayLayered, 9, {{4, 4, 3}, {2, 2, 3}, {1, 1, 3}}},
      {{4, 4, 6}, cudaArrayCubemap, 2, {{4, 4, 6}, {2, 2, 6}}},
      {{4, 4, 0}, 0, 0, {{4, 4, 0}}}};
  for (const Case& c : cases) {
    cudaMipmappedArray_t array = nullptr;
    ASSERT_OK(
        cudaMallocMipmappedArray(&array, &kFloat, c.extent, c.wanted, c.flags));
    cudaArray_t level = nullptr;
    for (unsigned i = 0; i < c.levels.size(); ++i) {
      ASSERT_OK(cudaGetMipmappedArrayLevel(&level, array, i));
      cudaExtent extent{};
      unsigned flags = 99;
      ASSERT_OK(cudaArrayGetInfo(nullptr, &extent, &flags, level));
      EXPECT_EQ(extent.width, c.levels[i].width);
      EXPECT_EQ(extent.height, c.levels[i].height);
      EXPECT_EQ(extent.depth, c.levels[i].depth);
      EXPECT_EQ(flags, c.flags);
    }
    cudaArray_t none = nullptr;
    EXPECT_EQ(
        cudaGetMipmappedArrayLevel(
            &none, array, static_cast<unsigned>(c.levels.size())),
        cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeArray(level), cudaErrorInvalidValue);
    ASSERT_OK(cudaFreeMipmappedArray(array));
    EXPECT_EQ(
        cudaArrayGetInfo(nullptr, nullptr, nullptr, level),
        cudaErrorInvalidResourceHandle);
    EXPECT_EQ(cudaFreeMipmappedArray(array), cudaErrorInvalidResourceHandle);
    EXPECT_EQ(
        cudaGetMipmappedArrayLevel(&none, array, 0),
        cudaErrorInvalidResourceHandle);
  }
}

TEST_F(Arrays, HaveNeitherPlanesNorTilesNorMappings) {
  const Array array({"plane", {8, 8, 0}, 0}, kFloat);
  cudaMipmappedArray_t levels = nullptr;
  ASSERT_OK(cudaMallocMipmappedArray(&levels, &kFloat, {8, 8, 0}, 2, 0));
  cudaArray_t plane = nullptr;
  cudaArraySparseProperties tiles{};
  cudaArrayMemoryRequirements needs{};
  constexpr auto kNone = cudaErrorInvalidValue;
  EXPECT_EQ(cudaArrayGetPlane(&plane, array, 0), kNone);
  EXPECT_EQ(cudaArrayGetSparseProperties(&tiles, array), kNone);
  EXPECT_EQ(cudaMipmappedArrayGetSparseProperties(&tiles, levels), kNone);
  EXPECT_EQ(cudaArrayGetMemoryRequirements(&needs, array, 0), kNone);
  EXPECT_EQ(cudaMipmappedArrayGetMemoryRequirements(&needs, levels, 0), kNone);
  EXPECT_OK(cudaFreeMipmappedArray(levels));
  constexpr auto kStale = cudaErrorInvalidResourceHandle;
  EXPECT_EQ(cudaArrayGetPlane(&plane, nullptr, 0), kStale);
  EXPECT_EQ(cudaArrayGetSparseProperties(&tiles, nullptr), kStale);
  EXPECT_EQ(cudaMipmappedArrayGetSparseProperties(&tiles, levels), kStale);
  EXPECT_EQ(cudaArrayGetMemoryRequirements(&needs, nullptr, 0), kStale);
  EXPECT_EQ(cudaMipmappedArrayGetMemoryRequirements(&needs, levels, 0), kStale);
}

TEST_F(Arrays, EndWithAResetOfTheirDevice) {
  cudaArray_t first = nullptr;
  cudaArray_t second = nullptr;
  cudaMipmappedArray_t levels = nullptr;
  ASSERT_OK(cudaMallocMipmappedArray(&levels, &kFloat, {8, 8, 0}, 2, 0));
  ASSERT_OK(cudaMallocArray(&first, &kFloat, 4, 0, 0));
  ASSERT_OK(cudaSetDevice(1));
  ASSERT_OK(cudaMallocArray(&second, &kFloat, 4, 0, 0));
  ASSERT_OK(cudaSetDevice(0));
  ASSERT_OK(cudaDeviceReset());
  EXPECT_EQ(cudaFreeArray(first), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFreeMipmappedArray(levels), cudaErrorInvalidResourceHandle);
  EXPECT_OK(cudaFreeArray(second));
  ASSERT_OK(cudaMallocArray(&first, &kFloat, 4, 0, 0));
  EXPECT_OK(cudaFreeArray(first));
}

TEST_F(Arrays, CannotBeMadeInACapture) {
  const OwnStream stream;
  const Array array({"line", {8, 0, 0}, 0}, kFloat);
  ASSERT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaArray_t made = nullptr;
  EXPECT_EQ(
      cudaMallocArray(&made, &kFloat, 4, 0, 0),
      cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(
      cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

} // namespace
} // namespace accelerator::cudart::testing

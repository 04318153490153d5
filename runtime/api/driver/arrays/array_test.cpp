// CUDA arrays of the driver: which there can be, copies from and to them, and
// what they are to the runtime's names. The runtime's tests have the sizes and
// the boxes: both are one core.
// Source of statuses: CUDA driver API, memory management.
#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using CudaArrays = ContextTest;

CUDA_ARRAY3D_DESCRIPTOR described(
    std::size_t width,
    std::size_t height,
    std::size_t depth,
    CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT16,
    unsigned channels = 2,
    unsigned flags = 0) {
  return {width, height, depth, format, channels, flags};
}

/// An array that ends with the test.
class OwnArray {
 public:
  explicit OwnArray(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    EXPECT_EQ(cuArray3DCreate(&handle_, &descriptor), CUDA_SUCCESS);
  }
  ~OwnArray() {
    EXPECT_EQ(cuArrayDestroy(handle_), CUDA_SUCCESS);
  }
  OwnArray(const OwnArray&) = delete;
  OwnArray& operator=(const OwnArray&) = delete;
  operator CUarray() const {
    return handle_;
  }

 private:
  CUarray handle_ = nullptr;
};

Bytes counting(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

TEST_F(CudaArrays, SayWhatTheyAre) {
  const auto wanted =
      described(8, 6, 4, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_SURFACE_LDST);
  const OwnArray array(wanted);
  CUDA_ARRAY3D_DESCRIPTOR found{};
  ASSERT_EQ(cuArray3DGetDescriptor(&found, array), CUDA_SUCCESS);
  EXPECT_EQ(found.Width, wanted.Width);
  EXPECT_EQ(found.Height, wanted.Height);
  EXPECT_EQ(found.Depth, wanted.Depth);
  EXPECT_EQ(found.Format, wanted.Format);
  EXPECT_EQ(found.NumChannels, wanted.NumChannels);
  EXPECT_EQ(found.Flags, wanted.Flags);
  CUDA_ARRAY_DESCRIPTOR flat{};
  ASSERT_EQ(cuArrayGetDescriptor(&flat, array), CUDA_SUCCESS);
  EXPECT_EQ(flat.Width, wanted.Width);
  EXPECT_EQ(flat.Height, wanted.Height);
  EXPECT_EQ(flat.Format, wanted.Format);
  EXPECT_EQ(flat.NumChannels, wanted.NumChannels);
}

TEST_F(CudaArrays, HaveEachFormatAsItWasGiven) {
  struct Format {
    CUarray_format format;
    unsigned channels;
  };
  for (const Format& format : std::vector<Format>{
           {CU_AD_FORMAT_UNSIGNED_INT8, 1},
           {CU_AD_FORMAT_UNSIGNED_INT16, 2},
           {CU_AD_FORMAT_UNSIGNED_INT32, 4},
           {CU_AD_FORMAT_SIGNED_INT8, 4},
           {CU_AD_FORMAT_SIGNED_INT16, 1},
           {CU_AD_FORMAT_SIGNED_INT32, 2},
           {CU_AD_FORMAT_HALF, 1},
           {CU_AD_FORMAT_FLOAT, 4},
           {CU_AD_FORMAT_UNORM_INT8X1, 1},
           {CU_AD_FORMAT_UNORM_INT8X4, 4},
           {CU_AD_FORMAT_UNORM_INT16X2, 2},
           {CU_AD_FORMAT_SNORM_INT8X2, 2},
           {CU_AD_FORMAT_SNORM_INT16X4, 4}}) {
    const OwnArray array(described(8, 0, 0, format.format, format.channels));
    CUDA_ARRAY_DESCRIPTOR found{};
    ASSERT_EQ(cuArrayGetDescriptor(&found, array), CUDA_SUCCESS);
    EXPECT_EQ(found.Format, format.format);
    EXPECT_EQ(found.NumChannels, format.channels);
  }
}

TEST_F(CudaArrays, OfOtherFormatsAreRefused) {
  CUarray array = nullptr;
  const auto make = [&](int format, unsigned channels) {
    const auto wanted =
        described(8, 8, 0, static_cast<CUarray_format>(format), channels);
    return cuArray3DCreate(&array, &wanted);
  };
  EXPECT_EQ(make(CU_AD_FORMAT_FLOAT, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(CU_AD_FORMAT_FLOAT, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(CU_AD_FORMAT_FLOAT, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(0x7f, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(CU_AD_FORMAT_UNORM_INT8X2, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(make(CU_AD_FORMAT_NV12, 3), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(make(CU_AD_FORMAT_BC7_UNORM_SRGB, 4), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(array, nullptr);
}

TEST_F(CudaArrays, OfTwoDimensionsHaveAFunctionOfTheirOwn) {
  const CUDA_ARRAY_DESCRIPTOR wanted = {20, 3, CU_AD_FORMAT_FLOAT, 1};
  CUarray array = nullptr;
  ASSERT_EQ(cuArrayCreate(&array, &wanted), CUDA_SUCCESS);
  CUDA_ARRAY3D_DESCRIPTOR found{};
  ASSERT_EQ(cuArray3DGetDescriptor(&found, array), CUDA_SUCCESS);
  EXPECT_EQ(found.Width, 20u);
  EXPECT_EQ(found.Height, 3u);
  EXPECT_EQ(found.Depth, 0u);
  EXPECT_EQ(found.Flags, 0u);
  ASSERT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
  EXPECT_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArray3DGetDescriptor(&found, array), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayGetDescriptor(nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuArrayCreate(nullptr, &wanted), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArray3DCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaArrays, HaveLevels) {
  const auto wanted = described(12, 8, 0);
  CUmipmappedArray levels = nullptr;
  ASSERT_EQ(cuMipmappedArrayCreate(&levels, &wanted, 3), CUDA_SUCCESS);
  for (unsigned number = 0; number < 3; ++number) {
    CUarray level = nullptr;
    ASSERT_EQ(cuMipmappedArrayGetLevel(&level, levels, number), CUDA_SUCCESS);
    CUDA_ARRAY3D_DESCRIPTOR found{};
    ASSERT_EQ(cuArray3DGetDescriptor(&found, level), CUDA_SUCCESS);
    EXPECT_EQ(found.Width, 12u >> number);
    EXPECT_EQ(found.Height, 8u >> number);
    EXPECT_EQ(cuArrayDestroy(level), CUDA_ERROR_INVALID_VALUE);
  }
  CUarray none = nullptr;
  EXPECT_EQ(
      cuMipmappedArrayGetLevel(&none, levels, 3), CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY_SPARSE_PROPERTIES tiles{};
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  EXPECT_EQ(
      cuMipmappedArrayGetSparseProperties(&tiles, levels),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMipmappedArrayGetMemoryRequirements(&needs, levels, 0),
      CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMipmappedArrayDestroy(levels), CUDA_SUCCESS);
  EXPECT_EQ(cuMipmappedArrayDestroy(levels), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuMipmappedArrayGetLevel(&none, levels, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuMipmappedArrayGetSparseProperties(&tiles, levels),
      CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuMipmappedArrayGetMemoryRequirements(&needs, levels, 0),
      CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuMipmappedArrayCreate(&levels, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaArrays, HaveNeitherPlanesNorTilesNorMappings) {
  const OwnArray array(described(8, 8, 0));
  CUarray plane = nullptr;
  CUDA_ARRAY_SPARSE_PROPERTIES tiles{};
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs{};
  EXPECT_EQ(cuArrayGetPlane(&plane, array, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuArrayGetSparseProperties(&tiles, array), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuArrayGetMemoryRequirements(&needs, array, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuArrayGetPlane(&plane, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuArrayGetSparseProperties(&tiles, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(
      cuArrayGetMemoryRequirements(&needs, nullptr, 0),
      CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaArrays, OfWhichLinearTexturesCanBe) {
  std::size_t elements = 0;
  EXPECT_EQ(
      cuDeviceGetTexture1DLinearMaxWidth(&elements, CU_AD_FORMAT_FLOAT, 4, 0),
      CUDA_SUCCESS);
  EXPECT_EQ(elements, std::size_t{1} << 28);
  EXPECT_EQ(
      cuDeviceGetTexture1DLinearMaxWidth(&elements, CU_AD_FORMAT_FLOAT, 3, 0),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuDeviceGetTexture1DLinearMaxWidth(nullptr, CU_AD_FORMAT_FLOAT, 1, 0),
      CUDA_ERROR_INVALID_VALUE);
}

// 40 bytes through each function for lines.
TEST_F(CudaArrays, OfOneDimensionAreCopiedAsRuns) {
  const OwnArray array(described(16, 0, 0));
  const OwnArray other(described(16, 0, 0));
  Bytes model = counting(64);
  ASSERT_EQ(cuMemcpyHtoA(array, 0, model.data(), 64), CUDA_SUCCESS);
  const Bytes more = {91, 92, 93, 94, 95, 96, 97, 98};
  const Array<std::uint8_t> device(more);
  ASSERT_EQ(cuMemcpyDtoA(array, 8, device.address(), 8), CUDA_SUCCESS);
  std::copy(more.begin(), more.end(), model.begin() + 8);
  ASSERT_EQ(cuMemcpyAtoA(other, 4, array, 0, 60), CUDA_SUCCESS);
  Bytes found(60);
  ASSERT_EQ(cuMemcpyAtoH(found.data(), other, 4, 60), CUDA_SUCCESS);
  EXPECT_EQ(found, Bytes(model.begin(), model.begin() + 60));
  ASSERT_EQ(cuMemcpyAtoD(device.address(), array, 20, 8), CUDA_SUCCESS);
  EXPECT_EQ(device.values(), Bytes(model.begin() + 20, model.begin() + 28));
}

TEST_F(CudaArrays, AreCopiedAsRunsInStreams) {
  const OwnArray array(described(16, 0, 0));
  const Stream stream;
  std::uint8_t* host = nullptr;
  ASSERT_EQ(cuMemAllocHost(reinterpret_cast<void**>(&host), 128), CUDA_SUCCESS);
  std::fill_n(host, 64, std::uint8_t{5});
  std::fill_n(host + 64, 64, std::uint8_t{0});
  {
    Gate gate(stream);
    ASSERT_EQ(cuMemcpyHtoAAsync(array, 0, host, 64, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyAtoHAsync(host + 64, array, 0, 64, stream), CUDA_SUCCESS);
    EXPECT_EQ(host[127], 0);
  }
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(Bytes(host + 64, host + 128), Bytes(64, 5));
  ASSERT_EQ(cuMemFreeHost(host), CUDA_SUCCESS);
}

TEST_F(CudaArrays, RefuseRunsThatAreNoLines) {
  const OwnArray line(described(16, 0, 0));
  const OwnArray plane(described(16, 2, 0));
  const OwnArray layers(described(
      16, 0, 2, CU_AD_FORMAT_UNSIGNED_INT16, 2, CUDA_ARRAY3D_LAYERED));
  Bytes host(128);
  constexpr auto kBad = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(cuMemcpyHtoA(plane, 0, host.data(), 8), kBad);
  EXPECT_EQ(cuMemcpyAtoH(host.data(), layers, 0, 8), kBad);
  EXPECT_EQ(cuMemcpyHtoA(line, 60, host.data(), 8), kBad);
  EXPECT_EQ(cuMemcpyHtoA(line, 2, host.data(), 8), kBad);
  EXPECT_EQ(cuMemcpyAtoH(host.data(), line, 0, 6), kBad);
  EXPECT_EQ(cuMemcpyAtoA(line, 0, plane, 0, 8), kBad);
  EXPECT_EQ(
      cuMemcpyHtoA(nullptr, 0, host.data(), 8), CUDA_ERROR_INVALID_HANDLE);
}

// 3 x 2 elements of 4 bytes from (1, 1) to (4, 2).
TEST_F(CudaArrays, AreCopiedAsPlanes) {
  const OwnArray array(described(10, 5, 0));
  const Bytes host = counting(200);
  CUDA_MEMCPY2D p{};
  p.srcMemoryType = CU_MEMORYTYPE_HOST;
  p.srcHost = host.data();
  p.srcPitch = 40;
  p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  p.dstArray = array;
  p.WidthInBytes = 40;
  p.Height = 5;
  ASSERT_EQ(cuMemcpy2D(&p), CUDA_SUCCESS);
  const Stream stream;
  const OwnArray other(described(10, 5, 0));
  p.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  p.srcHost = nullptr;
  p.srcPitch = 0;
  p.srcArray = array;
  p.dstArray = other;
  ASSERT_EQ(cuMemcpy2DAsync(&p, stream), CUDA_SUCCESS);
  p.srcXInBytes = 4;
  p.srcY = 1;
  p.dstXInBytes = 16;
  p.dstY = 2;
  p.WidthInBytes = 12;
  p.Height = 2;
  ASSERT_EQ(cuMemcpy2DAsync(&p, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  Bytes model = host;
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t x = 0; x < 12; ++x) {
      model[(2 + row) * 40 + 16 + x] = host[(1 + row) * 40 + 4 + x];
    }
  }
  Bytes found(200);
  p = {};
  p.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  p.srcArray = other;
  p.dstMemoryType = CU_MEMORYTYPE_HOST;
  p.dstHost = found.data();
  p.dstPitch = 40;
  p.WidthInBytes = 40;
  p.Height = 5;
  ASSERT_EQ(cuMemcpy2DUnaligned(&p), CUDA_SUCCESS);
  EXPECT_EQ(found, model);
  p.WidthInBytes = 38;
  EXPECT_EQ(cuMemcpy2D(&p), CUDA_ERROR_INVALID_VALUE);
  p.WidthInBytes = 40;
  p.srcArray = nullptr;
  EXPECT_EQ(cuMemcpy2D(&p), CUDA_ERROR_INVALID_HANDLE);
}

CUDA_MEMCPY3D to_array(const Bytes& host, CUarray array) {
  CUDA_MEMCPY3D p{};
  p.srcMemoryType = CU_MEMORYTYPE_HOST;
  p.srcHost = host.data();
  p.srcPitch = 16;
  p.srcHeight = 3;
  p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  p.dstArray = array;
  p.WidthInBytes = 16;
  p.Height = 3;
  p.Depth = 2;
  return p;
}

TEST_F(CudaArrays, AreCopiedAsBoxes) {
  const OwnArray array(described(4, 3, 2));
  const Bytes host = counting(96);
  auto p = to_array(host, array);
  ASSERT_EQ(cuMemcpy3D(&p), CUDA_SUCCESS);
  Bytes found(4);
  p = {};
  p.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  p.srcArray = array;
  p.srcXInBytes = 8;
  p.srcY = 2;
  p.srcZ = 1;
  p.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  p.dstDevice = reinterpret_cast<CUdeviceptr>(found.data());
  p.WidthInBytes = 4;
  p.Height = p.Depth = 1;
  ASSERT_EQ(cuMemcpy3D(&p), CUDA_SUCCESS);
  // ((1 * 3) + 2) * 16 + 8 in what was put in.
  EXPECT_EQ(found, Bytes(host.begin() + 88, host.begin() + 92));
  p.srcLOD = 1;
  EXPECT_EQ(cuMemcpy3D(&p), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaArrays, AreCopiedByNodesOfGraphs) {
  const OwnArray array(described(4, 3, 2));
  const Bytes host = counting(96);
  auto p = to_array(host, array);
  p.dstXInBytes = 4;
  p.dstY = 1;
  p.dstZ = 1;
  p.WidthInBytes = 12;
  p.Height = 2;
  p.Depth = 1;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(
      cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &p, context),
      CUDA_SUCCESS);
  CUDA_MEMCPY3D found{};
  ASSERT_EQ(cuGraphMemcpyNodeGetParams(node, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.srcMemoryType, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(found.dstMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(found.dstArray, p.dstArray);
  EXPECT_EQ(found.dstXInBytes, 4u);
  EXPECT_EQ(found.dstY, 1u);
  EXPECT_EQ(found.dstZ, 1u);
  EXPECT_EQ(found.WidthInBytes, 12u);
  // Read from the array into memory instead.
  Bytes to(24);
  CUDA_MEMCPY3D back{};
  back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  back.srcArray = array;
  back.srcXInBytes = 4;
  back.srcY = 1;
  back.srcZ = 1;
  back.dstMemoryType = CU_MEMORYTYPE_HOST;
  back.dstHost = to.data();
  back.dstPitch = 12;
  back.WidthInBytes = 12;
  back.Height = 2;
  back.Depth = 1;
  CUgraphNode second = nullptr;
  ASSERT_EQ(
      cuGraphAddMemcpyNode(&second, graph, &node, 1, &back, context),
      CUDA_SUCCESS);
  ASSERT_EQ(cuGraphMemcpyNodeGetParams(second, &found), CUDA_SUCCESS);
  EXPECT_EQ(found.srcMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(found.srcArray, back.srcArray);
  EXPECT_EQ(found.srcXInBytes, 4u);
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  const Stream stream;
  ASSERT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  Bytes model(host.begin(), host.begin() + 12);
  model.insert(model.end(), host.begin() + 16, host.begin() + 28);
  EXPECT_EQ(to, model);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing

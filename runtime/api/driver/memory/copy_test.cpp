// Copies of planes and boxes.
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using Boxes = ContextTest;

using Bytes = std::vector<std::uint8_t>;

CUdeviceptr address_of(const void* host) {
  return reinterpret_cast<CUdeviceptr>(host);
}

/// Rows and slices of a place, and where a box begins in it.
struct Place {
  std::size_t pitch;
  std::size_t rows;
  std::size_t x, y, z;
  std::size_t at(std::size_t column, std::size_t row, std::size_t slice) const {
    return ((z + slice) * rows + y + row) * pitch + x + column;
  }
};

/// What a copy of a box has to make of `to`, byte by byte.
Bytes copied(
    const Bytes& from,
    const Place& source,
    Bytes to,
    const Place& target,
    const CUDA_MEMCPY3D& box) {
  for (std::size_t slice = 0; slice < box.Depth; ++slice) {
    for (std::size_t row = 0; row < box.Height; ++row) {
      for (std::size_t column = 0; column < box.WidthInBytes; ++column) {
        to[target.at(column, row, slice)] = from[source.at(column, row, slice)];
      }
    }
  }
  return to;
}

TEST_F(Boxes, PlanesAreCopiedInAStream) {
  const Array<std::uint8_t> from({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Array<std::uint8_t> to(10);
  std::vector<std::uint8_t> host(4);
  const Stream stream;
  // Two columns and two rows of three times four, from the second of each.
  CUDA_MEMCPY2D plane{};
  plane.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  plane.srcDevice = from.address();
  plane.srcPitch = 4;
  plane.srcXInBytes = 1;
  plane.srcY = 1;
  plane.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  plane.dstDevice = to.address();
  plane.dstPitch = 5;
  plane.dstXInBytes = 2;
  plane.WidthInBytes = 2;
  plane.Height = 2;
  ASSERT_EQ(cuMemcpy2DAsync(&plane, stream), CUDA_SUCCESS);
  plane.dstMemoryType = CU_MEMORYTYPE_HOST;
  plane.dstHost = host.data();
  plane.dstPitch = 2;
  plane.dstXInBytes = 0;
  ASSERT_EQ(cuMemcpy2DAsync(&plane, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(
      to.values(), (std::vector<std::uint8_t>{0, 0, 6, 7, 0, 0, 0, 10, 11, 0}));
  EXPECT_EQ(host, (std::vector<std::uint8_t>{6, 7, 10, 11}));
  EXPECT_EQ(cuMemcpy2DAsync(nullptr, stream), CUDA_ERROR_INVALID_VALUE);
  plane.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuMemcpy2DAsync(&plane, stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Boxes, AreCopiedBetweenAllKindsOfMemory) {
  std::mt19937 random(18);
  const auto draw = [&](std::size_t least, std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(least, most)(random);
  };
  constexpr std::size_t kBytes = 4000;
  const CUmemorytype kinds[] = {
      CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED};
  const Stream stream;
  for (int round = 0; round < 120; ++round) {
    CUDA_MEMCPY3D box{};
    box.WidthInBytes = draw(1, 12);
    box.Height = draw(1, 6);
    box.Depth = draw(1, 4);
    const auto draw_place = [&] {
      Place place{};
      place.x = draw(0, 3);
      place.y = draw(0, 2);
      place.z = draw(0, 2);
      place.pitch = box.WidthInBytes + place.x + draw(0, 5);
      place.rows = box.Height + place.y + draw(0, 3);
      return place;
    };
    const Place source = draw_place();
    const Place target = draw_place();
    Bytes from(kBytes);
    Bytes to(kBytes);
    for (std::size_t i = 0; i < kBytes; ++i) {
      from[i] = static_cast<std::uint8_t>(draw(1, 255));
      to[i] = static_cast<std::uint8_t>(draw(1, 255));
    }
    const Bytes expected = copied(from, source, to, target, box);
    const Array<std::uint8_t> from_device(from);
    const Array<std::uint8_t> to_device(to);
    box.srcMemoryType = kinds[draw(0, 2)];
    box.dstMemoryType = kinds[draw(0, 2)];
    box.srcHost = from.data();
    box.srcDevice = from_device.address();
    box.srcPitch = source.pitch;
    box.srcHeight = source.rows;
    box.srcXInBytes = source.x;
    box.srcY = source.y;
    box.srcZ = source.z;
    box.dstHost = to.data();
    box.dstDevice = to_device.address();
    box.dstPitch = target.pitch;
    box.dstHeight = target.rows;
    box.dstXInBytes = target.x;
    box.dstY = target.y;
    box.dstZ = target.z;
    CUDA_MEMCPY3D_PEER peer{};
    switch (round % 4) {
      case 0:
        ASSERT_EQ(cuMemcpy3D(&box), CUDA_SUCCESS);
        break;
      case 1:
        ASSERT_EQ(cuMemcpy3DAsync(&box, stream), CUDA_SUCCESS);
        ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        break;
      default:
        // The same fields, and contexts in place of what is reserved.
        static_assert(sizeof(peer) == sizeof(box));
        std::memcpy(&peer, &box, sizeof(box));
        peer.srcContext = peer.dstContext = context;
        if (round % 4 == 2) {
          ASSERT_EQ(cuMemcpy3DPeer(&peer), CUDA_SUCCESS);
        } else {
          ASSERT_EQ(cuMemcpy3DPeerAsync(&peer, stream), CUDA_SUCCESS);
          ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        }
    }
    const bool to_host = box.dstMemoryType == CU_MEMORYTYPE_HOST;
    EXPECT_EQ(to_host ? to : to_device.values(), expected) << round;
  }
}

TEST_F(Boxes, PlanesAreCopiedAtOnce) {
  const Bytes from{1, 2, 3, 4, 5, 6, 7, 8, 9};
  using Copy = CUresult (*)(const CUDA_MEMCPY2D*);
  for (const Copy copy : {Copy{cuMemcpy2D}, Copy{cuMemcpy2DUnaligned}}) {
    CUDA_MEMCPY2D plane{};
    plane.srcMemoryType = CU_MEMORYTYPE_HOST;
    plane.srcHost = from.data();
    plane.srcPitch = 3;
    plane.srcXInBytes = 1;
    plane.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    const Array<std::uint8_t> to(10);
    plane.dstDevice = to.address();
    plane.dstPitch = 5;
    plane.dstY = 0;
    plane.WidthInBytes = 2;
    plane.Height = 2;
    EXPECT_EQ(copy(&plane), CUDA_SUCCESS);
    EXPECT_EQ(to.values(), (Bytes{2, 3, 0, 0, 0, 5, 6, 0, 0, 0}));
    EXPECT_EQ(copy(nullptr), CUDA_ERROR_INVALID_VALUE);
    plane.WidthInBytes = 4; // more than the source's pitch
    EXPECT_EQ(copy(&plane), CUDA_ERROR_INVALID_VALUE);
    plane.WidthInBytes = 0;
    EXPECT_EQ(copy(&plane), CUDA_SUCCESS);
    plane.WidthInBytes = 2;
    plane.Height = 3; // beyond the target's end
    EXPECT_EQ(copy(&plane), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(Boxes, TypesOfMemoryAreTakenAtTheirWord) {
  Bytes host(8);
  const Array<std::uint8_t> array(8);
  CUDA_MEMCPY3D box{};
  box.WidthInBytes = 8;
  box.Height = box.Depth = 1;
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = host.data();
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = array.address();
  EXPECT_EQ(cuMemcpy3D(&box), CUDA_SUCCESS);
  box.dstDevice = address_of(host.data()); // is no device's
  EXPECT_EQ(cuMemcpy3D(&box), CUDA_ERROR_INVALID_VALUE);
  box.dstDevice = array.address();
  box.srcLOD = 1;
  EXPECT_EQ(cuMemcpy3D(&box), CUDA_ERROR_INVALID_VALUE);
  box.srcLOD = 0;
  box.Depth = 2; // slices of no rows
  EXPECT_EQ(cuMemcpy3D(&box), CUDA_ERROR_INVALID_VALUE);
  box.Depth = 1;
  box.srcMemoryType = static_cast<CUmemorytype>(0);
  EXPECT_EQ(cuMemcpy3D(&box), CUDA_ERROR_INVALID_VALUE);
  box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuMemcpy3D(&box), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemcpy3D(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy3DPeer(nullptr), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D_PEER peer{};
  EXPECT_EQ(cuMemcpy3DPeer(&peer), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Boxes, MemoryWithAPitchHasRoomForItsRows) {
  for (const unsigned element : {4u, 8u, 16u}) {
    CUdeviceptr memory = 0;
    std::size_t pitch = 0;
    ASSERT_EQ(cuMemAllocPitch(&memory, &pitch, 100, 7, element), CUDA_SUCCESS);
    EXPECT_GE(pitch, 100u);
    EXPECT_EQ(pitch % element, 0u);
    EXPECT_EQ(cuMemsetD2D8(memory, pitch, 3, 100, 7), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD2D8(memory, pitch, 3, 100, 8), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  }
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  EXPECT_EQ(
      cuMemAllocPitch(&memory, &pitch, 100, 7, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemAllocPitch(&memory, &pitch, 0, 7, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemAllocPitch(nullptr, &pitch, 100, 7, 4), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace accelerator::driver::testing

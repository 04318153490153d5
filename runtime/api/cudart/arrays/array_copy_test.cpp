// Copies from and to CUDA arrays, compared with a model on the host: an array
// is its elements without gaps.
#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "runtime/api/cudart/testing/arrays.h"
#include "runtime/api/cudart/testing/support.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace accelerator::cudart::testing {
namespace {

constexpr cudaChannelFormatDesc kFormat =
    {16, 16, 0, 0, cudaChannelFormatKindSigned};
constexpr Geometry kPlane = {"plane", {13, 7, 0}, 0};
constexpr Geometry kBox = {"box", {9, 6, 5}, 0};

class ArrayCopies : public Runtime {
 protected:
  std::size_t below(std::size_t end) {
    return random() % end;
  }
  std::size_t size_up_to(std::size_t most) {
    return 1 + below(most);
  }
  cudaExtent part_of(const cudaExtent& all) {
    return {
        size_up_to(all.width), size_up_to(all.height), size_up_to(all.depth)};
  }
  cudaPos place_in(const cudaExtent& all, const cudaExtent& part) {
    return {
        below(all.width - part.width + 1),
        below(all.height - part.height + 1),
        below(all.depth - part.depth + 1)};
  }

  std::mt19937 random{7};
};

TEST_F(ArrayCopies, BringBackWhatWasPutIn) {
  for (const Geometry& geometry : geometries()) {
    for (const cudaChannelFormatDesc& format : formats()) {
      SCOPED_TRACE(geometry.name);
      const Array array(geometry, format);
      const Bytes values = random_bytes(array.bytes(), random);
      array.set(values);
      EXPECT_EQ(array.get(), values);
    }
  }
}

// From pageable memory, device memory and another array, each with gaps.
TEST_F(ArrayCopies, OfBoxesTouchNothingElse) {
  for (const Geometry& geometry : geometries()) {
    for (const cudaChannelFormatDesc& format : formats()) {
      SCOPED_TRACE(geometry.name);
      const Array array(geometry, format);
      const Array other(geometry, format);
      const cudaExtent whole = geometry.whole();
      const std::size_t element = array.element();
      Bytes model = random_bytes(array.bytes(), random);
      Bytes other_model = random_bytes(array.bytes(), random);
      array.set(model);
      other.set(other_model);
      void* device = nullptr;
      ASSERT_OK(cudaMalloc(&device, array.bytes()));
      Bytes memory = random_bytes(array.bytes(), random);
      ASSERT_OK(cudaMemcpy(
          device, memory.data(), memory.size(), cudaMemcpyHostToDevice));
      for (int round = 0; round < 8; ++round) {
        const cudaExtent size = part_of(whole);
        const cudaPos at = place_in(whole, size);
        const cudaPos from_at = place_in(whole, size);
        cudaMemcpy3DParms p{};
        p.extent = size;
        p.kind = cudaMemcpyDefault;
        // Of memory, x counts bytes.
        const cudaPos in_bytes = {from_at.x * element, from_at.y, from_at.z};
        p.dstArray = array;
        p.dstPos = at;
        if (round % 4 == 0) {
          p.srcPtr = array.packed(memory, whole);
          p.srcPos = in_bytes;
          copy_model(model, whole, at, memory, whole, from_at, size, element);
        } else if (round % 4 == 1) {
          p.srcPtr = array.packed(memory, whole);
          p.srcPtr.ptr = device;
          p.srcPos = in_bytes;
          copy_model(model, whole, at, memory, whole, from_at, size, element);
        } else if (round % 4 == 2) {
          p.srcArray = other;
          p.srcPos = from_at;
          copy_model(
              model, whole, at, other_model, whole, from_at, size, element);
        } else { // out of the array
          p.dstArray = nullptr;
          p.dstPtr = array.packed(memory, whole);
          p.dstPos = {at.x * element, at.y, at.z};
          p.srcArray = array;
          p.srcPos = from_at;
          copy_model(memory, whole, at, model, whole, from_at, size, element);
        }
        ASSERT_OK(cudaMemcpy3D(&p));
        ASSERT_OK(cudaMemcpy(
            device, memory.data(), memory.size(), cudaMemcpyHostToDevice));
        ASSERT_EQ(array.get(), model);
      }
      EXPECT_EQ(other.get(), other_model);
      ASSERT_OK(cudaFree(device));
    }
  }
}

TEST_F(ArrayCopies, OfPlanesCountBytes) {
  const Array array(kPlane, kFormat);
  const Array other(kPlane, kFormat);
  const cudaExtent whole = kPlane.whole();
  Bytes model(array.bytes());
  array.set(model);
  Bytes from = random_bytes(array.bytes(), random);
  // 5 elements of 2 rows, from (1, 1) to (3, 4).
  ASSERT_OK(cudaMemcpy2DToArray(
      array,
      3 * 4,
      4,
      from.data() + array.row() + 4,
      array.row(),
      5 * 4,
      2,
      cudaMemcpyHostToDevice));
  copy_model(model, whole, {3, 4, 0}, from, whole, {1, 1, 0}, {5, 2, 1}, 4);
  EXPECT_EQ(array.get(), model);
  Bytes other_model = random_bytes(array.bytes(), random);
  other.set(other_model);
  ASSERT_OK(cudaMemcpy2DArrayToArray(
      other, 4, 0, array, 2 * 4, 3, 6 * 4, 3, cudaMemcpyDeviceToDevice));
  copy_model(
      other_model, whole, {1, 0, 0}, model, whole, {2, 3, 0}, {6, 3, 1}, 4);
  EXPECT_EQ(other.get(), other_model);
  Bytes expected = from;
  copy_model(
      expected, whole, {0, 0, 0}, other_model, whole, {1, 1, 0}, {7, 4, 1}, 4);
  ASSERT_OK(cudaMemcpy2DFromArray(
      from.data(), array.row(), other, 4, 1, 7 * 4, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(from, expected);
}

// A run goes on in the next row.
TEST_F(ArrayCopies, OfRunsGoOverRows) {
  const Array array(kPlane, kFormat);
  const Geometry narrow = {"narrow plane", {5, 20, 0}, 0};
  const Array other(narrow, kFormat);
  Bytes model(array.bytes());
  Bytes other_model(other.bytes());
  array.set(model);
  other.set(other_model);
  for (int round = 0; round < 40; ++round) {
    const std::size_t bytes = size_up_to(array.bytes() / 4) * 4;
    const std::size_t begin = below((array.bytes() - bytes) / 4 + 1) * 4;
    if (begin == array.bytes()) {
      continue;
    }
    const std::size_t x = begin % array.row();
    const std::size_t y = begin / array.row();
    const Bytes from = random_bytes(bytes, random);
    ASSERT_OK(cudaMemcpyToArray(
        array, x, y, from.data(), bytes, cudaMemcpyHostToDevice));
    std::copy(
        from.begin(),
        from.end(),
        model.begin() + static_cast<std::ptrdiff_t>(begin));
    ASSERT_EQ(array.get(), model);
    Bytes to(bytes);
    ASSERT_OK(cudaMemcpyFromArray(
        to.data(), array, x, y, bytes, cudaMemcpyDeviceToHost));
    ASSERT_EQ(to, from);
    const std::size_t there = below((other.bytes() - bytes) / 4 + 1) * 4;
    ASSERT_OK(cudaMemcpyArrayToArray(
        other,
        there % other.row(),
        there / other.row(),
        array,
        x,
        y,
        bytes,
        cudaMemcpyDeviceToDevice));
    std::copy(
        from.begin(),
        from.end(),
        other_model.begin() + static_cast<std::ptrdiff_t>(there));
    ASSERT_EQ(other.get(), other_model);
  }
  Bytes too_much(array.bytes() + 4);
  EXPECT_EQ(
      cudaMemcpyToArray(
          array,
          0,
          0,
          too_much.data(),
          too_much.size(),
          cudaMemcpyHostToDevice),
      cudaErrorInvalidValue);
  EXPECT_EQ(array.get(), model); // none of it
}

TEST_F(ArrayCopies, OfRunsTakePlaceInStreams) {
  const OwnStream stream;
  const Array array(kPlane, kFormat);
  array.set(Bytes(array.bytes()));
  Pinned from(20, 3);
  Pinned to(20, 0);
  Gate gate;
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaMemcpyToArrayAsync(
      array, 8, 1, from.data(), 80, cudaMemcpyHostToDevice, stream));
  ASSERT_OK(cudaMemcpyFromArrayAsync(
      to.data(), array, 8, 1, 80, cudaMemcpyDeviceToHost, stream));
  EXPECT_EQ(to[19], 0);
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(to.get(), from.get());
}

TEST_F(ArrayCopies, OfBoxesTakePlaceInStreams) {
  const OwnStream stream;
  const Array array(kBox, kFormat);
  array.set(Bytes(array.bytes()));
  Pinned from(kBox.elements(), 3);
  Pinned to(kBox.elements(), 0);
  Gate gate;
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  cudaMemcpy3DParms p{};
  p.srcPtr = cudaPitchedPtr{from.data(), 36, 36, 6};
  p.dstArray = array;
  p.extent = kBox.extent;
  p.kind = cudaMemcpyHostToDevice;
  ASSERT_OK(cudaMemcpy3DAsync(&p, stream));
  p = {};
  p.srcArray = array;
  p.dstPtr = cudaPitchedPtr{to.data(), 36, 36, 6};
  p.extent = kBox.extent;
  p.kind = cudaMemcpyDeviceToHost;
  ASSERT_OK(cudaMemcpy3DAsync(&p, stream));
  EXPECT_EQ(to[0], 0);
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(to.get(), from.get());
}

TEST_F(ArrayCopies, OfLevelsTouchNoOtherLevel) {
  cudaMipmappedArray_t array = nullptr;
  ASSERT_OK(cudaMallocMipmappedArray(&array, &kFormat, {13, 7, 3}, 4, 0));
  std::vector<Bytes> models;
  for (unsigned i = 0; i < 4; ++i) {
    cudaArray_t level = nullptr;
    ASSERT_OK(cudaGetMipmappedArrayLevel(&level, array, i));
    cudaExtent extent{};
    ASSERT_OK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    models.push_back(
        random_bytes(extent.width * extent.height * extent.depth * 4, random));
    cudaMemcpy3DParms p{};
    p.srcPtr = cudaPitchedPtr{
        models[i].data(), extent.width * 4, extent.width * 4, extent.height};
    p.dstArray = level;
    p.extent = extent;
    p.kind = cudaMemcpyHostToDevice;
    ASSERT_OK(cudaMemcpy3D(&p));
  }
  for (unsigned i = 0; i < 4; ++i) {
    cudaArray_t level = nullptr;
    ASSERT_OK(cudaGetMipmappedArrayLevel(&level, array, i));
    cudaExtent extent{};
    ASSERT_OK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    Bytes found(models[i].size());
    cudaMemcpy3DParms p{};
    p.srcArray = level;
    p.dstPtr = cudaPitchedPtr{
        found.data(), extent.width * 4, extent.width * 4, extent.height};
    p.extent = extent;
    p.kind = cudaMemcpyDeviceToHost;
    ASSERT_OK(cudaMemcpy3D(&p));
    EXPECT_EQ(found, models[i]);
  }
  EXPECT_OK(cudaFreeMipmappedArray(array));
}

TEST_F(ArrayCopies, GoBetweenDevices) {
  const Array here(kBox, kFormat);
  const Bytes values = random_bytes(here.bytes(), random);
  here.set(values);
  ASSERT_OK(cudaSetDevice(1));
  const Array there(kBox, kFormat);
  there.set(Bytes(there.bytes()));
  cudaMemcpy3DPeerParms p{};
  p.srcArray = here;
  p.srcDevice = 0;
  p.dstArray = there;
  p.dstDevice = 1;
  p.extent = kBox.extent;
  ASSERT_OK(cudaMemcpy3DPeer(&p));
  EXPECT_EQ(there.get(), values);
  there.set(Bytes(there.bytes()));
  const OwnStream stream;
  ASSERT_OK(cudaMemcpy3DPeerAsync(&p, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(there.get(), values);
}

TEST_F(ArrayCopies, StayInsideOfArrays) {
  const Array array(kPlane, kFormat);
  Bytes host(array.bytes() * 2);
  constexpr auto kOutside = cudaErrorInvalidValue;
  const auto put = [&](std::size_t x,
                       std::size_t y,
                       std::size_t width,
                       std::size_t height) {
    return cudaMemcpy2DToArray(
        array, x, y, host.data(), 64, width, height, cudaMemcpyHostToDevice);
  };
  EXPECT_OK(put(0, 0, 52, 7));
  EXPECT_EQ(put(0, 0, 56, 7), kOutside);
  EXPECT_EQ(put(4, 0, 52, 7), kOutside);
  EXPECT_EQ(put(0, 0, 52, 8), kOutside);
  EXPECT_EQ(put(0, 1, 52, 7), kOutside);
  EXPECT_EQ(put(2, 0, 4, 1), kOutside); // half an element
  EXPECT_EQ(put(0, 0, 2, 1), kOutside);
  EXPECT_EQ(put(~std::size_t{3}, 0, 8, 1), kOutside);
  cudaMemcpy3DParms p{};
  p.srcPtr = cudaPitchedPtr{host.data(), 52, 52, 7};
  p.dstArray = array;
  p.extent = {13, 7, 2};
  p.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&p), kOutside);
  p.extent = {~std::size_t{0} / 2, 1, 1};
  EXPECT_EQ(cudaMemcpy3D(&p), kOutside);
  p.extent = {13, 7, 1};
  p.dstPtr = p.srcPtr; // an array and memory
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  p.dstPtr = {};
  EXPECT_OK(cudaMemcpy3D(&p));
}

TEST_F(ArrayCopies, NeedElementsOfOneSize) {
  const Array array(kPlane, kFormat);
  const Array wide(kPlane, {32, 32, 0, 0, cudaChannelFormatKindFloat});
  const Array same(kPlane, {32, 0, 0, 0, cudaChannelFormatKindFloat});
  cudaMemcpy3DParms p{};
  p.srcArray = array;
  p.dstArray = wide;
  p.extent = {4, 4, 1};
  p.kind = cudaMemcpyDeviceToDevice;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  p.dstArray = same;
  EXPECT_OK(cudaMemcpy3D(&p));
}

TEST_F(ArrayCopies, KnowThatArraysAreOfADevice) {
  const Array array(kPlane, kFormat);
  Bytes host(array.bytes());
  const auto put = [&](cudaMemcpyKind kind) {
    return cudaMemcpy2DToArray(array, 0, 0, host.data(), 52, 52, 7, kind);
  };
  const auto get = [&](cudaMemcpyKind kind) {
    return cudaMemcpy2DFromArray(host.data(), 52, array, 0, 0, 52, 7, kind);
  };
  EXPECT_OK(put(cudaMemcpyDefault));
  EXPECT_OK(get(cudaMemcpyDefault));
  constexpr auto kDirection = cudaErrorInvalidMemcpyDirection;
  EXPECT_EQ(put(cudaMemcpyDeviceToHost), kDirection);
  EXPECT_EQ(put(cudaMemcpyHostToHost), kDirection);
  EXPECT_EQ(get(cudaMemcpyHostToDevice), kDirection);
  EXPECT_EQ(get(cudaMemcpyHostToHost), kDirection);
  EXPECT_EQ(put(static_cast<cudaMemcpyKind>(9)), kDirection);
}

TEST_F(ArrayCopies, NeedLivingArrays) {
  cudaArray_t array = nullptr;
  ASSERT_OK(cudaMallocArray(&array, &kFormat, 4, 0, 0));
  ASSERT_OK(cudaFreeArray(array));
  Bytes host(16);
  for (cudaArray_t handle : {array, cudaArray_t{nullptr}}) {
    EXPECT_EQ(
        cudaMemcpy2DToArray(
            handle, 0, 0, host.data(), 16, 16, 1, cudaMemcpyDefault),
        cudaErrorInvalidResourceHandle);
    EXPECT_EQ(
        cudaMemcpyFromArray(host.data(), handle, 0, 0, 16, cudaMemcpyDefault),
        cudaErrorInvalidResourceHandle);
  }
}

} // namespace
} // namespace accelerator::cudart::testing

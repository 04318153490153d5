// Copies and fills in streams, of boxes and between devices, compared with
// what the host computes.
#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/api/cudart/testing/support.h"

namespace accelerator::cudart::testing {
namespace {

using Bytes = std::vector<unsigned char>;

// A box of bytes on the device with rows and slices apart from each other.
class Box {
 public:
  Box(std::size_t width, std::size_t height, std::size_t depth)
      : extent_(cudaExtent{width, height, depth}) {
    EXPECT_OK(cudaMalloc3D(&where, extent_));
    EXPECT_OK(cudaMemset(where.ptr, 0, where.pitch * height * depth));
    EXPECT_OK(cudaDeviceSynchronize()); // other streams come next
  }
  ~Box() {
    EXPECT_OK(cudaFree(where.ptr));
  }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  cudaMemcpy3DParms from(Bytes& host) const {
    cudaMemcpy3DParms p{};
    p.srcPtr = cudaPitchedPtr{
        host.data(), extent_.width, extent_.width, extent_.height};
    p.dstPtr = where;
    p.extent = extent_;
    p.kind = cudaMemcpyHostToDevice;
    return p;
  }
  Bytes get() const {
    Bytes host(extent_.width * extent_.height * extent_.depth);
    cudaMemcpy3DParms p{};
    p.srcPtr = where;
    p.dstPtr = cudaPitchedPtr{
        host.data(), extent_.width, extent_.width, extent_.height};
    p.extent = extent_;
    p.kind = cudaMemcpyDeviceToHost;
    EXPECT_OK(cudaMemcpy3D(&p));
    return host;
  }

  cudaPitchedPtr where{};

 private:
  cudaExtent extent_;
};

Bytes counting(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
  return bytes;
}

class Copies : public Runtime {
 protected:
  OwnStream stream;
};

TEST_F(Copies, InAStreamTakePlaceInItsOrder) {
  Gate gate;
  Pinned from(100, 1);
  Pinned to(100);
  OnDevice between(100);
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaMemcpyAsync(
      between.data(),
      from.data(),
      from.bytes(),
      cudaMemcpyHostToDevice,
      stream));
  ASSERT_OK(cudaMemcpyAsync(
      to.data(), between.data(), to.bytes(), cudaMemcpyDefault, stream));
  EXPECT_EQ(to[99], 0);
  from[99] = 2; // pinned memory is read when the copy runs
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(to.get(), from.get());
}

TEST_F(Copies, FromPageableMemoryAreStagedBeforeTheCallReturns) {
  Gate gate;
  OnDevice to(10);
  std::vector<int> from(10, 3);
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaMemcpyAsync(
      to.data(), from.data(), to.bytes(), cudaMemcpyHostToDevice, stream));
  from.assign(10, 4);
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(to.get(), std::vector<int>(10, 3));
}

TEST_F(Copies, AreRefusedWhereDirectionAndMemoryDisagree) {
  OnDevice device(10);
  std::vector<int> host(10);
  const std::size_t bytes = device.bytes();
  EXPECT_EQ(
      cudaMemcpyAsync(
          host.data(), host.data(), bytes, cudaMemcpyHostToDevice, stream),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemcpyAsync(
          device.data(),
          host.data(),
          bytes,
          static_cast<cudaMemcpyKind>(7),
          stream),
      cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(
      cudaMemcpyAsync(
          nullptr, host.data(), bytes, cudaMemcpyHostToDevice, stream),
      cudaErrorInvalidValue);
  EXPECT_EQ(
      cudaMemcpyAsync(
          device.data() + 1,
          host.data(),
          bytes,
          cudaMemcpyHostToDevice,
          stream),
      cudaErrorInvalidValue);
  // A copy of nothing succeeds wherever it is told to go.
  EXPECT_OK(
      cudaMemcpyAsync(nullptr, nullptr, 0, cudaMemcpyHostToDevice, stream));
}

TEST_F(Copies, OfAPlaneInAStreamLeaveWhatIsBetweenTheRows) {
  constexpr std::size_t kPitch = 16;
  constexpr std::size_t kWidth = 5;
  constexpr std::size_t kHeight = 3;
  OnDevice plane(kPitch * kHeight / sizeof(int));
  Bytes in = counting(kWidth * kHeight);
  ASSERT_OK(cudaMemset(plane.data(), 0xee, plane.bytes()));
  ASSERT_OK(cudaDeviceSynchronize());
  ASSERT_OK(cudaMemcpy2DAsync(
      plane.data(),
      kPitch,
      in.data(),
      kWidth,
      kWidth,
      kHeight,
      cudaMemcpyHostToDevice,
      stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  Bytes all(plane.bytes());
  ASSERT_OK(
      cudaMemcpy(all.data(), plane.data(), all.size(), cudaMemcpyDefault));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t y = i / kPitch;
    const std::size_t x = i % kPitch;
    EXPECT_EQ(all[i], x < kWidth ? in[y * kWidth + x] : 0xee) << i;
  }
  EXPECT_EQ(
      cudaMemcpy2DAsync(
          plane.data(),
          kPitch,
          in.data(),
          kWidth - 1,
          kWidth,
          kHeight,
          cudaMemcpyHostToDevice,
          stream),
      cudaErrorInvalidPitchValue);
}

TEST_F(Copies, OfABoxComeBackAsTheyWent) {
  Box box(7, 5, 3);
  EXPECT_GE(box.where.pitch, 7u);
  EXPECT_EQ(box.where.xsize, 7u);
  EXPECT_EQ(box.where.ysize, 5u);
  Bytes in = counting(7 * 5 * 3);
  const cudaMemcpy3DParms p = box.from(in);
  ASSERT_OK(cudaMemcpy3D(&p));
  EXPECT_EQ(box.get(), in);
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc3D(nullptr, {1, 1, 1}), cudaErrorInvalidValue);
}

TEST_F(Copies, OfPartOfABoxGoWhereTheirOffsetsSay) {
  Box box(6, 4, 3);
  Bytes in = counting(6 * 4 * 3);
  cudaMemcpy3DParms p = box.from(in);
  p.srcPos = cudaPos{1, 2, 0};
  p.dstPos = cudaPos{3, 1, 1};
  p.extent = cudaExtent{2, 2, 2};
  ASSERT_OK(cudaMemcpy3DAsync(&p, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  Bytes expected(in.size());
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 2; ++y) {
      for (std::size_t x = 0; x < 2; ++x) {
        expected[((z + 1) * 4 + y + 1) * 6 + x + 3] =
            in[(z * 4 + y + 2) * 6 + x + 1];
      }
    }
  }
  EXPECT_EQ(box.get(), expected);
  p.extent = cudaExtent{2, 2, 20};
  EXPECT_EQ(cudaMemcpy3DAsync(&p, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy3DAsync(nullptr, stream), cudaErrorInvalidValue);
}

TEST_F(Copies, BetweenDevicesNeedNoPeerAccess) {
  const std::vector<int> values = {1, 2, 3, 4};
  OnDevice here(values);
  ASSERT_OK(cudaSetDevice(1));
  OnDevice there(4);
  OnDevice there_again(4);
  ASSERT_OK(cudaMemcpyPeer(there.data(), 1, here.data(), 0, here.bytes()));
  EXPECT_EQ(there.get(), values);
  OwnStream of_second;
  ASSERT_OK(cudaMemcpyPeerAsync(
      there_again.data(), 1, here.data(), 0, here.bytes(), of_second));
  ASSERT_OK(cudaStreamSynchronize(of_second));
  EXPECT_EQ(there_again.get(), values);
  EXPECT_EQ(
      cudaMemcpyPeer(there.data(), 2, here.data(), 0, here.bytes()),
      cudaErrorInvalidDevice);
  EXPECT_EQ(
      cudaMemcpyPeerAsync(
          there.data(), 1, here.data(), 2, here.bytes(), of_second),
      cudaErrorInvalidDevice);
}

TEST_F(Copies, OfBoxesBetweenDevices) {
  Box here(5, 4, 2);
  Bytes in = counting(5 * 4 * 2);
  const cudaMemcpy3DParms fill_it = here.from(in);
  ASSERT_OK(cudaMemcpy3D(&fill_it));
  ASSERT_OK(cudaSetDevice(1));
  Box there(5, 4, 2);
  Box there_again(5, 4, 2);
  cudaMemcpy3DPeerParms p{};
  p.srcPtr = here.where;
  p.srcDevice = 0;
  p.dstPtr = there.where;
  p.dstDevice = 1;
  p.extent = cudaExtent{5, 4, 2};
  ASSERT_OK(cudaMemcpy3DPeer(&p));
  EXPECT_EQ(there.get(), in);
  OwnStream of_second;
  p.dstPtr = there_again.where;
  ASSERT_OK(cudaMemcpy3DPeerAsync(&p, of_second));
  ASSERT_OK(cudaStreamSynchronize(of_second));
  EXPECT_EQ(there_again.get(), in);
  EXPECT_EQ(cudaMemcpy3DPeer(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy3DPeerAsync(nullptr, of_second), cudaErrorInvalidValue);
  p.srcDevice = 2;
  EXPECT_EQ(cudaMemcpy3DPeer(&p), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemcpy3DPeerAsync(&p, of_second), cudaErrorInvalidDevice);
}

TEST_F(Copies, OfPlanesAndBoxesWaitForTheWorkBeforeThem) {
  Gate gate;
  Box box(2, 2, 2);
  ASSERT_OK(cudaDeviceSynchronize());
  ASSERT_OK(cudaLaunchHostFunc(stream, Gate::wait, &gate));
  ASSERT_OK(cudaMemset3DAsync(box.where, 9, cudaExtent{2, 2, 2}, stream));
  EXPECT_EQ(box.get(), Bytes(8)); // by the default stream, which does not wait
  gate.open();
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(box.get(), Bytes(8, 9));
}

TEST_F(Copies, FillsWriteTheLowestByteOfTheValue) {
  Pinned values(4);
  ASSERT_OK(cudaMemset(values.data(), 0x1234, 4)); // pinned memory: it waits
  EXPECT_EQ(values.get(), (std::vector<int>{0x34343434, 0, 0, 0}));
}

TEST_F(Copies, FillsOfAPlaneTouchItsWidthOnly) {
  OnDevice plane(12);
  ASSERT_OK(cudaDeviceSynchronize());
  // Three rows of 16 bytes, of which the first 4 are filled.
  ASSERT_OK(cudaMemset2DAsync(plane.data(), 16, 1, 4, 3, stream));
  ASSERT_OK(cudaStreamSynchronize(stream));
  const int one = 0x01010101;
  EXPECT_EQ(
      plane.get(),
      (std::vector<int>{one, 0, 0, 0, one, 0, 0, 0, one, 0, 0, 0}));
  EXPECT_EQ(
      cudaMemset2DAsync(plane.data(), 16, 1, 17, 3, stream),
      cudaErrorInvalidPitchValue);
  EXPECT_EQ(
      cudaMemset2DAsync(plane.data(), 16, 1, 4, 4, stream),
      cudaErrorInvalidValue);
}

TEST_F(Copies, FillsOfABoxTouchItsExtentOnly) {
  Box box(4, 3, 2);
  ASSERT_OK(cudaMemset3D(box.where, 5, cudaExtent{2, 2, 2}));
  Bytes expected(4 * 3 * 2);
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 2; ++y) {
      for (std::size_t x = 0; x < 2; ++x) {
        expected[(z * 3 + y) * 4 + x] = 5;
      }
    }
  }
  EXPECT_EQ(box.get(), expected);
  EXPECT_EQ(
      cudaMemset3D(box.where, 5, cudaExtent{4, 3, 20}), cudaErrorInvalidValue);
  cudaPitchedPtr narrow = box.where;
  narrow.pitch = 1;
  EXPECT_EQ(
      cudaMemset3DAsync(narrow, 5, cudaExtent{4, 3, 2}, stream),
      cudaErrorInvalidPitchValue);
}

TEST_F(Copies, SizesBeyondAllMemoryAreRefused) {
  // Those whose products and sums wrap around to something small, too.
  constexpr std::size_t kMost = SIZE_MAX;
  constexpr std::size_t kHalf = std::size_t{1} << 32;
  // 3 times this is 1.
  constexpr std::size_t kThird = 0xaaaaaaaaaaaaaaab;
  const std::vector<int> before = {1, 2, 3, 4};
  OnDevice values(before);
  void* const memory = values.data();
  std::vector<int> host(4);
  const auto address = reinterpret_cast<std::size_t>(memory);
  for (const std::size_t bytes :
       {kMost, kMost - 15, ~address, ~address + 1, ~address + 17}) {
    EXPECT_EQ(cudaMemset(memory, 0, bytes), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemsetAsync(memory, 0, bytes, stream), cudaErrorInvalidValue);
    for (const auto kind : {cudaMemcpyDeviceToDevice, cudaMemcpyDefault}) {
      EXPECT_EQ(cudaMemcpy(memory, memory, bytes, kind), cudaErrorInvalidValue);
    }
    EXPECT_EQ(
        cudaMemcpy(memory, host.data(), bytes, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
    EXPECT_EQ(
        cudaMemcpyAsync(
            host.data(), memory, bytes, cudaMemcpyDeviceToHost, stream),
        cudaErrorInvalidValue);
    EXPECT_EQ(
        cudaMemcpyPeer(memory, 0, memory, 0, bytes), cudaErrorInvalidValue);
  }
  EXPECT_EQ(
      cudaMemcpy(host.data(), host.data(), kMost, cudaMemcpyHostToHost),
      cudaErrorInvalidValue);
  struct Plane {
    std::size_t pitch, width, height;
  };
  for (const Plane& p : std::vector<Plane>{
           {kHalf, kHalf, kHalf}, // no bytes at all, modulo 2^64
           {kMost, kMost, 2},
           {kMost, 4, kMost},
           {kThird, 16, 4}, // the last row begins behind the first byte
           {kMost - 3, 4, 3}, // and here before it
           {16, 16, kThird}}) {
    EXPECT_EQ(
        cudaMemset2D(memory, p.pitch, 0, p.width, p.height),
        cudaErrorInvalidValue);
    EXPECT_EQ(
        cudaMemcpy2D(
            memory,
            p.pitch,
            host.data(),
            p.pitch,
            p.width,
            p.height,
            cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
    EXPECT_EQ(
        cudaMemcpy2DAsync(
            host.data(),
            p.pitch,
            memory,
            p.pitch,
            p.width,
            p.height,
            cudaMemcpyDeviceToHost,
            stream),
        cudaErrorInvalidValue);
  }
  for (const cudaExtent& extent : std::vector<cudaExtent>{
           {kHalf, kHalf, 1},
           {4, kHalf, kHalf},
           {1, 3, kThird},
           {kMost, kMost, kMost}}) {
    const cudaPitchedPtr where{memory, extent.width, extent.width, kHalf};
    EXPECT_EQ(cudaMemset3D(where, 0, extent), cudaErrorInvalidValue);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = copy.dstPtr = where;
    copy.extent = extent;
    copy.kind = cudaMemcpyDefault;
    EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
  }
  cudaMemcpy3DParms copy{};
  copy.srcPtr = copy.dstPtr = {memory, 16, 16, 1};
  copy.extent = {4, 1, 1};
  copy.kind = cudaMemcpyDefault;
  // Wraps around to the second word.
  copy.dstPos = {4, std::size_t{1} << 60, 0};
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
  copy.dstPos = {};
  EXPECT_OK(cudaMemcpy3D(&copy));
  EXPECT_EQ(values.get(), before);
}

} // namespace
} // namespace accelerator::cudart::testing

// Copies in batches.
#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/api/driver/testing/context.h"

// The form of CUDA 12.8, which the header names no more.
#undef cuMemcpyBatchAsync
extern "C" CUresult cuMemcpyBatchAsync(
    CUdeviceptr* to,
    CUdeviceptr* from,
    size_t* sizes,
    size_t count,
    CUmemcpyAttributes* attributes,
    size_t* indices,
    size_t attribute_count,
    size_t* failed,
    CUstream stream);

namespace accelerator::driver::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Batches = ContextTest;

CUdeviceptr address_of(const void* host) {
  return reinterpret_cast<CUdeviceptr>(host);
}

CUmemcpyAttributes in_order(CUmemcpySrcAccessOrder order) {
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = order;
  return attributes;
}

TEST_F(Batches, EachCopyIsDone) {
  const Stream stream;
  Bytes host(64);
  for (std::size_t i = 0; i < host.size(); ++i) {
    host[i] = static_cast<std::uint8_t>(i + 1);
  }
  const Array<std::uint8_t> device(Bytes{100, 101, 102, 103, 104});
  const Array<std::uint8_t> target(32);
  Bytes back(4);
  CUdeviceptr to[] = {
      target.address(3), target.address(20), address_of(back.data()), 0};
  CUdeviceptr from[] = {
      address_of(&host[10]), device.address(1), device.address(), 0};
  std::size_t sizes[] = {5, 3, 4, 0};
  CUmemcpyAttributes attributes[] = {
      in_order(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL),
      in_order(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM),
      in_order(CU_MEMCPY_SRC_ACCESS_ORDER_ANY)};
  std::size_t indices[] = {0, 1, 3};
  ASSERT_EQ(
      cuMemcpyBatchAsync_v2(to, from, sizes, 4, attributes, indices, 3, stream),
      CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  Bytes expected(32);
  for (std::size_t i = 0; i < 5; ++i) {
    expected[3 + i] = static_cast<std::uint8_t>(11 + i);
  }
  expected[20] = 101;
  expected[21] = 102;
  expected[22] = 103;
  EXPECT_EQ(target.values(), expected);
  EXPECT_EQ(back, (Bytes{100, 101, 102, 103}));
}

// A stream that is held up does not hold up the call, after which the source
// may be anything.
TEST_F(Batches, ASourceOfTheCallIsReadDuringIt) {
  const Stream stream;
  const Array<std::uint8_t> target(3);
  {
    Gate gate(stream);
    Bytes source{1, 2, 3};
    CUdeviceptr to = target.address();
    CUdeviceptr from = address_of(source.data());
    std::size_t size = 3;
    std::size_t index = 0;
    auto attributes = in_order(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
    ASSERT_EQ(
        cuMemcpyBatchAsync_v2(
            &to, &from, &size, 1, &attributes, &index, 1, stream),
        CUDA_SUCCESS);
    source.assign(3, 9);
    gate.open();
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(target.values(), (Bytes{1, 2, 3}));
}

TEST_F(Batches, ASourceOfTheStreamIsReadInItsOrder) {
  const Stream stream;
  const Array<std::uint8_t> target(3);
  Bytes source{1, 2, 3}; // pageable
  Gate gate(stream);
  const auto write = [](void* data) { std::memset(data, 7, 3); };
  ASSERT_EQ(cuLaunchHostFunc(stream, write, source.data()), CUDA_SUCCESS);
  CUdeviceptr to = target.address();
  CUdeviceptr from = address_of(source.data());
  std::size_t size = 3;
  std::size_t index = 0;
  auto attributes = in_order(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
  ASSERT_EQ(
      cuMemcpyBatchAsync_v2(
          &to, &from, &size, 1, &attributes, &index, 1, stream),
      CUDA_SUCCESS);
  gate.open();
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(target.values(), (Bytes{7, 7, 7}));
}

TEST_F(Batches, AllOrNothingIsCopied) {
  const Stream stream;
  const Array<std::uint8_t> target(4);
  Bytes source{1, 2, 3, 4};
  CUdeviceptr to[] = {target.address(), target.address(2)};
  CUdeviceptr from[] = {address_of(source.data()), address_of(source.data())};
  std::size_t sizes[] = {1, 3}; // beyond the end
  std::size_t indices[] = {0, 1};
  CUmemcpyAttributes attributes[] = {
      in_order(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM),
      in_order(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM)};
  std::size_t failed = 99;
  const auto copy = [&](std::size_t count, std::size_t attribute_count) {
    return cuMemcpyBatchAsync(
        to,
        from,
        sizes,
        count,
        attributes,
        indices,
        attribute_count,
        &failed,
        stream);
  };
  EXPECT_EQ(copy(2, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed, 1u);
  sizes[1] = 2;
  EXPECT_EQ(copy(2, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(target.values(), (Bytes{1, 0, 1, 2}));
  EXPECT_EQ(copy(2, 3), CUDA_ERROR_INVALID_VALUE); // more than copies
  EXPECT_EQ(copy(0, 0), CUDA_ERROR_INVALID_VALUE);
  indices[0] = 1; // the first copy has none
  EXPECT_EQ(copy(2, 1), CUDA_ERROR_INVALID_VALUE);
  indices[0] = indices[1] = 0; // do not increase
  EXPECT_EQ(copy(2, 2), CUDA_ERROR_INVALID_VALUE);
  indices[1] = 1;
  attributes[1] = {}; // no order
  EXPECT_EQ(copy(2, 2), CUDA_ERROR_INVALID_VALUE);
  attributes[1] = attributes[0];
  EXPECT_EQ(
      cuMemcpyBatchAsync_v2(
          to, from, sizes, 2, attributes, indices, 1, CU_STREAM_LEGACY),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Batches, BoxesAreCopied) {
  std::mt19937 random(13);
  const auto draw = [&](std::size_t least, std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(least, most)(random);
  };
  const Stream stream;
  for (int round = 0; round < 30; ++round) {
    constexpr std::size_t kBytes = 2000;
    Bytes source(kBytes);
    for (auto& byte : source) {
      byte = static_cast<std::uint8_t>(draw(1, 255));
    }
    const Array<std::uint8_t> target(kBytes);
    CUDA_MEMCPY3D_BATCH_OP box{};
    box.extent = {draw(1, 9), draw(1, 5), draw(1, 4)};
    box.srcAccessOrder =
        static_cast<CUmemcpySrcAccessOrder>(draw(1, 3)); // all of them
    const auto place = [&](CUmemcpy3DOperand* operand, CUdeviceptr memory) {
      operand->type = CU_MEMCPY_OPERAND_TYPE_POINTER;
      operand->op.ptr.ptr = memory;
      const bool tight = draw(0, 1) != 0;
      operand->op.ptr.rowLength = tight ? 0 : box.extent.width + draw(0, 4);
      operand->op.ptr.layerHeight = tight ? 0 : box.extent.height + draw(0, 3);
    };
    place(&box.src, address_of(source.data()));
    place(&box.dst, target.address());
    Bytes expected(kBytes);
    const auto at = [&](const CUmemcpy3DOperand& operand,
                        std::size_t x,
                        std::size_t y,
                        std::size_t z) {
      const auto& p = operand.op.ptr;
      const std::size_t row = p.rowLength != 0 ? p.rowLength : box.extent.width;
      const std::size_t rows =
          p.layerHeight != 0 ? p.layerHeight : box.extent.height;
      return (z * rows + y) * row + x;
    };
    for (std::size_t z = 0; z < box.extent.depth; ++z) {
      for (std::size_t y = 0; y < box.extent.height; ++y) {
        for (std::size_t x = 0; x < box.extent.width; ++x) {
          expected[at(box.dst, x, y, z)] = source[at(box.src, x, y, z)];
        }
      }
    }
    ASSERT_EQ(cuMemcpy3DBatchAsync(1, &box, 0, stream), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(target.values(), expected) << round;
    box.extent.height = 0;
    EXPECT_EQ(
        cuMemcpy3DBatchAsync(1, &box, 0, stream), CUDA_ERROR_INVALID_VALUE);
    box.extent.height = 1;
    box.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    EXPECT_EQ(
        cuMemcpy3DBatchAsync(1, &box, 0, stream), CUDA_ERROR_INVALID_HANDLE);
  }
}

} // namespace
} // namespace accelerator::driver::testing

// Filling memory.
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

using Fills = ContextTest;

CUdeviceptr address_of(const void* host) {
  return reinterpret_cast<CUdeviceptr>(host);
}

std::vector<int> ascending(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST_F(Fills, ElementsOfOneTwoAndFourBytesAreFilled) {
  const Array<std::uint8_t> array(16);
  ASSERT_EQ(cuMemsetD8(array.address(), 0xab, 3), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD16(array.address(4), 0x1234, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(array.address(8), 0x55667788, 1), CUDA_SUCCESS);
  const std::vector<std::uint8_t> wanted{
      0xab,
      0xab,
      0xab,
      0,
      0x34,
      0x12,
      0x34,
      0x12,
      0x88,
      0x77,
      0x66,
      0x55,
      0,
      0,
      0,
      0};
  EXPECT_EQ(array.values(), wanted);
}

TEST_F(Fills, FillsInAStreamWaitForIt) {
  const Array<std::uint8_t> array(8);
  {
    const Stream stream;
    Gate gate(stream);
    ASSERT_EQ(cuMemsetD8Async(array.address(), 7, 2, stream), CUDA_SUCCESS);
    ASSERT_EQ(
        cuMemsetD16Async(array.address(2), 0x0908, 1, stream), CUDA_SUCCESS);
    ASSERT_EQ(
        cuMemsetD32Async(array.address(4), 0x0d0c0b0a, 1, stream),
        CUDA_SUCCESS);
    EXPECT_EQ(array.values(), std::vector<std::uint8_t>(8));
    gate.open();
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(
      array.values(), (std::vector<std::uint8_t>{7, 7, 8, 9, 10, 11, 12, 13}));
}

TEST_F(Fills, NothingIsFilledAndCopiedWithoutError) {
  const Array<int> array(ascending(4));
  char host = 0;
  // As of cudaMemset, whatever the address.
  for (const CUdeviceptr to :
       {CUdeviceptr{0}, array.address(), array.address(4), address_of(&host)}) {
    EXPECT_EQ(cuMemsetD8(to, 1, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD16(to, 1, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32(to, 1, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8Async(to, 1, 0, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD16Async(to, 1, 0, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32Async(to, 1, 0, nullptr), CUDA_SUCCESS);
    for (const auto& [width, height] : {std::pair{0, 2}, {2, 0}, {0, 0}}) {
      EXPECT_EQ(cuMemsetD2D8(to, 8, 1, width, height), CUDA_SUCCESS);
      EXPECT_EQ(cuMemsetD2D16(to, 8, 1, width, height), CUDA_SUCCESS);
      EXPECT_EQ(cuMemsetD2D32(to, 8, 1, width, height), CUDA_SUCCESS);
      EXPECT_EQ(
          cuMemsetD2D8Async(to, 8, 1, width, height, nullptr), CUDA_SUCCESS);
      EXPECT_EQ(
          cuMemsetD2D16Async(to, 8, 1, width, height, nullptr), CUDA_SUCCESS);
      EXPECT_EQ(
          cuMemsetD2D32Async(to, 8, 1, width, height, nullptr), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuMemcpy(to, to, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(to, &host, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoH(&host, to, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoD(to, to, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyAsync(to, to, 0, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoDAsync(to, &host, 0, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoHAsync(&host, to, 0, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyDtoDAsync(to, to, 0, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyPeer(to, context, to, context, 0), CUDA_SUCCESS);
  }
  EXPECT_EQ(array.values(), ascending(4));
}

// What a program asks for by an attribute of the memory.
TEST_F(Fills, OfMemoryThatIsSynchronousAreDoneWhenTheyReturn) {
  const Array<std::uint8_t> array(1 << 20);
  unsigned synchronous = 9;
  constexpr auto kSync = CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
  const auto ask = [&] {
    EXPECT_EQ(
        cuPointerGetAttribute(&synchronous, kSync, array.address()),
        CUDA_SUCCESS);
    return synchronous;
  };
  EXPECT_EQ(ask(), 0u);
  synchronous = 1;
  ASSERT_EQ(
      cuPointerSetAttribute(&synchronous, kSync, array.address(5)),
      CUDA_SUCCESS);
  EXPECT_EQ(ask(), 1u);
  ASSERT_EQ(cuMemsetD8(array.address(), 7, array.bytes()), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_SUCCESS); // nothing is left to do
  EXPECT_EQ(
      cuPointerSetAttribute(
          &synchronous, CU_POINTER_ATTRIBUTE_CONTEXT, array.address()),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuPointerSetAttribute(nullptr, kSync, array.address()),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuPointerSetAttribute(&synchronous, kSync, 8), CUDA_ERROR_INVALID_VALUE);
}

// Unlike fills of a device's memory, of which a program waits itself.
TEST_F(Fills, FillsOfTheHostsMemoryAreDoneWhenTheyReturn) {
  void* memory = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&memory, 1 << 20, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8(address_of(memory), 7, 1 << 20), CUDA_SUCCESS);
  EXPECT_EQ(static_cast<char*>(memory)[0], 7);
  EXPECT_EQ(static_cast<char*>(memory)[(1 << 20) - 1], 7);
  EXPECT_EQ(cuMemFreeHost(memory), CUDA_SUCCESS);
}

TEST_F(Fills, RowsAreFilledAtTheirPitch) {
  const Array<std::uint8_t> bytes(12);
  ASSERT_EQ(cuMemsetD2D8(bytes.address(), 4, 5, 3, 3), CUDA_SUCCESS);
  EXPECT_EQ(
      bytes.values(),
      (std::vector<std::uint8_t>{5, 5, 5, 0, 5, 5, 5, 0, 5, 5, 5, 0}));
  const Array<std::uint32_t> words(6);
  ASSERT_EQ(cuMemsetD2D32(words.address(), 12, 9, 2, 2), CUDA_SUCCESS);
  EXPECT_EQ(words.values(), (std::vector<std::uint32_t>{9, 9, 0, 9, 9, 0}));
  EXPECT_EQ(cuMemsetD2D8(bytes.address(), 2, 5, 3, 3), CUDA_ERROR_INVALID_VALUE)
      << "rows longer than their pitch";
}

TEST_F(Fills, RowsAreFilledInAStream) {
  const Array<std::uint8_t> bytes(8);
  const Array<std::uint16_t> halves(6);
  const Array<std::uint32_t> words(6);
  const Stream stream;
  Gate gate(stream);
  ASSERT_EQ(
      cuMemsetD2D8Async(bytes.address(), 4, 5, 3, 2, stream), CUDA_SUCCESS);
  ASSERT_EQ(
      cuMemsetD2D16Async(halves.address(), 6, 700, 2, 2, stream), CUDA_SUCCESS);
  ASSERT_EQ(
      cuMemsetD2D32Async(words.address(), 12, 9, 2, 2, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  gate.open();
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(
      bytes.values(), (std::vector<std::uint8_t>{5, 5, 5, 0, 5, 5, 5, 0}));
  EXPECT_EQ(
      halves.values(), (std::vector<std::uint16_t>{700, 700, 0, 700, 700, 0}));
  EXPECT_EQ(words.values(), (std::vector<std::uint32_t>{9, 9, 0, 9, 9, 0}));
  EXPECT_EQ(
      cuMemsetD2D8Async(bytes.address(), 2, 5, 3, 3, stream),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemsetD2D16Async(halves.address(1), 5, 5, 2, 2, stream),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuMemsetD2D32Async(words.address(), 4, 5, 2, 2, stream),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Fills, FillsThatAreCrookedOrTooLongAreRefused) {
  const Array<std::uint8_t> array(8);
  EXPECT_EQ(cuMemsetD16(array.address(1), 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(array.address(2), 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(array.address(), 1, 9), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(0, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(array.values(), std::vector<std::uint8_t>(8));
}

TEST_F(Fills, AStreamWritesAWord) {
  const Array<int> array(std::vector<int>{1, 2, 3});
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(
      cuStreamWriteValue32(stream, array.address() + sizeof(int), 7, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(array.values(), (std::vector<int>{1, 7, 3}));
  EXPECT_EQ(
      cuStreamWriteValue32(stream, array.address(), 7, 8),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(cuStreamWriteValue32(stream, 16, 7, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing

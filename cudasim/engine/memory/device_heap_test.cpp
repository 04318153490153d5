// The heap of malloc in kernels.
#include "cudasim/engine/memory/device_heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace cudasim::engine {
namespace {

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

TEST(DeviceHeap, GivesAsManyBytesAsItsLimit) {
  DeviceHeap heap;
  EXPECT_EQ(heap.limit(), 8u << 20);
  EXPECT_TRUE(heap.set_limit(1 << 20));
  EXPECT_EQ(heap.allocate((1 << 20) + 1), nullptr);
  EXPECT_EQ(heap.allocate(std::numeric_limits<std::uint64_t>::max()), nullptr);
  void* whole = heap.allocate(1 << 20);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(heap.allocate(1), nullptr);
  EXPECT_FALSE(heap.set_limit(2 << 20)) << "once it is in use";
  EXPECT_TRUE(heap.free(whole));
  for (int i = 0; i < 65536; ++i) {
    void* piece = heap.allocate(16);
    ASSERT_NE(piece, nullptr) << i;
    ASSERT_EQ(address_of(piece) % 16, 0u);
  }
  EXPECT_EQ(heap.allocate(16), nullptr);
}

TEST(DeviceHeap, ALimitThatNoHostHasGivesNothing) {
  DeviceHeap heap;
  EXPECT_TRUE(heap.set_limit(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(heap.allocate(16), nullptr);
  EXPECT_EQ(heap.allocate(std::numeric_limits<std::uint64_t>::max()), nullptr);
}

TEST(DeviceHeap, KnowsEveryByteThatItGave) {
  DeviceHeap heap;
  void* piece = heap.allocate(100);
  const std::uint64_t begin = address_of(piece);
  Range range;
  EXPECT_FALSE(heap.find(begin - 1, &range));
  ASSERT_TRUE(heap.find(begin + 99, &range));
  EXPECT_EQ(range.begin, begin);
  EXPECT_EQ(range.end, begin + 100);
  EXPECT_FALSE(range.read_only);
  EXPECT_FALSE(heap.find(begin + 100, &range));
  EXPECT_FALSE(heap.free(static_cast<char*>(piece) + 16));
  const std::uint64_t before = heap.generation();
  EXPECT_TRUE(heap.free(piece));
  EXPECT_NE(heap.generation(), before);
  EXPECT_FALSE(heap.find(begin, &range));
  EXPECT_TRUE(heap.spans(begin));
  EXPECT_FALSE(heap.spans(begin - 1));
  EXPECT_FALSE(heap.free(piece)) << "twice";
  EXPECT_TRUE(heap.free(nullptr));
}

TEST(DeviceHeap, AWriteAfterTheFreeReachesNobody) {
  DeviceHeap heap;
  for (const std::uint64_t bytes : {64, 1 << 20}) {
    void* piece = heap.allocate(bytes);
    EXPECT_TRUE(heap.free(piece));
    std::memset(piece, 0xff, bytes); // must not crash
  }
}

TEST(DeviceHeap, ResettingForgetsWhatItGaveAndItsLimit) {
  DeviceHeap heap;
  EXPECT_TRUE(heap.set_limit(1 << 20));
  const std::uint64_t begin = address_of(heap.allocate(1 << 20));
  const std::uint64_t before = heap.generation();
  heap.reset();
  Range range;
  EXPECT_FALSE(heap.find(begin, &range));
  EXPECT_NE(heap.generation(), before);
  EXPECT_EQ(heap.limit(), DeviceHeap::kDefaultLimit);
  EXPECT_TRUE(heap.set_limit(2 << 20));
  EXPECT_NE(heap.allocate(2 << 20), nullptr);
}

} // namespace
} // namespace cudasim::engine

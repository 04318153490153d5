// Memory of devices: sizes, alignment, addresses, how much there is.
#include <algorithm>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using MemoryTest = Device;

TEST_F(MemoryTest, HasAllSizes) {
  for (uint64_t size :
       {1, 2, 3, 255, 256, 257, 4095, 4096, 4097, 65537, 3000001}) {
    Memory memory(api(), 0, size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 256, 0u) << size;
    const auto wanted = bytes(size);
    write(stream, memory, wanted);
    EXPECT_EQ(read(stream, memory), wanted) << size;
  }
}

TEST_F(MemoryTest, IsAligned) {
  for (uint64_t alignment = 1; alignment <= (1 << 21); alignment *= 2)
    for (uint64_t size : {1, 5000}) {
      Memory memory(api(), 0, size, alignment);
      const auto address = reinterpret_cast<uintptr_t>(memory.get());
      EXPECT_EQ(address % std::max<uint64_t>(alignment, 256), 0u) << alignment;
      const auto wanted = bytes(size, 3);
      write(stream, memory, wanted);
      EXPECT_EQ(read(stream, memory), wanted);
    }
}

TEST_F(MemoryTest, AllowsArithmetic) {
  Memory memory(api(), 0, 10000);
  auto wanted = bytes(10000);
  write(stream, memory, wanted);
  const auto piece = bytes(101, 9);
  const accel_copy copy =
      row(memory.get() + 4567, 0, piece.data(), ACCEL_HOST, piece.size());
  ASSERT_OK(api().copy(stream, &copy));
  std::copy(piece.begin(), piece.end(), wanted.begin() + 4567);
  EXPECT_EQ(read(stream, memory), wanted);
}

// Addresses are unlike all others of the process, those of other devices too.
TEST_F(MemoryTest, DoesNotOverlap) {
  std::vector<Memory> all;
  std::vector<std::pair<uintptr_t, uintptr_t>> ranges;
  std::vector<std::vector<unsigned char>> host(50);
  for (auto& one : host) {
    one.resize(5000);
    const auto begin = reinterpret_cast<uintptr_t>(one.data());
    ranges.emplace_back(begin, begin + one.size());
  }
  for (int i = 0; i < 100; ++i) {
    all.emplace_back(api(), i % devices(), 1 + i * 97);
    const auto begin = reinterpret_cast<uintptr_t>(all.back().get());
    ranges.emplace_back(begin, begin + all.back().bytes());
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    EXPECT_LE(ranges[i - 1].second, ranges[i].first);
}

TEST_F(MemoryTest, KeepsNeighboursApart) {
  std::vector<Memory> all;
  for (unsigned i = 0; i < 20; ++i) {
    all.emplace_back(api(), 0, 1000 + i);
    write(stream, all.back(), bytes(1000 + i, i));
  }
  for (unsigned i = 0; i < all.size(); i += 2)
    write(stream, all[i], bytes(1000 + i, 100 + i));
  for (unsigned i = 0; i < all.size(); ++i)
    EXPECT_EQ(read(stream, all[i]), bytes(1000 + i, i % 2 == 0 ? 100 + i : i));
}

TEST_F(MemoryTest, InfoCountsWhatIsTakenAndGivenBack) {
  for (int32_t device = 0; device < devices(); ++device) {
    uint64_t before = 0, during = 0, after = 0, total = 0;
    ASSERT_OK(api().memory_info(device, &before, &total));
    EXPECT_LE(before, total);
    EXPECT_LE(total, library().devices()[device].total_memory);
    {
      Memory memory(api(), device, 1 << 20);
      ASSERT_OK(api().memory_info(device, &during, &total));
      EXPECT_LE(during + (1 << 20), before);
    }
    ASSERT_OK(api().memory_info(device, &after, &total));
    EXPECT_EQ(after, before);
  }
}

TEST_F(MemoryTest, MoreThanThereIsIsOutOfMemory) {
  uint64_t before = 0, after = 0, total = 0;
  ASSERT_OK(api().memory_info(0, &before, &total));
  for (uint64_t bytes : {total + 1, 2 * total, UINT64_MAX}) {
    void* address = this;
    ASSERT_STATUS(
        ACCEL_OUT_OF_MEMORY, api().memory_allocate(0, bytes, 0, &address));
    expect_text({"memory_allocate", std::to_string(bytes)});
    EXPECT_EQ(address, this) << "changed by a function that failed";
  }
  ASSERT_OK(api().memory_info(0, &after, &total));
  EXPECT_EQ(after, before);
  Memory memory(api(), 0, 1000);
}

// Fills a device up, at most 64 pieces of memory that nobody touches.
TEST_F(MemoryTest, CanBeUsedUpAndGivenBack) {
  uint64_t free = 0, total = 0;
  ASSERT_OK(api().memory_info(0, &free, &total));
  const uint64_t piece = std::max<uint64_t>(free / 50, 1);
  std::vector<Memory> all;
  accel_status status = ACCEL_OK;
  while (status == ACCEL_OK && all.size() < 64) {
    try {
      all.emplace_back(api(), 0, piece);
    } catch (const StatusError& error) {
      status = error.status();
    }
  }
  EXPECT_EQ(status, ACCEL_OUT_OF_MEMORY);
  EXPECT_GE(all.size(), 10u) << "pieces of a fiftieth of what is free";
  all.clear();
  uint64_t after = 0;
  ASSERT_OK(api().memory_info(0, &after, &total));
  // A device may give up what it keeps for itself when there is no more.
  EXPECT_GE(after, free);
  Memory memory(api(), 0, piece);
  EXPECT_TRUE(memory.get());
}

TEST_F(MemoryTest, IsVisibleToTheHostWhereItSaysSo) {
  NEEDS(0, ACCEL_CAP_HOST_VISIBLE);
  Memory memory(api(), 0, 5000);
  const auto wanted = bytes(5000);
  write(stream, memory, wanted);
  EXPECT_TRUE(std::equal(
      wanted.begin(),
      wanted.end(),
      reinterpret_cast<unsigned char*>(memory.get())));
  memory.get()[4999] = 42;
  EXPECT_EQ(read(stream, memory)[4999], 42);
}

} // namespace
} // namespace accelerator::conformance

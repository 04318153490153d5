// The division of address space.
#include "cudasim/engine/memory/range_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace cudasim::engine {
namespace {

TEST(RangeAllocator, PiecesAreAlignedAndHaveGapsBetweenThem) {
  RangeAllocator space(1 << 20, 1 << 20, 4096);
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> pieces; // begin, end
  for (int round = 0; round < 2000; ++round) {
    if (random() % 2 == 0 && !pieces.empty()) {
      auto piece = pieces.begin();
      std::advance(piece, random() % pieces.size());
      EXPECT_TRUE(space.release(piece->first));
      pieces.erase(piece);
      continue;
    }
    const std::uint64_t bytes = 1 + random() % 20000;
    const std::uint64_t alignment = std::uint64_t{512} << random() % 4;
    const auto begin = space.allocate(bytes, alignment);
    if (!begin) {
      continue;
    }
    EXPECT_EQ(*begin % alignment, 0u);
    const auto above = pieces.lower_bound(*begin);
    if (above != pieces.end()) {
      EXPECT_GE(above->first, *begin + bytes + 4096);
    }
    if (above != pieces.begin()) {
      EXPECT_GE(*begin, std::prev(above)->second + 4096);
    }
    pieces[*begin] = *begin + bytes;
  }
}

TEST(RangeAllocator, WhatIsFreedGrowsTogetherAgain) {
  RangeAllocator space(0x10000, 0x10000, 0);
  const auto first = space.allocate(0x8000, 512);
  const auto second = space.allocate(0x8000, 512);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(space.allocate(512, 512).has_value());
  EXPECT_TRUE(space.release(*first));
  EXPECT_FALSE(space.release(*first));
  EXPECT_TRUE(space.release(*second));
  EXPECT_EQ(space.allocate(0x10000, 512), 0x10000u);
}

} // namespace
} // namespace cudasim::engine

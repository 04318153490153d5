// CUDASIM_CHECK=1: what of fresh memory counts as not written.
#include <gtest/gtest.h>

#include <cstddef>

#include "cudasim/backend/memory/memory.h"
#include "cudasim/engine/memory/poison.h"

namespace cudasim::backend {
namespace {

constexpr std::uint64_t kCapacity = 1 << 20;

TEST(Poisoned, AreTheWholeWordsOfAnAllocation) {
  AddressMap addresses{1};
  Memory memory{addresses, 0, kCapacity, true, false};
  // The same place again: what was there before is no word of this one.
  memory.release(memory.allocate(64, 1));
  const std::uint64_t begin = memory.allocate(13, 1);
  EXPECT_TRUE(engine::is_poisoned(begin, 12));
  EXPECT_FALSE(engine::is_poisoned(begin + 12, 1));
  EXPECT_EQ(engine::find_unwritten(begin, begin + 13).bytes, 12u);
  EXPECT_FALSE(engine::is_poisoned(memory.allocate(3, 1), 3));
}

} // namespace
} // namespace cudasim::backend

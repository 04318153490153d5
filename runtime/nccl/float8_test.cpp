// 8-bit floats of NCCL 2.24 and later: they are moved, and not reduced.
#include <cstdint>

#include "runtime/nccl/testing/ranks.h"

namespace accelerator::nccl::testing {
namespace {

constexpr std::size_t kCount = 37;

TEST(Float8, IsMovedAndNotReduced) {
  for (const int code : {10, 11}) {
    const auto type = static_cast<ncclDataType_t>(code);
    run({1, 1}, [type](Rank& own) {
      std::vector<std::uint8_t> mine;
      for (std::size_t i = 0; i < kCount; ++i) {
        mine.push_back(
            static_cast<std::uint8_t>(7 * i + std::size_t{100} * own.rank));
      }
      const Array<std::uint8_t> send(mine);
      const Array<std::uint8_t> all(2 * kCount);
      EXPECT_EQ(
          ncclAllReduce(
              send.data(),
              all.data(),
              kCount,
              type,
              ncclSum,
              own.comm,
              own.stream),
          ncclInvalidArgument);
      EXPECT_NE(
          std::string(ncclGetLastError(nullptr)).find("not reduced"),
          std::string::npos);
      ASSERT_NCCL(ncclAllGather(
          send.data(), all.data(), kCount, type, own.comm, own.stream));
      own.synchronize();
      const auto found = all.values();
      for (std::size_t i = 0; i < kCount; ++i) {
        EXPECT_EQ(found[i], static_cast<std::uint8_t>(7 * i));
        EXPECT_EQ(found[kCount + i], static_cast<std::uint8_t>(7 * i + 100));
      }
    });
  }
}

} // namespace
} // namespace accelerator::nccl::testing

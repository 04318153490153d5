// CUDASIM_PADDING=read: which reads behind the end of an allocation go on.
#include <gtest/gtest.h>

#include <string>

#include "cudasim/backend/memory/memory.h"

namespace cudasim::backend {
namespace {

constexpr std::uint64_t kCapacity = 1 << 20;

class Padding : public ::testing::Test {
 protected:
  bool may_read(std::uint64_t from, std::uint64_t to) {
    return addresses.view(0).may_read_padding(from, to, "_Z4scanPi");
  }

  AddressMap addresses{1};
  Memory padded{addresses, 0, kCapacity, false, true};
};

TEST_F(Padding, EndsWithTheLastUnitOfTheAllocation) {
  const std::uint64_t begin = padded.allocate(40, 1);
  EXPECT_TRUE(may_read(begin + 40, begin + 44));
  EXPECT_TRUE(may_read(begin + 36, begin + 44));
  EXPECT_TRUE(may_read(begin + 508, begin + 512));
  EXPECT_FALSE(may_read(begin + 508, begin + 516));
  EXPECT_FALSE(may_read(begin + 512, begin + 516));
  EXPECT_FALSE(may_read(begin - 4, begin));
  EXPECT_FALSE(may_read(begin + 40, begin));
  padded.release(begin);
  EXPECT_FALSE(may_read(begin + 40, begin + 44));
}

TEST_F(Padding, IsNotThereWhereTheAllocationFillsItsUnits) {
  const std::uint64_t begin = padded.allocate(1024, 1);
  EXPECT_FALSE(may_read(begin + 1024, begin + 1028));
}

TEST_F(Padding, IsReportedOnceForAKernel) {
  const std::uint64_t begin = padded.allocate(40, 1);
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(may_read(begin + 40, begin + 44));
  EXPECT_TRUE(may_read(begin + 44, begin + 48));
  const std::string report = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(report.find("of 40 bytes"), std::string::npos) << report;
  EXPECT_NE(report.find("scan(int*)"), std::string::npos) << report;
  EXPECT_EQ(report.find("Read of"), report.rfind("Read of")) << report;
}

TEST_F(Padding, IsNoMemoryWithoutTheSetting) {
  Memory plain{addresses, 0, kCapacity, false, false};
  const std::uint64_t begin = plain.allocate(40, 1);
  EXPECT_FALSE(may_read(begin + 40, begin + 44));
}

} // namespace
} // namespace cudasim::backend

// How the environment's values are read.
#include "runtime/core/machine/settings.h"

#include <gtest/gtest.h>

#include "runtime/core/machine/properties.h"

namespace accelerator::runtime {
namespace {

std::string uuid_of(unsigned char last) {
  unsigned char uuid[16] = {'d', 'e', 'v', 'i', 'c', 'e'};
  uuid[15] = last;
  return uuid_text(uuid);
}

TEST(Settings, TheListOfVisibleDevicesEndsAtTheFirstThatIsNone) {
  const std::vector<std::string> uuids = {uuid_of(0), uuid_of(1), uuid_of(2)};
  using Devices = std::vector<int>;
  EXPECT_EQ(parse_visible_devices("2,0", 3, uuids), (Devices{2, 0}));
  EXPECT_EQ(parse_visible_devices("1,7,0", 3, uuids), (Devices{1}));
  EXPECT_EQ(parse_visible_devices("", 3, uuids), Devices{});
  EXPECT_EQ(parse_visible_devices("-1", 3, uuids), Devices{});
  EXPECT_EQ(parse_visible_devices("1,1", 3, uuids), Devices{});
  EXPECT_EQ(parse_visible_devices(uuids[1], 3, uuids), Devices{1});
}

} // namespace
} // namespace accelerator::runtime

// How the environment's values are read.
#include "cudasim/device/machine/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cudasim/device/machine/profiles.h"
#include "cudasim/device/status/status.h"

namespace cudasim::device {
namespace {

TEST(Settings, SizesHaveUnitsOf1024) {
  EXPECT_EQ(parse_size("512M"), std::uint64_t{512} << 20);
  EXPECT_EQ(parse_size("8GiB"), std::uint64_t{8} << 30);
  EXPECT_EQ(parse_size("123"), 123u);
  for (const char* bad : {"", "0", "-1", "8X", "8Gx", "999999T"}) {
    EXPECT_FALSE(parse_size(bad).has_value()) << bad;
  }
}

TEST(Settings, TheListOfVisibleDevicesEndsAtTheFirstThatIsNone) {
  const std::vector<std::string> uuids = {
      device_uuid_text(0), device_uuid_text(1), device_uuid_text(2)};
  using Devices = std::vector<int>;
  EXPECT_EQ(parse_visible_devices("2,0", 3, uuids), (Devices{2, 0}));
  EXPECT_EQ(parse_visible_devices("1,7,0", 3, uuids), (Devices{1}));
  EXPECT_EQ(parse_visible_devices("", 3, uuids), Devices{});
  EXPECT_EQ(parse_visible_devices("-1", 3, uuids), Devices{});
  EXPECT_EQ(parse_visible_devices("1,1", 3, uuids), Devices{});
  EXPECT_EQ(parse_visible_devices(uuids[1], 3, uuids), Devices{1});
}

TEST(Settings, AWrongValueIsNamedWithWhatIsAllowed) {
  setenv("CUDASIM_PROFILE", "sm_35", 1);
  try {
    read_settings();
    FAIL() << "was accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), cudaErrorInitializationError);
    EXPECT_EQ(
        failure.message(),
        "CUDASIM_PROFILE=sm_35 is not allowed: write sm_80 or sm_90");
  }
  unsetenv("CUDASIM_PROFILE");
}

} // namespace
} // namespace cudasim::device

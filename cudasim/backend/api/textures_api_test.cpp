// What texture_create takes, and what it says of what it does not.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "cudasim/backend/api/api.h"

namespace cudasim::backend {
namespace {

class TexturesOfTheAbi : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_EQ(get_api(ACCEL_ABI_VERSION)->initialize(""), ACCEL_OK);
  }
  void SetUp() override {
    ASSERT_EQ(api_.memory_allocate(0, 1 << 16, 0, &memory_), ACCEL_OK);
    level_.address = memory_;
    level_.width = 8;
    level_.height = 8;
    level_.depth = 1;
    level_.pitch = 32;
    level_.slice = 256;
    texture_.struct_size = sizeof(texture_);
    texture_.levels = &level_;
    texture_.level_count = 1;
    texture_.dimensions = 2;
    texture_.kind = ACCEL_CHANNEL_FLOAT;
    texture_.channel_bits = 32;
    texture_.channels = 1;
  }
  void TearDown() override {
    api_.memory_free(0, memory_);
  }

  /// What is said of a texture that differs from a good one.
  std::string refusal(
      const std::function<void(accel_texture&, accel_texture_level&)>& change) {
    accel_texture texture = texture_;
    accel_texture_level level = level_;
    texture.levels = &level;
    change(texture, level);
    std::uint64_t handle = 0;
    const accel_status status = api_.texture_create(0, &texture, &handle);
    if (status == ACCEL_OK) {
      EXPECT_EQ(api_.texture_destroy(0, handle), ACCEL_OK);
      return "taken";
    }
    EXPECT_EQ(status, ACCEL_INVALID_ARGUMENT);
    EXPECT_EQ(handle, 0u);
    return api_.last_error();
  }

  const accel_api& api_ = *get_api(ACCEL_ABI_VERSION);
  void* memory_ = nullptr;
  accel_texture_level level_ = {};
  accel_texture texture_ = {};
};

TEST_F(TexturesOfTheAbi, AreRefusedWithWhatIsNeeded) {
  using Texture = accel_texture;
  using Level = accel_texture_level;
  struct Case {
    std::function<void(Texture&, Level&)> change;
    const char* said;
  };
  const Case cases[] = {
      {[](Texture& t, Level&) { t.levels = nullptr; }, "one level or more"},
      {[](Texture& t, Level&) { t.level_count = 0; }, "one level or more"},
      {[](Texture& t, Level&) { t.struct_size = 8; }, "struct_size is 8"},
      {[](Texture& t, Level&) { t.dimensions = 4; }, "dimensions is 4"},
      {[](Texture& t, Level&) { t.channels = 3; }, "channels is 3"},
      {[](Texture& t, Level&) { t.channel_bits = 8; }, "channel_bits is 8"},
      {[](Texture& t, Level&) { t.kind = static_cast<accel_channel_kind>(7); },
       "kind is 7"},
      {[](Texture& t, Level&) {
         t.address_modes[1] = static_cast<accel_address_mode>(9);
       },
       "address_modes is 9"},
      {[](Texture& t, Level&) {
         t.kind = ACCEL_CHANNEL_UNSIGNED;
         t.filtered = 1;
         t.normalized_elements = 1;
       },
       "read as floating point"},
      {[](Texture& t, Level&) { t.srgb = 1; }, "srgb needs"},
      {[](Texture& t, Level&) { t.linear = 1; }, "linear memory"},
      {[](Texture& t, Level&) { t.dimensions = 1; }, "height is 8"},
      {[](Texture&, Level& l) { l.address = nullptr; }, "address of a level"},
      {[](Texture&, Level& l) { l.width = 0; }, "width is 0"},
      {[](Texture&, Level& l) { l.depth = 2; }, "depth is 2"},
      {[](Texture&, Level& l) { l.pitch = 31; }, "pitch is 31"},
      {[](Texture&, Level& l) { l.pitch = ~std::uint64_t{0}; }, "pitch is"},
      {[](Texture& t, Level& l) {
         t.layered = 1;
         l.depth = 2;
         l.slice = 255;
       },
       "slice is 255"},
      {[](Texture& t, Level& l) {
         t.layered = 1;
         l.depth = 2;
         l.slice = 258;
       },
       "multiple of a channel"},
      {[](Texture& t, Level&) { t.cubemap = 1; }, "depth is 1"},
      {[](Texture& t, Level& l) {
         t.cubemap = 1;
         l.depth = 12;
       },
       "depth is 12"},
      {[](Texture& t, Level& l) {
         t.cubemap = 1;
         l.depth = 6;
         l.height = 7;
       },
       "height is 7"},
      {[](Texture& t, Level&) { t.level_bias = __builtin_nanf(""); },
       "a level is no number"},
  };
  for (const Case& wrong : cases) {
    const std::string said = refusal(wrong.change);
    EXPECT_NE(said.find(wrong.said), std::string::npos)
        << said << ", not " << wrong.said;
  }
  EXPECT_EQ(refusal([](Texture&, Level&) {}), "taken");
  EXPECT_EQ(
      refusal([](Texture& t, Level& l) {
        t.cubemap = 1;
        t.layered = 1;
        l.depth = 12;
      }),
      "taken");
}

TEST_F(TexturesOfTheAbi, AreGoneAfterAReset) {
  std::uint64_t handle = 0;
  ASSERT_EQ(api_.texture_create(0, &texture_, &handle), ACCEL_OK);
  ASSERT_EQ(api_.device_reset(0), ACCEL_OK);
  EXPECT_EQ(api_.texture_destroy(0, handle), ACCEL_INVALID_ARGUMENT);
}

} // namespace
} // namespace cudasim::backend

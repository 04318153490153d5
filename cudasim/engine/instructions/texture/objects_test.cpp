// What kernels may ask of textures and surfaces, and what stops them: handles
// that are none, objects of another shape, memory that is gone.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "cudasim/engine/instructions/texture/testing/texture_kernel.h"
#include "cudasim/engine/instructions/texture/testing/texture_model.h"
#include "cudasim/engine/testing/coverage_record.h"

namespace cudasim::engine::testing {
namespace {

class Objects : public ::testing::Test {
 protected:
  /// Rows of numbers 0, 1, 2 and so on.
  Texture numbers(std::uint64_t width, std::uint64_t height) {
    std::vector<float> values(width * height);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
    }
    Texture texture;
    TextureLevel level;
    level.address = reinterpret_cast<std::uint64_t>(device_.copy_of(values));
    level.width = width;
    level.height = height;
    level.pitch = 4 * width;
    level.slice = level.pitch * height;
    texture.levels = {level};
    texture.dimensions = height == 1 ? 1 : 2;
    for (auto& mode : texture.addressing) {
      mode = Texture::Addressing::kClamp;
    }
    return texture;
  }

  static ThreadInput input_of(
      std::uint64_t handle,
      const std::vector<std::uint32_t>& words) {
    ThreadInput input;
    input.handle = handle;
    std::copy(words.begin(), words.end(), input.words.begin());
    return input;
  }

  std::string fault(
      const std::string& code,
      std::uint64_t handle,
      FaultKind kind,
      const std::vector<std::uint32_t>& words = {}) {
    return texture_fault(device_, code, {input_of(handle, words)}, kind);
  }

  void expect_fault(
      const std::string& code,
      const Texture& texture,
      FaultKind kind,
      const std::string& said,
      const std::vector<std::uint32_t>& words = {}) {
    const std::string report =
        fault(code, device_.textures().add(texture), kind, words);
    EXPECT_NE(report.find(said), std::string::npos) << report;
  }

  TestDevice device_;
};

const char* const kRead2d =
    "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1}];";
const char* const kFetch1d =
    "tex.1d.v4.f32.s32 {%d0, %d1, %d2, %d3}, [%t, {%i0}];";

TEST_F(Objects, AreFoundByEachThread) {
  const std::uint64_t first = device_.textures().add(numbers(8, 1));
  const std::uint64_t second = device_.textures().add(numbers(4, 1));
  std::vector<ThreadInput> inputs;
  for (std::uint32_t i = 0; i < 64; ++i) {
    inputs.push_back(input_of(i % 3 == 0 ? first : second, {i % 8}));
  }
  const auto is = run_texture_kernel(device_, kFetch1d, inputs);
  ASSERT_EQ(is.size(), inputs.size());
  for (std::uint32_t i = 0; i < 64; ++i) {
    const bool inside = i % 3 == 0 || i % 8 < 4;
    EXPECT_EQ(
        number_of(is[i].words[0]), inside ? static_cast<float>(i % 8) : 0.0f);
  }
}

TEST_F(Objects, ThatAreNoneStopTheKernel) {
  const std::uint64_t gone = device_.textures().add(numbers(8, 8));
  ASSERT_TRUE(device_.textures().remove(gone));
  EXPECT_FALSE(device_.textures().remove(gone));
  for (const std::uint64_t handle :
       {gone, std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    for (const char* code :
         {kRead2d,
          "suld.b.1d.b32.zero {%d0}, [%t, {%i0}];",
          "sust.b.1d.b32.zero [%t, {%i0}], {%d0};",
          "sured.b.add.1d.u32.zero [%t, {%i0}], %d0;",
          "txq.width.b32 %d0, [%t];"}) {
      const std::string report =
          fault(code, handle, FaultKind::kIllegalInstruction);
      EXPECT_NE(report.find("no texture or surface object"), std::string::npos)
          << report;
    }
  }
}

TEST_F(Objects, HaveTheShapeThatTheInstructionNames) {
  const auto expect =
      [&](const char* code, const Texture& texture, const char* said) {
        expect_fault(code, texture, FaultKind::kIllegalInstruction, said);
      };
  const char* const read_3d =
      "tex.3d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1, %i2, %i2}];";
  const char* const read_1d =
      "tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0}];";
  expect(read_3d, numbers(8, 8), "fewer dimensions");
  expect(read_1d, numbers(8, 8), "more dimensions");
  expect(
      "tex.a1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1}];",
      numbers(8, 1),
      "no layers");
  expect(
      "tex.cube.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1, %i2, %i2}];",
      numbers(8, 8),
      "no cubemap");
  Texture layered = numbers(8, 8);
  layered.layered = true;
  expect(kRead2d, layered, "has layers");
  expect("suld.b.2d.b32.zero {%d0}, [%t, {%i0, %i1}];", layered, "has layers");
  Texture linear = numbers(8, 1);
  linear.linear = true;
  expect(read_1d, linear, "whole coordinates");
  expect("suld.b.1d.b32.zero {%d0}, [%t, {%i0}];", linear, "no surface");
  expect(
      "sured.p.add.2d.b32.zero [%t, {%i0, %i1}], %d0;",
      numbers(8, 8),
      "whole number");
  // An array of one row may be read by one coordinate.
  Texture row = numbers(8, 1);
  row.dimensions = 2;
  const auto is = run_texture_kernel(
      device_,
      read_1d,
      {input_of(device_.textures().add(row), {word_of(3.5f)})});
  ASSERT_EQ(is.size(), 1u);
  EXPECT_EQ(number_of(is[0].words[0]), 3.0f);
}

TEST_F(Objects, AreReadWhereTheDeviceHasMemory) {
  Texture outside = numbers(8, 8);
  outside.levels[0].height = 1000000;
  outside.levels[0].slice = 32000000;
  expect_fault(
      kRead2d,
      outside,
      FaultKind::kIllegalAddress,
      "Invalid read of size 4",
      {0, word_of(900000.f)});
  const char* const store = "sust.b.2d.b32.trap [%t, {%i0, %i1}], {%d0};";
  expect_fault(
      store,
      outside,
      FaultKind::kIllegalAddress,
      "Invalid write of size 4",
      {0, 900000});
  expect_fault(
      store, numbers(8, 8), FaultKind::kMisalignedAddress, "size 4", {2, 0});
  for (const std::vector<std::uint32_t>& at :
       {std::vector<std::uint32_t>{32, 0}, {0, 8}, {0xfffffffc, 0}}) {
    expect_fault(
        store, numbers(8, 8), FaultKind::kTrap, "outside of the surface", at);
  }
}

TEST_F(Objects, HaveNoDepthsToCompareWith) {
  expect_fault(
      "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1}], %i2;",
      numbers(8, 8),
      FaultKind::kUnsupported,
      "depths");
  expect_fault(
      "tld4.r.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1}], {%i2, "
      "%i2}, %i3;",
      numbers(8, 8),
      FaultKind::kUnsupported,
      "depths");
}

// Coordinates that are far away or no numbers read something, and harm nothing.
TEST_F(Objects, TakeAllCoordinates) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float odd[] = {
      infinity, -infinity, std::nanf(""), 3e38f, -3e38f, 1e10f, -1e-40f};
  for (const bool normalized : {false, true}) {
    for (int mode = 0; mode < 4; ++mode) {
      for (const bool filtered : {false, true}) {
        Texture texture = numbers(5, 3);
        texture.normalized_coordinates = normalized;
        texture.filtered = filtered;
        for (auto& addressing : texture.addressing) {
          addressing = static_cast<Texture::Addressing>(mode);
        }
        const std::uint64_t handle = device_.textures().add(texture);
        std::vector<ThreadInput> inputs;
        for (const float x : odd) {
          for (const float y : odd) {
            inputs.push_back(input_of(handle, {word_of(x), word_of(y)}));
          }
        }
        for (const auto& is : run_texture_kernel(device_, kRead2d, inputs)) {
          EXPECT_GE(number_of(is.words[0]), 0.0f);
          EXPECT_LE(number_of(is.words[0]), 14.0f);
          EXPECT_EQ(is.words[3], 0u);
        }
      }
    }
  }
}

TEST_F(Objects, AreGatheredAtOffsetsOfSixBits) {
  const std::uint64_t handle = device_.textures().add(numbers(32, 3));
  const auto is = run_texture_kernel(
      device_,
      "tld4.r.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1}], "
      "{%i2, %i3};",
      {input_of(handle, {word_of(4.75f), word_of(1.25f), 12, 64})});
  ASSERT_FALSE(is.empty());
  const float expected[] = {48, 49, 17, 16};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(number_of(is[0].words[i]), expected[i]);
  }
}

TEST_F(Objects, AreClampedToTheLastAlignedPlace) {
  const std::uint64_t handle = device_.textures().add(numbers(6, 2));
  for (const std::uint32_t x : {16u, 32u, 1600u}) {
    const auto is = run_texture_kernel(
        device_,
        "suld.b.2d.v4.b32.clamp {%d0, %d1, %d2, %d3}, [%t, {%i0, %i1}];",
        {input_of(handle, {x, 0})});
    ASSERT_FALSE(is.empty());
    EXPECT_EQ(number_of(is[0].words[0]), 0.0f) << x;
    EXPECT_EQ(number_of(is[0].words[3]), 3.0f) << x;
  }
  for (const char* const mode : {"trap", "clamp", "zero"}) {
    fault(
        std::string("suld.b.2d.b32.") + mode + " %d0, [%t, {%i0, %i1}];",
        handle,
        FaultKind::kMisalignedAddress,
        {1002, 0});
  }
}

class Queries : public Objects {
 protected:
  std::uint32_t ask(
      const std::string& question,
      const Texture& texture,
      const std::string& level = "") {
    record_checked(question);
    const auto is = run_texture_kernel(
        device_,
        question + " %d0, [%t]" + level + ";",
        {input_of(device_.textures().add(texture), {1})});
    return is.empty() ? 0 : is[0].words[0];
  }
};

TEST_F(Queries, AreAnswered) {
  Texture texture = numbers(16, 8);
  TextureLevel half = texture.levels[0];
  half.width = 8;
  half.height = 4;
  texture.levels.push_back(half);
  EXPECT_EQ(ask("txq.width.b32", texture), 16u);
  EXPECT_EQ(ask("txq.height.b32", texture), 8u);
  EXPECT_EQ(ask("txq.depth.b32", texture), 1u);
  EXPECT_EQ(ask("txq.level.width.b32", texture, ", %i0"), 8u);
  EXPECT_EQ(ask("txq.level.height.b32", texture, ", 1"), 4u);
  EXPECT_EQ(ask("txq.level.depth.b32", texture, ", 1"), 1u);
  EXPECT_EQ(ask("txq.num_mipmap_levels.b32", texture), 2u);
  EXPECT_EQ(ask("txq.normalized_coords.b32", texture), 0u);
  texture.normalized_coordinates = true;
  EXPECT_EQ(ask("txq.normalized_coords.b32", texture), 1u);
  EXPECT_EQ(ask("suq.width.b32", texture), 16u);
  EXPECT_EQ(ask("suq.height.b32", texture), 8u);
  EXPECT_EQ(ask("suq.depth.b32", texture), 1u);
  Texture layered = texture;
  layered.layered = true;
  layered.levels[0].depth = 5;
  EXPECT_EQ(ask("txq.array_size.b32", layered), 5u);
  EXPECT_EQ(ask("suq.array_size.b32", layered), 5u);
  expect_fault(
      "txq.array_size.b32 %d0, [%t];",
      texture,
      FaultKind::kUnsupported,
      "no layers");
  expect_fault(
      "txq.level.width.b32 %d0, [%t], 2;",
      texture,
      FaultKind::kIllegalInstruction,
      "level");
}

// PTX ISA 5.3, tables of channel data types and orders.
TEST_F(Queries, OfFormatsAreAnswered) {
  struct Format {
    Texture::Channel channel;
    std::uint32_t bits;
    bool normalized;
    std::uint32_t number;
  };
  using Channel = Texture::Channel;
  Texture texture = numbers(16, 8);
  for (const Format& format :
       {Format{Channel::kSigned, 8, true, 0x10d0},
        {Channel::kSigned, 16, true, 0x10d1},
        {Channel::kUnsigned, 8, true, 0x10d2},
        {Channel::kUnsigned, 16, true, 0x10d3},
        {Channel::kSigned, 8, false, 0x10d7},
        {Channel::kSigned, 16, false, 0x10d8},
        {Channel::kSigned, 32, false, 0x10d9},
        {Channel::kUnsigned, 8, false, 0x10da},
        {Channel::kUnsigned, 16, false, 0x10db},
        {Channel::kUnsigned, 32, false, 0x10dc},
        {Channel::kFloat, 16, false, 0x10dd},
        {Channel::kFloat, 32, false, 0x10de}}) {
    texture.channel = format.channel;
    texture.channel_bits = format.bits;
    texture.normalized_elements = format.normalized;
    EXPECT_EQ(ask("txq.channel_data_type.b32", texture), format.number);
    EXPECT_EQ(ask("suq.channel_data_type.b32", texture), format.number);
  }
  texture.channels = 1;
  EXPECT_EQ(ask("txq.channel_order.b32", texture), 0x10b0u);
  texture.channels = 2;
  EXPECT_EQ(ask("txq.channel_order.b32", texture), 0x10b2u);
  texture.channels = 4;
  EXPECT_EQ(ask("suq.channel_order.b32", texture), 0x10b5u);
}

} // namespace
} // namespace cudasim::engine::testing

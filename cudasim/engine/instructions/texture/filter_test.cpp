// Mixtures of elements by the rules that were measured on an RTX 3060
// (pantheongpu/pantheonsim, nvidia/docs/textures.md).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "cudasim/engine/instructions/texture/filter.h"

namespace cudasim::engine {
namespace {

Texture of(
    Texture::Channel channel,
    std::uint32_t bits,
    std::uint32_t channels) {
  Texture texture;
  texture.channel = channel;
  texture.channel_bits = bits;
  texture.channels = channels;
  texture.normalized_elements = channel != Texture::Channel::kFloat;
  return texture;
}

struct Weighted {
  double units;
  std::int32_t weight;
};

std::uint32_t mixed(
    const Texture& texture,
    const std::vector<Weighted>& elements) {
  Mixture mixture(texture);
  for (const Weighted& element : elements) {
    mixture.add({element.units, 0, 0, 0}, element.weight);
  }
  return mixture.mixed()[0];
}

float single(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

const Texture kSingles = of(Texture::Channel::kFloat, 32, 1);

TEST(Filter, CutsSmallNumbersBesideLargeOnes) {
  // The sum of all bits is 0x3de20000.
  EXPECT_EQ(mixed(kSingles, {{2.75, 1}, {0.1f, 255}}), 0x3de1ffffu);
}

TEST(Filter, KeepsSignsOfZerosAndNoSubnormals) {
  EXPECT_EQ(mixed(kSingles, {{-0.0, 100}, {-0.0, 156}}), 0x80000000u);
  EXPECT_EQ(mixed(kSingles, {{-0.0, 100}, {0.0, 156}}), 0u);
  EXPECT_EQ(mixed(kSingles, {{1e-40, 256}}), 0u);
  EXPECT_EQ(mixed(kSingles, {{-1.2e-38, 1}, {0, 255}}), 0x80000000u);
}

TEST(Filter, GivesOneNaN) {
  EXPECT_EQ(mixed(kSingles, {{std::nan(""), 1}, {0, 255}}), 0x7fffffffu);
  EXPECT_EQ(mixed(kSingles, {{std::nan(""), 0}, {3, 256}}), 0x40400000u);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(mixed(kSingles, {{infinity, 128}, {-infinity, 128}}), 0x7fffffffu);
  EXPECT_EQ(mixed(kSingles, {{infinity, 1}, {7, 255}}), 0x7f800000u);
}

TEST(Filter, RoundsHalvesToHalves) {
  // 1 + 2^-10 is the next half after 1: the middle goes up.
  const Texture halves = of(Texture::Channel::kFloat, 16, 1);
  EXPECT_EQ(
      single(mixed(halves, {{1, 128}, {1 + 1.0 / 1024, 128}})),
      1 + 1.0f / 1024);
  EXPECT_EQ(single(mixed(halves, {{1, 129}, {1 + 1.0 / 1024, 127}})), 1.0f);
}

TEST(Filter, MixesWholeNumbersAsSuch) {
  const Texture wide = of(Texture::Channel::kUnsigned, 8, 1);
  EXPECT_EQ(
      single(mixed(wide, {{257, 128}, {514, 128}})),
      static_cast<float>(386.0 / 65535)); // 385.5
  const Texture codes = of(Texture::Channel::kSigned, 8, 1);
  EXPECT_EQ(single(mixed(codes, {{127, 256}})), 1.0f);
  EXPECT_EQ(single(mixed(codes, {{-128, 256}})), -1.0f);
  EXPECT_EQ(
      single(mixed(codes, {{1, 256}})), static_cast<float>(258.0 / 32767));
}

TEST(Filter, SplitsWeightsWithoutLoss) {
  for (std::int32_t weight = 0; weight <= kWholeWeight; ++weight) {
    for (std::int32_t part = 0; part < kWholeWeight; ++part) {
      const Shares up = split_upper(weight, part);
      const Shares down = split_lower(weight, part);
      ASSERT_EQ(up.lower + up.upper, weight);
      ASSERT_EQ(down.lower + down.upper, weight);
      ASSERT_EQ(up.upper, std::lround(std::floor(weight * part / 256.0 + 0.5)));
      ASSERT_GE(up.lower, 0);
      ASSERT_GE(down.upper, 0);
    }
  }
}

} // namespace
} // namespace cudasim::engine

#include "cudasim/engine/instructions/texture/filter.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

namespace cudasim::engine {
namespace {

/// Behind the first bit of the largest of a slice's numbers: bits that count.
constexpr int kSingleBits = 27;
constexpr int kHalfBits = 14;
/// The same of the weighted sum of a slice, and of the largest number of all.
constexpr int kSumBits = 28;

std::uint32_t single_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

bool is_half(const Texture& texture) {
  return texture.channel == Texture::Channel::kFloat &&
      texture.channel_bits == 16;
}

/// Numbers of single precision that are not normal count as zeros.
double normal_of(double value) {
  return std::fabs(value) < FLT_MIN ? std::copysign(0.0, value) : value;
}

/// To a number of so many bits, ties away from zero.
double rounded(double value, int bits, int least_exponent) {
  if (value == 0 || !std::isfinite(value)) {
    return value;
  }
  const int exponent = std::max(std::ilogb(value), least_exponent);
  const double unit = std::ldexp(1.0, exponent - (bits - 1));
  return std::copysign(std::floor(std::fabs(value) / unit + 0.5) * unit, value);
}

} // namespace

void Mixture::add(const std::array<double, 4>& units, std::int32_t weight) {
  if (weight != 0) {
    parts_[static_cast<std::size_t>(count_++)] = {units, weight, slices_};
  }
}

double Mixture::float_sum(std::uint32_t channel) const {
  constexpr int kNone = std::numeric_limits<int>::min();
  int exponents[8];
  std::fill(std::begin(exponents), std::end(exponents), kNone);
  int largest = kNone;
  double plain = 0;
  bool is_negative = true; // zeros
  for (int i = 0; i < count_; ++i) {
    const Part& part = parts_[static_cast<std::size_t>(i)];
    const double value = normal_of(part.units[channel]);
    plain += value * part.weight;
    is_negative = is_negative && value == 0 && std::signbit(value);
    if (value != 0 && std::isfinite(value)) {
      int& exponent = exponents[part.slice];
      exponent = std::max(exponent, std::ilogb(value));
      largest = std::max(largest, exponent);
    }
  }
  if (!std::isfinite(plain) || largest == kNone) {
    return is_negative ? -0.0 : plain;
  }
  const int bits = is_half(texture_) ? kHalfBits : kSingleBits;
  const double sum_unit = std::ldexp(1.0, largest - kSumBits);
  double sum = 0;
  for (int slice = 0; slice <= slices_; ++slice) {
    if (exponents[slice] == kNone) {
      continue;
    }
    const double unit = std::ldexp(1.0, exponents[slice] - bits);
    double of_slice = 0;
    for (int i = 0; i < count_; ++i) {
      const Part& part = parts_[static_cast<std::size_t>(i)];
      if (part.slice == slice) {
        of_slice += std::trunc(normal_of(part.units[channel]) / unit) * unit *
            part.weight;
      }
    }
    sum += std::floor(of_slice / sum_unit) * sum_unit;
  }
  return sum / kWholeWeight;
}

std::uint32_t Mixture::mixed_channel(std::uint32_t channel) const {
  if (texture_.channel == Texture::Channel::kFloat) {
    const double sum = float_sum(channel);
    if (std::isnan(sum)) {
      return is_half(texture_) ? 0x7fffe000u : 0x7fffffffu;
    }
    return single_bits(static_cast<float>(
        is_half(texture_) ? rounded(sum, 11, -14)
                          : normal_of(rounded(sum, 24, -126))));
  }
  double sum = 0;
  for (int i = 0; i < count_; ++i) {
    const Part& part = parts_[static_cast<std::size_t>(i)];
    sum += part.units[channel] * part.weight;
  }
  if (is_srgb(texture_, channel)) {
    return single_bits(static_cast<float>(sum / kWholeWeight));
  }
  if (texture_.channel == Texture::Channel::kUnsigned) {
    return single_bits(
        static_cast<float>(std::floor(sum / kWholeWeight + 0.5) / 65535));
  }
  double whole = std::floor(sum / kWholeWeight + 0.5);
  if (texture_.channel_bits == 8) {
    const auto codes = static_cast<std::int64_t>(std::floor(sum));
    whole = static_cast<double>(codes + ((257 * (codes >> 4) + 1024) >> 11));
  }
  return single_bits(static_cast<float>(std::max(whole, -32767.0) / 32767));
}

Element Mixture::mixed() const {
  Element element{};
  for (std::uint32_t i = 0; i < texture_.channels; ++i) {
    element[i] = mixed_channel(i);
  }
  return element;
}

} // namespace cudasim::engine

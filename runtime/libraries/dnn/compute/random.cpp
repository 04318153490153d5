// Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.
#include "runtime/libraries/dnn/compute/random.h"

#include <array>

namespace accelerator::dnn {

std::uint32_t random_bits(
    std::uint64_t seed,
    std::uint64_t offset,
    std::uint64_t element) {
  constexpr std::uint32_t kFactors[] = {0xD2511F53, 0xCD9E8D57};
  constexpr std::uint32_t kSteps[] = {0x9E3779B9, 0xBB67AE85};
  constexpr int kRounds = 10;
  // Four elements share a block; blocks are the subsequences.
  const std::uint64_t block = element / 4;
  std::array<std::uint32_t, 4> counter{
      static_cast<std::uint32_t>(offset),
      static_cast<std::uint32_t>(offset >> 32),
      static_cast<std::uint32_t>(block),
      static_cast<std::uint32_t>(block >> 32)};
  std::array<std::uint32_t, 2> key{
      static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{kFactors[0]} * counter[0];
    const std::uint64_t b = std::uint64_t{kFactors[1]} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0],
        static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1],
        static_cast<std::uint32_t>(a)};
    key[0] += kSteps[0];
    key[1] += kSteps[1];
  }
  return counter[element % 4];
}

double random_uniform(
    std::uint64_t seed,
    std::uint64_t offset,
    std::uint64_t element) {
  constexpr double kUnit = 1.0 / 4294967296.0; // 2^-32
  return (random_bits(seed, offset, element) + 1.0) * kUnit;
}

} // namespace accelerator::dnn

// MTGP32: 192 generators with a set of parameters each, in the older ordering
// 64, take turns of 256 numbers. The sets are those of CUDA's own header.
// Source: curand_mtgp32_host.h and curand_mtgp32_kernel.h; what libcurand.so
// of 10.4.5 answered.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <curand_mtgp32dc_p_11213.h>

#include "runtime/libraries/rand/engines/single.h"

namespace accelerator::rand {
namespace {

constexpr std::size_t kMtgpGenerators = 192;
constexpr std::size_t kMtgpLegacyGenerators = 64;
constexpr std::size_t kMtgpTurn = 256;
constexpr std::size_t kMtgpWords = MTGPDC_N;

/// One of them. A turn is made at once: its numbers depend on none of it but
/// the words before.
class MtgpGenerator {
 public:
  MtgpGenerator(const mtgp32_params_fast_t& parameters, std::uint32_t seed)
      : parameters_(&parameters) {
    const std::uint32_t hidden = parameters.tbl[4] ^ (parameters.tbl[8] << 16);
    std::uint32_t fill = hidden + (hidden >> 16);
    fill = (fill + (fill >> 8)) & 0xff;
    std::fill_n(words_.begin(), kMtgpWords, fill * 0x01010101U);
    words_[0] = seed;
    words_[1] = hidden;
    for (std::uint32_t i = 1; i < kMtgpWords; ++i) {
      words_[i] ^= 1812433253U * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
    }
  }

  void make_turn(std::array<std::uint32_t, kMtgpTurn>& out) {
    const mtgp32_params_fast_t& p = *parameters_;
    for (std::size_t i = 0; i < kMtgpTurn; ++i) {
      std::uint32_t x = (words_[i] & p.mask) ^ words_[i + 1];
      x ^= x << p.sh1;
      const std::uint32_t y = x ^ (words_[i + p.pos] >> p.sh2);
      words_[i + kMtgpWords] = y ^ p.tbl[y & 15];
      std::uint32_t t = words_[i + p.pos - 1];
      t ^= t >> 16;
      t ^= t >> 8;
      out[i] = words_[i + kMtgpWords] ^ p.tmp_tbl[t & 15];
    }
    std::copy_n(words_.begin() + kMtgpTurn, kMtgpWords, words_.begin());
  }

 private:
  const mtgp32_params_fast_t* parameters_;
  std::array<std::uint32_t, kMtgpWords + kMtgpTurn> words_{};
};

class Mtgp32 {
 public:
  Mtgp32(std::uint64_t seed, std::size_t generators) {
    const auto folded = static_cast<std::uint32_t>(seed ^ (seed >> 32));
    generators_.reserve(generators);
    for (std::uint32_t i = 0; i < generators; ++i) {
      generators_.emplace_back(mtgp32dc_params_fast_11213[i], folded + i + 1);
    }
  }

  std::uint32_t bits() {
    if (next_ == kMtgpTurn) {
      generators_[whose_turn_].make_turn(turn_);
      whose_turn_ = (whose_turn_ + 1) % generators_.size();
      next_ = 0;
    }
    return turn_[next_++];
  }
  static float uniform(std::uint32_t bits) {
    return to_uniform(bits);
  }
  static double uniform_double(std::uint32_t bits) {
    return bits * 0x1p-32 + 0x1p-32;
  }
  static std::uint32_t poisson(
      const Poisson& distribution,
      std::uint32_t bits) {
    return distribution.of_uniform(
        32, to_middle(bits), uniform_double(bits), [bits] {
          return normal_quantile<double>(bits, 32);
        });
  }

 private:
  std::vector<MtgpGenerator> generators_;
  std::size_t whose_turn_ = 0;
  std::array<std::uint32_t, kMtgpTurn> turn_{};
  std::size_t next_ = kMtgpTurn;
};

} // namespace

std::unique_ptr<Sequence> make_mtgp32(const Settings& settings) {
  const bool is_legacy = settings.ordering == CURAND_ORDERING_PSEUDO_LEGACY;
  return std::make_unique<SingleSequence<Mtgp32>>(Mtgp32(
      settings.seed, is_legacy ? kMtgpLegacyGenerators : kMtgpGenerators));
}

} // namespace accelerator::rand

// MT19937: 8192 lanes, whose sequences begin 2^2048 numbers apart, take turns
// of eight numbers. Of 624 numbers that a lane makes at a time, as eight
// threads can, the turns have an order of their own. Source: what libcurand.so
// of 10.4.5 answered; M. Matsumoto and T. Nishimura, "Mersenne Twister", 1998,
// for the recurrence and its characteristic polynomial.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/libraries/rand/engines/single.h"

namespace accelerator::rand {
namespace {

constexpr std::size_t kMtLanes = 8192;
constexpr std::size_t kMtTurn = 8;
constexpr std::size_t kMtWords = 624;
constexpr std::size_t kMiddle = 397;
constexpr std::uint32_t kTwist = 0x9908b0df;
/// Of the characteristic polynomial.
constexpr std::size_t kDegree = 19937;
/// Lanes are 2 to this power apart.
constexpr int kJump = 2048;

using Words = std::array<std::uint32_t, kMtWords>;

std::uint32_t next_word(
    std::uint32_t first,
    std::uint32_t second,
    std::uint32_t middle) {
  const std::uint32_t y = (first & 0x80000000U) | (second & 0x7fffffffU);
  return middle ^ (y >> 1) ^ ((y & 1) != 0 ? kTwist : 0);
}

std::uint32_t tempered(std::uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680U;
  y ^= (y << 15) & 0xefc60000U;
  return y ^ (y >> 18);
}

/// The next 624 words.
void advance(Words& words) {
  for (std::size_t i = 0; i < kMtWords; ++i) {
    words[i] = next_word(
        words[i], words[(i + 1) % kMtWords], words[(i + kMiddle) % kMtWords]);
  }
}

/// A polynomial over the field of two elements, by the bits of its words.
using Polynomial = std::vector<std::uint64_t>;

constexpr std::size_t kPolynomialWords = kDegree / 64 + 1;

void flip(Polynomial& polynomial, std::size_t exponent) {
  polynomial[exponent / 64] ^= std::uint64_t{1} << (exponent % 64);
}

/// The exponents of the characteristic polynomial without the highest: with
/// A = x^624 + x^397 and B = x^623 + x^396, it is A B^31 plus the sum of
/// A B^(30 - i) over the bits i < 31 of the twist, plus 1 for the last bit.
std::vector<std::size_t> characteristic_exponents() {
  Polynomial sum(2 * kPolynomialWords);
  const auto add = [&sum](std::size_t power) {
    // A B^power = x^(397 + 396 power) (x^227 + 1)^(power + 1).
    for (std::size_t k = 0; k <= power + 1; ++k) {
      // Binomials are odd where the bits of one are among the other's.
      if ((k & ~(power + 1)) == 0) {
        flip(sum, kMiddle + (kMiddle - 1) * power + (kMtWords - kMiddle) * k);
      }
    }
  };
  add(31);
  for (std::size_t i = 0; i < 31; ++i) {
    if ((kTwist >> i & 1) != 0) {
      add(30 - i);
    }
  }
  flip(sum, 0);
  flip(sum, kDegree);
  std::vector<std::size_t> exponents;
  for (std::size_t i = 0; i < kDegree; ++i) {
    if ((sum[i / 64] >> (i % 64) & 1) != 0) {
      exponents.push_back(i);
    }
  }
  return exponents;
}

/// The low 32 bits of a word with a zero behind each.
std::uint64_t spread(std::uint64_t bits) {
  bits &= 0xffffffff;
  bits = (bits | bits << 16) & 0x0000ffff0000ffffULL;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ffULL;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fULL;
  bits = (bits | bits << 2) & 0x3333333333333333ULL;
  return (bits | bits << 1) & 0x5555555555555555ULL;
}

/// Squares modulo the characteristic polynomial.
void square(Polynomial& polynomial, const std::vector<std::size_t>& exponents) {
  Polynomial wide(2 * kPolynomialWords + 1);
  for (std::size_t i = 0; i < kPolynomialWords; ++i) {
    wide[2 * i] = spread(polynomial[i]);
    wide[2 * i + 1] = spread(polynomial[i] >> 32);
  }
  // From the top, 64 coefficients at a time: what they are replaced with lies
  // below them, since the second exponent is more than 64 below the first.
  for (std::size_t i = 2 * kPolynomialWords;
       i-- > 0 && 64 * i + 63 >= kDegree;) {
    const std::size_t begin = std::max(64 * i, kDegree);
    const std::uint64_t high = wide[i] >> (begin - 64 * i);
    wide[i] ^= high << (begin - 64 * i);
    for (const std::size_t exponent : exponents) {
      const std::size_t at = begin - kDegree + exponent;
      wide[at / 64] ^= high << (at % 64);
      if (at % 64 != 0) {
        wide[at / 64 + 1] ^= high >> (64 - at % 64);
      }
    }
  }
  std::copy_n(wide.begin(), kPolynomialWords, polynomial.begin());
}

/// x^(2^kJump) modulo the characteristic polynomial, by blocks of four
/// coefficients.
const std::vector<std::uint8_t>& jump_blocks() {
  static const std::vector<std::uint8_t> blocks = [] {
    const auto exponents = characteristic_exponents();
    Polynomial polynomial(kPolynomialWords);
    flip(polynomial, 1);
    for (int i = 0; i < kJump; ++i) {
      square(polynomial, exponents);
    }
    std::vector<std::uint8_t> result(kDegree / 4 + 1);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = polynomial[i / 16] >> (i % 16 * 4) & 15;
    }
    return result;
  }();
  return blocks;
}

/// Four words, which the compiler adds at once.
using Quad __attribute__((vector_size(16))) = std::uint32_t;

/// The sum of the words at the blocks' places in the sums that they name. Words
/// are added in registers, a part of the result at a time.
Words add_up(
    const std::vector<std::uint8_t>& blocks,
    const std::array<std::vector<std::uint32_t>, 16>& sums) {
  constexpr std::size_t kQuads = 12;
  constexpr std::size_t kPart = 4 * kQuads;
  static_assert(kMtWords % kPart == 0);
  std::array<const std::uint32_t*, 16> places{};
  Words result{};
  for (std::size_t part = 0; part < kMtWords; part += kPart) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      places[i] = sums[i].data() + part;
    }
    Quad total[kQuads] = {};
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const std::uint32_t* const from = places[blocks[block]] + 4 * block;
#pragma GCC unroll 12
      for (std::size_t i = 0; i < kQuads; ++i) {
        Quad words;
        std::memcpy(&words, from + 4 * i, sizeof(words));
        total[i] ^= words;
      }
    }
    std::memcpy(result.data() + part, total, sizeof(total));
  }
  return result;
}

/// The words of the next lane: the sum of those that follow `words` at each
/// exponent of the jump. Sums of four neighbours are made once.
Words jumped(const Words& words) {
  const std::vector<std::uint8_t>& blocks = jump_blocks();
  constexpr std::size_t kLength = kDegree + kMtWords + 4;
  static thread_local std::array<std::vector<std::uint32_t>, 16> sums;
  std::vector<std::uint32_t>& all = sums[1];
  all.assign(words.begin(), words.end());
  all.resize(kLength + 4);
  for (std::size_t i = kMtWords; i < all.size(); ++i) {
    all[i] = next_word(
        all[i - kMtWords], all[i - kMtWords + 1], all[i - kMtWords + kMiddle]);
  }
  sums[0].assign(kLength, 0);
  for (std::size_t mask = 2; mask < sums.size(); ++mask) {
    const std::size_t lowest = __builtin_ctzll(mask);
    const std::size_t rest = mask & (mask - 1);
    sums[mask].resize(kLength);
    for (std::size_t i = 0; i < kLength; ++i) {
      sums[mask][i] = all[i + lowest] ^ (rest == 0 ? 0 : sums[rest][i]);
    }
  }
  return add_up(blocks, sums);
}

/// The words with which the lanes of a seed begin. To make all takes seconds,
/// so those of the last seed are kept; lanes are made when they are needed.
class Beginnings {
 public:
  explicit Beginnings(std::uint32_t seed) : seed_(seed) {
    Words words;
    words[0] = seed;
    for (std::uint32_t i = 1; i < kMtWords; ++i) {
      words[i] = 1812433253U * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
    }
    lanes_.reserve(kMtLanes);
    lanes_.push_back(words);
  }

  static std::shared_ptr<Beginnings> of(std::uint32_t seed) {
    static std::mutex mutex;
    static auto* const last = new std::shared_ptr<Beginnings>;
    const std::lock_guard<std::mutex> lock(mutex);
    if (*last == nullptr || (*last)->seed_ != seed) {
      *last = std::make_shared<Beginnings>(seed);
    }
    return *last;
  }

  Words lane(std::size_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (lanes_.size() <= number) {
      lanes_.push_back(jumped(lanes_.back()));
    }
    return lanes_[number];
  }

 private:
  std::uint32_t seed_;
  std::mutex mutex_;
  std::vector<Words> lanes_;
};

/// Which of a lane's 624 words its turns have, in their order: first eight that
/// lie apart, then, of what is between them, rows of eight that are seven words
/// apart.
std::array<std::uint16_t, kMtWords> order_of_words() {
  constexpr std::uint16_t kApart[] = {0, 113, 170, 283, 340, 397, 510, 567};
  constexpr std::uint16_t kFirsts[] = {
      1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
  std::array<std::uint16_t, kMtWords> order{};
  auto next = std::copy(std::begin(kApart), std::end(kApart), order.begin());
  for (const std::uint16_t first : kFirsts) {
    for (std::uint16_t row = 0; row < 7; ++row) {
      for (std::uint16_t thread = 0; thread < kMtTurn; ++thread) {
        *next++ = first + row + 7 * thread;
      }
    }
  }
  return order;
}

class Mt19937 {
 public:
  explicit Mt19937(std::uint64_t seed)
      : beginnings_(Beginnings::of(static_cast<std::uint32_t>(seed))) {}

  std::uint32_t bits() {
    static const std::array<std::uint16_t, kMtWords> order = order_of_words();
    const std::size_t lane = position_ / kMtTurn % kMtLanes;
    const std::size_t turn = position_ / kMtTurn / kMtLanes;
    const std::size_t within = position_ % kMtTurn;
    ++position_;
    if (lanes_.size() <= lane) {
      lanes_.push_back(beginnings_->lane(lane));
    }
    constexpr std::size_t kMtTurns = kMtWords / kMtTurn;
    if (within == 0 && turn % kMtTurns == 0) {
      advance(lanes_[lane]);
    }
    return tempered(lanes_[lane][order[turn % kMtTurns * kMtTurn + within]]);
  }
  static float uniform(std::uint32_t bits) {
    return static_cast<float>(uniform_double(bits));
  }
  static double uniform_double(std::uint32_t bits) {
    return to_middle(bits);
  }
  static std::uint32_t poisson(
      const Poisson& distribution,
      std::uint32_t bits) {
    return distribution.lambda() < Poisson::kLeastWithoutTable
        ? distribution.aliased(to_middle(bits))
        : distribution.rounded(normal_quantile<float>(bits, 32));
  }

 private:
  std::shared_ptr<Beginnings> beginnings_;
  std::vector<Words> lanes_;
  std::size_t position_ = 0;
};

} // namespace

std::unique_ptr<Sequence> make_mt19937(const Settings& settings) {
  return std::make_unique<SingleSequence<Mt19937>>(Mt19937(settings.seed));
}

} // namespace accelerator::rand

// XORWOW, whose lanes lie 2^67 numbers apart. Source: G. Marsaglia, "Xorshift
// RNGs" (2003), for the steps; curand_kernel.h for what a seed becomes.
#include <array>
#include <vector>

#include "runtime/libraries/rand/engines/lanes.h"

namespace accelerator::rand {
namespace {

constexpr std::size_t kXorwowLanes = 4096;
constexpr std::uint32_t kIncrement = 362437;
/// Between the seeds of lanes, in the seeded ordering. Source: the states that
/// the numbers of NVIDIA's library (10.4.5) follow from.
constexpr std::uint64_t kSeedDistance = 3133713;

/// The part that is linear over bits.
using State = std::array<std::uint32_t, 5>;

State step(const State& v) {
  const std::uint32_t t = v[0] ^ (v[0] >> 2);
  return {v[1], v[2], v[3], v[4], v[4] ^ (v[4] << 4) ^ t ^ (t << 1)};
}

struct Xorwow {
  State state;
  std::uint32_t counter;

  std::uint32_t bits() {
    state = step(state);
    counter += kIncrement;
    return state.back() + counter;
  }
};

/// Many steps at once: what becomes of each bit of a state.
class Jump {
 public:
  /// One step.
  Jump() {
    for (std::size_t bit = 0; bit < columns_.size(); ++bit) {
      State unit{};
      unit[bit / 32] = std::uint32_t{1} << (bit % 32);
      columns_[bit] = step(unit);
    }
  }

  State operator()(const State& state) const {
    State result{};
    for (std::size_t word = 0; word < state.size(); ++word) {
      for (std::uint32_t rest = state[word]; rest != 0; rest &= rest - 1) {
        const State& column =
            columns_[word * 32 + static_cast<std::size_t>(__builtin_ctz(rest))];
        for (std::size_t i = 0; i < result.size(); ++i) {
          result[i] ^= column[i];
        }
      }
    }
    return result;
  }

  /// Twice as many steps.
  void double_it() {
    const Jump once = *this;
    for (State& column : columns_) {
      column = once(column);
    }
  }

 private:
  std::array<State, 160> columns_;
};

const Jump& to_next_lane() {
  static const Jump jump = [] {
    Jump result;
    for (int i = 0; i < 67; ++i) {
      result.double_it();
    }
    return result;
  }();
  return jump;
}

void skip(Xorwow& engine, std::uint64_t count) {
  // The counter's period divides all powers of two beyond 2^32.
  engine.counter += kIncrement * static_cast<std::uint32_t>(count);
  for (Jump jump; count != 0; count >>= 1, jump.double_it()) {
    if ((count & 1) != 0) {
      engine.state = jump(engine.state);
    }
  }
}

Xorwow seeded_xorwow(std::uint64_t seed) {
  const std::uint32_t low = static_cast<std::uint32_t>(seed) ^ 0xaad26b49U;
  const std::uint32_t high =
      static_cast<std::uint32_t>(seed >> 32) ^ 0xf7dcefddU;
  const std::uint32_t a = 1099087573U * low;
  const std::uint32_t b = 2591861531U * high;
  return {
      {123456789U + a,
       362436069U ^ a,
       521288629U + b,
       88675123U ^ b,
       5783321U + a},
      6615241U + a + b};
}

} // namespace

std::unique_ptr<Sequence> make_xorwow(const Settings& settings) {
  const bool is_seeded = settings.ordering == CURAND_ORDERING_PSEUDO_SEEDED;
  const std::uint64_t rows = settings.position / kXorwowLanes;
  const std::size_t first = settings.position % kXorwowLanes;
  std::vector<Lane<Xorwow>> lanes;
  lanes.reserve(kXorwowLanes);
  Xorwow engine = seeded_xorwow(settings.seed);
  skip(engine, rows);
  for (std::size_t i = 0; i < kXorwowLanes; ++i) {
    lanes.emplace_back(engine);
    if (i < first) {
      lanes.back().bits();
    }
    if (is_seeded) {
      engine = seeded_xorwow(settings.seed + (i + 1) * kSeedDistance);
      skip(engine, rows);
    } else {
      engine.state = to_next_lane()(engine.state);
    }
  }
  return std::make_unique<LaneSequence<Lane<Xorwow>>>(std::move(lanes), first);
}

} // namespace accelerator::rand

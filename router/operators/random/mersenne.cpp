// MT19937's recurrence over whole blocks, without making the numbers.
#include "router/operators/random/mersenne.h"

#include <cstddef>
#include <limits>
#include <vector>

namespace torch_cuda::operators {
namespace {

constexpr size_t kWords = 624;
constexpr size_t kShift = 397;
constexpr uint32_t kMatrix = 0x9908b0df;

uint32_t twisted(uint32_t word, uint32_t next, uint32_t shifted) {
  const uint32_t mixed = (word & 0x80000000u) | (next & 0x7fffffffu);
  return shifted ^ (mixed >> 1) ^ ((0u - (next & 1u)) & kMatrix);
}

void next_block(uint32_t* words) {
  for (size_t i = 0; i < kWords - kShift; ++i) {
    words[i] = twisted(words[i], words[i + 1], words[i + kShift]);
  }
  for (size_t i = kWords - kShift; i < kWords - 1; ++i) {
    words[i] = twisted(words[i], words[i + 1], words[i + kShift - kWords]);
  }
  words[kWords - 1] = twisted(words[kWords - 1], words[0], words[kShift - 1]);
}

// How many numbers of its block an engine has given.
uint64_t given(const at::mt19937_data_pod& engine) {
  // A fresh engine makes its first block at the first number.
  return engine.next_ == 0 ? kWords : engine.next_;
}

// Mixes a key into the state of a fixed seed (Matsumoto and Nishimura,
// init_by_array).
void mix_in(uint32_t* words, const std::vector<uint32_t>& key) {
  size_t i = 1;
  const auto step = [&](uint32_t factor, uint32_t change, bool adds) {
    const uint32_t before = words[i - 1] ^ (words[i - 1] >> 30);
    words[i] = (words[i] ^ (before * factor)) + (adds ? change : 0u - change);
    if (++i == kWords) {
      words[0] = words[kWords - 1];
      i = 1;
    }
  };
  for (size_t k = 0; k < kWords; ++k) {
    const auto place = static_cast<uint32_t>(k % key.size());
    step(1664525u, key.at(place) + place, true);
  }
  for (size_t k = 0; k + 1 < kWords; ++k) {
    step(1566083941u, static_cast<uint32_t>(i), false);
  }
  words[0] = 0x80000000u;
}

at::mt19937 engine_of_key(const std::vector<uint32_t>& key) {
  at::mt19937 engine(19650218u);
  auto data = engine.data();
  mix_in(data.state_.data(), key);
  engine.set_data(data);
  return engine;
}

uint32_t low(uint64_t number) {
  return static_cast<uint32_t>(number);
}

uint32_t high(uint64_t number) {
  return static_cast<uint32_t>(number >> 32);
}

} // namespace

at::mt19937 engine_of(uint64_t seed) {
  if (seed <= std::numeric_limits<uint32_t>::max()) {
    return at::mt19937(seed);
  }
  return engine_of_key({low(seed), high(seed)});
}

at::mt19937 engine_apart(uint64_t seed, uint64_t offset) {
  return engine_of_key({low(seed), high(seed), low(offset), high(offset)});
}

uint64_t drawn_between(
    const at::mt19937_data_pod& earlier,
    const at::mt19937_data_pod& later) {
  auto words = earlier.state_;
  uint64_t blocks = 0;
  while (words != later.state_) {
    next_block(words.data());
    ++blocks;
  }
  return blocks * kWords + given(later) - given(earlier);
}

at::mt19937 engine_after(const at::mt19937_data_pod& engine, uint64_t drawn) {
  at::mt19937 later;
  auto data = engine;
  if (drawn > 0) {
    const uint64_t number = given(engine) + drawn;
    const uint64_t blocks = (number - 1) / kWords;
    for (uint64_t i = 0; i < blocks; ++i) {
      next_block(data.state_.data());
    }
    data.next_ = static_cast<uint32_t>(number - blocks * kWords);
    data.left_ = static_cast<int>(kWords - data.next_ + 1);
  }
  later.set_data(data);
  return later;
}

} // namespace torch_cuda::operators

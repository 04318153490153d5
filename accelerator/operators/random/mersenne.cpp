// MT19937's recurrence over whole blocks, without making the numbers.
#include "accelerator/operators/random/mersenne.h"

#include <cstddef>

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

} // namespace

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

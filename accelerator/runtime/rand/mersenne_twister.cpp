// MTGP32 and MT19937. What cuRAND computes here depends on tables that it does
// not tell: the numbers are those of the standard library's Mersenne Twister.
#include <random>
#include <vector>

#include "accelerator/runtime/rand/lanes.h"

namespace accelerator::rand {
namespace {

struct Twister {
  std::mt19937 engine;

  std::uint32_t bits() {
    return static_cast<std::uint32_t>(engine());
  }
};

} // namespace

// It has no offset, and so begins at the beginning, whatever the position, as
// NVIDIA's does after another seed in mid-sequence.
std::unique_ptr<Sequence> make_mersenne_twister(const Settings& settings) {
  std::seed_seq seed{
      static_cast<std::uint32_t>(settings.seed),
      static_cast<std::uint32_t>(settings.seed >> 32),
      static_cast<std::uint32_t>(settings.type)};
  const Twister twister{std::mt19937(seed)};
  return std::make_unique<LaneSequence<Lane<Twister>>>(
      std::vector<Lane<Twister>>{Lane<Twister>(twister)}, 0);
}

} // namespace accelerator::rand

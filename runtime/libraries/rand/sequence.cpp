#include "runtime/libraries/rand/sequence.h"

namespace accelerator::rand {

void Sequence::bits(std::uint64_t*, std::size_t) {}

std::uint64_t steps(
    const Settings& settings,
    bool is_normal,
    std::uint64_t count) {
  if (is_quasirandom(settings.type)) {
    return count / settings.dimensions;
  }
  // Box and Muller's transform makes two of a step, where a step is not one
  // number anyway.
  const bool makes_two = is_normal &&
      settings.type != CURAND_RNG_PSEUDO_PHILOX4_32_10 &&
      !is_mersenne_twister(settings.type);
  return makes_two ? count / 2 : count;
}

std::unique_ptr<Sequence> make_sequence(const Settings& settings) {
  switch (settings.type) {
    case CURAND_RNG_PSEUDO_MRG32K3A:
      return make_mrg32k3a(settings);
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return make_philox(settings);
    case CURAND_RNG_PSEUDO_MTGP32:
      return make_mtgp32(settings);
    case CURAND_RNG_PSEUDO_MT19937:
      return make_mt19937(settings);
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return make_sobol(settings);
    default:
      return make_xorwow(settings);
  }
}

} // namespace accelerator::rand

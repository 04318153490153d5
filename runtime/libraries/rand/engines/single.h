// Sequences that have one number of every kind for each 32 random bits: those
// of the Mersenne Twisters. Normal numbers come from the inverse of their
// distribution function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/libraries/rand/draws.h"
#include "runtime/libraries/rand/poisson.h"
#include "runtime/libraries/rand/sequence.h"

namespace accelerator::rand {

/// @tparam Engine a type with bits(), and the static functions uniform(),
/// uniform_double() and poisson(), which make numbers of bits.
template <typename Engine>
class SingleSequence : public Sequence {
 public:
  explicit SingleSequence(Engine engine) : engine_(std::move(engine)) {}

  using Sequence::bits;
  void bits(std::uint32_t* out, std::size_t count) override {
    each(out, count, [](std::uint32_t bits) { return bits; });
  }
  void uniform(float* out, std::size_t count) override {
    each(out, count, Engine::uniform);
  }
  void uniform(double* out, std::size_t count) override {
    each(out, count, Engine::uniform_double);
  }
  void normal(float* out, std::size_t count) override {
    each(out, count, [](std::uint32_t bits) {
      return normal_quantile<float>(bits, 32);
    });
  }
  void normal(double* out, std::size_t count) override {
    each(out, count, [](std::uint32_t bits) {
      return normal_quantile<double>(bits, 32);
    });
  }
  void poisson(
      const Poisson& distribution,
      std::uint32_t* out,
      std::size_t count) override {
    each(out, count, [&](std::uint32_t bits) {
      return Engine::poisson(distribution, bits);
    });
  }

 private:
  template <typename T, typename Draw>
  void each(T* out, std::size_t count, Draw draw) {
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = draw(engine_.bits());
    }
  }

  Engine engine_;
};

} // namespace accelerator::rand

// The sequence of numbers that a generator of cuRAND goes through, one kind of
// number after the other.
#pragma once

#include <curand.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace accelerator::rand {

class Poisson;

/// What a sequence depends on.
struct Settings {
  curandRngType_t type;
  curandOrdering_t ordering;
  std::uint64_t seed;
  /// Where it begins, in the generator's steps; not of a Mersenne Twister.
  std::uint64_t position;
  /// Of a quasirandom sequence.
  std::uint32_t dimensions;
};

class Sequence {
 public:
  virtual ~Sequence() = default;

  virtual void bits(std::uint32_t* out, std::size_t count) = 0;
  /// Of 64-bit quasirandom sequences only.
  virtual void bits(std::uint64_t* out, std::size_t count);
  /// In (0, 1].
  virtual void uniform(float* out, std::size_t count) = 0;
  virtual void uniform(double* out, std::size_t count) = 0;
  /// With mean 0 and standard deviation 1.
  virtual void normal(float* out, std::size_t count) = 0;
  virtual void normal(double* out, std::size_t count) = 0;
  virtual void poisson(
      const Poisson& distribution,
      std::uint32_t* out,
      std::size_t count) = 0;
};

inline bool is_quasirandom(curandRngType_t type) {
  return type >= CURAND_RNG_QUASI_DEFAULT;
}

inline bool is_64_bit(curandRngType_t type) {
  return type == CURAND_RNG_QUASI_SOBOL64 ||
      type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

inline bool is_mersenne_twister(curandRngType_t type) {
  return type == CURAND_RNG_PSEUDO_MTGP32 || type == CURAND_RNG_PSEUDO_MT19937;
}

/// How many steps a call of a generator takes.
/// @param is_normal whether the numbers are normal or log-normal.
std::uint64_t steps(
    const Settings& settings,
    bool is_normal,
    std::uint64_t count);

/// Makes the sequence of a generator, at its position; a Mersenne Twister's at
/// the beginning. The type is one that there is, and none of the two that stand
/// for a default.
std::unique_ptr<Sequence> make_sequence(const Settings& settings);

/// Those of one kind.
std::unique_ptr<Sequence> make_xorwow(const Settings& settings);
std::unique_ptr<Sequence> make_mrg32k3a(const Settings& settings);
std::unique_ptr<Sequence> make_philox(const Settings& settings);
std::unique_ptr<Sequence> make_mtgp32(const Settings& settings);
std::unique_ptr<Sequence> make_mt19937(const Settings& settings);
std::unique_ptr<Sequence> make_sobol(const Settings& settings);

} // namespace accelerator::rand

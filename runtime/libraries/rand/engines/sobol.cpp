// Sobol's sequences of points: all numbers of the first dimension, then those
// of the second, and so on. Source: curand_kernel.h, curand_normal.h.
#include <algorithm>
#include <vector>

#include "runtime/libraries/rand/directions.h"
#include "runtime/libraries/rand/draws.h"
#include "runtime/libraries/rand/poisson.h"
#include "runtime/libraries/rand/sequence.h"

namespace accelerator::rand {
namespace {

float uniform_float(std::uint32_t number) {
  return to_uniform(number);
}
float uniform_float(unsigned long long number) {
  return to_uniform(static_cast<std::uint32_t>(number >> 32));
}
double uniform_double(std::uint32_t number) {
  return number * 0x1p-32 + 0x1p-32;
}
double uniform_double(unsigned long long number) {
  return static_cast<double>(number >> 11) * 0x1p-53 + 0x1p-54;
}
float normal_float(std::uint32_t number) {
  return normal_quantile<float>(number, 32);
}
float normal_float(unsigned long long number) {
  return normal_quantile<float>(number >> 32, 32);
}
double normal_double(std::uint32_t number) {
  return normal_quantile<double>(number, 32);
}
double normal_double(unsigned long long number) {
  return normal_quantile<double>(number >> 11, 53);
}

std::uint32_t poisson_number(
    const Poisson& distribution,
    std::uint32_t number) {
  return distribution.of_uniform(
      10, to_middle(number), uniform_double(number), [number] {
        return normal_double(number);
      });
}
std::uint32_t poisson_number(
    const Poisson& distribution,
    unsigned long long number) {
  return distribution.lambda() < Poisson::kLeastWithoutTable
      ? distribution.quantile(uniform_double(number))
      : distribution.rounded(normal_double(number));
}

template <typename Word>
class Sobol : public Sequence {
 public:
  Sobol(const Settings& settings, bool is_scrambled)
      : dimensions_(settings.dimensions),
        index_(settings.position),
        vectors_(direction_vectors<Word>(dimensions_, is_scrambled)),
        constants_(
            is_scrambled ? scramble_constants<Word>(dimensions_)
                         : std::vector<Word>(dimensions_)) {}

  void bits(std::uint32_t* out, std::size_t count) override {
    each(out, count, [](Word number) {
      return static_cast<std::uint32_t>(number);
    });
  }
  void bits(std::uint64_t* out, std::size_t count) override {
    each(out, count, [](Word number) { return number; });
  }
  void uniform(float* out, std::size_t count) override {
    each(out, count, [](Word number) { return uniform_float(number); });
  }
  void uniform(double* out, std::size_t count) override {
    each(out, count, [](Word number) { return uniform_double(number); });
  }
  void normal(float* out, std::size_t count) override {
    each(out, count, [](Word number) { return normal_float(number); });
  }
  void normal(double* out, std::size_t count) override {
    each(out, count, [](Word number) { return normal_double(number); });
  }
  void poisson(
      const Poisson& distribution,
      std::uint32_t* out,
      std::size_t count) override {
    each(out, count, [&](Word number) {
      return poisson_number(distribution, number);
    });
  }

 private:
  static constexpr int kBits = 8 * sizeof(Word);

  /// A point's number: the vectors of the bits of its index in Gray's code.
  Word at(std::uint64_t index, const Word* vectors, Word constant) const {
    Word result = constant;
    const auto within = static_cast<Word>(index);
    for (Word rest = within ^ (within >> 1); rest != 0; rest &= rest - 1) {
      result ^= vectors[__builtin_ctzll(rest)];
    }
    return result;
  }

  template <typename T, typename Draw>
  void each(T* out, std::size_t count, Draw draw) {
    const std::size_t points = count / dimensions_;
    for (std::uint32_t dimension = 0; dimension < dimensions_; ++dimension) {
      const Word* const vectors =
          vectors_.data() + std::size_t{dimension} * kBits;
      const Word constant = constants_[dimension];
      Word number = at(index_, vectors, constant);
      for (std::size_t i = 0; i < points; ++i) {
        *out++ = static_cast<T>(draw(number));
        const std::uint64_t inverted = ~(index_ + i);
        const auto zeros = static_cast<Word>(inverted);
        // After the last point comes the first.
        number =
            zeros == 0 ? constant : number ^ vectors[__builtin_ctzll(zeros)];
      }
    }
    index_ += points;
  }

  std::uint32_t dimensions_;
  std::uint64_t index_;
  std::vector<Word> vectors_;
  std::vector<Word> constants_;
};

} // namespace

std::unique_ptr<Sequence> make_sobol(const Settings& settings) {
  const bool is_scrambled =
      settings.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 ||
      settings.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
  if (is_64_bit(settings.type)) {
    return std::make_unique<Sobol<unsigned long long>>(settings, is_scrambled);
  }
  return std::make_unique<Sobol<std::uint32_t>>(settings, is_scrambled);
}

} // namespace accelerator::rand

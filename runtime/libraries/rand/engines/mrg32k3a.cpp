// MRG32k3a, whose lanes lie 2^76 numbers apart. Source: P. L'Ecuyer, "Good
// parameters and implementations for combined multiple recursive random number
// generators" (1999); curand_kernel.h for what a seed becomes.
#include <array>
#include <vector>

#include "runtime/libraries/rand/engines/lanes.h"

namespace accelerator::rand {
namespace {

constexpr std::size_t kMrg32k3aLanes = 81920;
constexpr std::size_t kLegacyLanes = 4096;
constexpr std::uint64_t kFirstModulus = 4294967087;
constexpr std::uint64_t kSecondModulus = 4294944443;
/// 1 / kFirstModulus, and what makes 32 bits of a number.
constexpr double kToUniform = 2.3283065498378288e-10;
constexpr double kToBits = 1.000000048662;

using Vector = std::array<std::uint64_t, 3>;
using Matrix = std::array<Vector, 3>;

/// The product of a row and a column.
std::uint64_t dot(
    std::uint64_t modulus,
    const Vector& row,
    const Vector& column) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    sum += row[i] * column[i] % modulus;
  }
  return sum % modulus;
}

Vector times(const Matrix& a, const Vector& b, std::uint64_t modulus) {
  return {dot(modulus, a[0], b), dot(modulus, a[1], b), dot(modulus, a[2], b)};
}

Matrix squared(const Matrix& a, std::uint64_t modulus) {
  Matrix result{};
  for (std::size_t j = 0; j < a.size(); ++j) {
    const Vector column = {a[0][j], a[1][j], a[2][j]};
    for (std::size_t i = 0; i < a.size(); ++i) {
      result[i][j] = dot(modulus, a[i], column);
    }
  }
  return result;
}

/// One of the two recurrences, each over the last three numbers.
struct Recurrence {
  std::uint64_t modulus;
  Matrix step;
};

constexpr Recurrence kFirst = {
    kFirstModulus,
    {{{0, 1, 0}, {0, 0, 1}, {kFirstModulus - 810728, 1403580, 0}}}};
constexpr Recurrence kSecond = {
    kSecondModulus,
    {{{0, 1, 0}, {0, 0, 1}, {kSecondModulus - 1370589, 0, 527612}}}};

Vector skipped(
    const Recurrence& recurrence,
    Vector state,
    std::uint64_t count) {
  Matrix jump = recurrence.step;
  for (; count != 0; count >>= 1) {
    if ((count & 1) != 0) {
      state = times(jump, state, recurrence.modulus);
    }
    jump = squared(jump, recurrence.modulus);
  }
  return state;
}

Matrix to_next_lane(const Recurrence& recurrence) {
  Matrix jump = recurrence.step;
  for (int i = 0; i < 76; ++i) {
    jump = squared(jump, recurrence.modulus);
  }
  return jump;
}

struct Mrg32k3a {
  Vector first;
  Vector second;

  /// In 1 .. kFirstModulus.
  std::uint64_t number() {
    const std::uint64_t a =
        (1403580 * first[1] + 810728 * (kFirstModulus - first[0])) %
        kFirstModulus;
    first = {first[1], first[2], a};
    const std::uint64_t b =
        (527612 * second[2] + 1370589 * (kSecondModulus - second[0])) %
        kSecondModulus;
    second = {second[1], second[2], b};
    return a > b ? a - b : a + kFirstModulus - b;
  }

  std::uint32_t bits() {
    return static_cast<std::uint32_t>(static_cast<double>(number()) * kToBits);
  }
  float uniform() {
    return static_cast<float>(uniform_double());
  }
  double uniform_double() {
    return static_cast<double>(number()) * kToUniform;
  }
  std::array<float, 2> normal() {
    const float radius = uniform();
    return box_muller(radius, uniform());
  }
  std::array<double, 2> normal_double() {
    const double radius = uniform_double();
    return box_muller(radius, uniform_double());
  }
};

Mrg32k3a seeded_mrg32k3a(std::uint64_t seed) {
  Mrg32k3a engine{{12345, 12345, 12345}, {12345, 12345, 12345}};
  if (seed == 0) {
    return engine;
  }
  const std::uint64_t low = (seed & 0xffffffffU) ^ 0x55555555U;
  const std::uint64_t high = (seed >> 32) ^ 0xaaaaaaaaU;
  for (std::size_t i = 0; i < 3; ++i) {
    engine.first[i] = engine.first[i] * (i == 1 ? high : low) % kFirstModulus;
    engine.second[i] =
        engine.second[i] * (i == 1 ? low : high) % kSecondModulus;
  }
  return engine;
}

} // namespace

std::unique_ptr<Sequence> make_mrg32k3a(const Settings& settings) {
  const std::size_t count = settings.ordering == CURAND_ORDERING_PSEUDO_LEGACY
      ? kLegacyLanes
      : kMrg32k3aLanes;
  static const Matrix first_jump = to_next_lane(kFirst);
  static const Matrix second_jump = to_next_lane(kSecond);
  const std::size_t first = settings.position % count;
  Mrg32k3a engine = seeded_mrg32k3a(settings.seed);
  engine.first = skipped(kFirst, engine.first, settings.position / count);
  engine.second = skipped(kSecond, engine.second, settings.position / count);
  std::vector<Mrg32k3a> lanes;
  lanes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    lanes.push_back(engine);
    if (i < first) {
      lanes.back().number();
    }
    engine.first = times(first_jump, engine.first, kFirstModulus);
    engine.second = times(second_jump, engine.second, kSecondModulus);
  }
  return std::make_unique<LaneSequence<Mrg32k3a>>(std::move(lanes), first);
}

} // namespace accelerator::rand

// What generators of all types make is distributed as it should be, whatever
// the numbers are.
#include <curand.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/libraries/rand/testing/handle.h"

namespace accelerator::rand::testing {
namespace {

constexpr std::size_t kCount = 1 << 16;

class DistributionTest : public ::testing::TestWithParam<curandRngType_t> {
 protected:
  template <typename T, typename Function, typename... Arguments>
  static std::vector<T> numbers(Function function, Arguments... arguments) {
    const Handle generator(Place::kHost, GetParam());
    std::vector<T> values(kCount);
    EXPECT_EQ(
        function(generator, values.data(), kCount, arguments...),
        CURAND_STATUS_SUCCESS);
    return values;
  }
};

/// How far the numbers' distribution is from another: Kolmogorov's distance.
template <typename T, typename Law>
double distance(std::vector<T> values, Law law) {
  std::sort(values.begin(), values.end());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = law(static_cast<double>(values[i]));
    const double below = static_cast<double>(i) / values.size();
    const double above = static_cast<double>(i + 1) / values.size();
    largest = std::max({largest, expected - below, above - expected});
  }
  return largest;
}

/// Random numbers are beyond it once in 10^6.
const double kLimit = 2.7 / std::sqrt(static_cast<double>(kCount));

double normal_law(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2;
}

TEST_P(DistributionTest, UniformNumbers) {
  const auto law = [](double x) { return x; };
  const auto narrow = numbers<float>(curandGenerateUniform);
  const auto wide = numbers<double>(curandGenerateUniformDouble);
  EXPECT_LT(distance(narrow, law), kLimit);
  EXPECT_LT(distance(wide, law), kLimit);
  EXPECT_GT(*std::min_element(narrow.begin(), narrow.end()), 0);
  EXPECT_LE(*std::max_element(narrow.begin(), narrow.end()), 1);
  EXPECT_GT(*std::min_element(wide.begin(), wide.end()), 0);
  EXPECT_LE(*std::max_element(wide.begin(), wide.end()), 1);
}

TEST_P(DistributionTest, EachBit) {
  const auto check = [](const auto& values, int bits) {
    for (int bit = 0; bit < bits; ++bit) {
      const auto ones =
          std::count_if(values.begin(), values.end(), [&](auto value) {
            return (value >> bit & 1) != 0;
          });
      EXPECT_NEAR(ones, kCount / 2.0, 2.5 * std::sqrt(kCount)) << bit;
    }
  };
  // The low bits of Sobol's first points are 0.
  const bool is_plain = GetParam() == CURAND_RNG_QUASI_SOBOL32 ||
      GetParam() == CURAND_RNG_QUASI_SOBOL64;
  if (is_plain) {
    GTEST_SKIP() << "these points have few bits";
  }
  if (is_64_bit(GetParam())) {
    // A dimension's scrambling leaves its low bits as one random number.
    auto values = numbers<unsigned long long>(curandGenerateLongLong);
    for (auto& value : values) {
      value >>= 48;
    }
    check(values, 16);
  } else {
    auto values = numbers<unsigned int>(curandGenerate);
    if (GetParam() == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32) {
      for (auto& value : values) {
        value >>= 16;
      }
      check(values, 16);
    } else {
      check(values, 32);
    }
  }
}

TEST_P(DistributionTest, NormalNumbers) {
  const auto law = [](double x) { return normal_law((x - 2) / 3); };
  EXPECT_LT(
      distance(numbers<float>(curandGenerateNormal, 2.F, 3.F), law), kLimit);
  EXPECT_LT(
      distance(numbers<double>(curandGenerateNormalDouble, 2., 3.), law),
      kLimit);
}

TEST_P(DistributionTest, LogNormalNumbers) {
  const auto law = [](double x) { return normal_law((std::log(x) - 1) / 2); };
  EXPECT_LT(
      distance(numbers<float>(curandGenerateLogNormal, 1.F, 2.F), law), kLimit);
  EXPECT_LT(
      distance(numbers<double>(curandGenerateLogNormalDouble, 1., 2.), law),
      kLimit);
}

// By how often each number comes.
TEST_P(DistributionTest, PoissonNumbers) {
  for (const double lambda : {0.25, 1.0, 7.5, 64.0, 5000.0}) {
    auto values = numbers<unsigned int>(curandGeneratePoisson, lambda);
    std::sort(values.begin(), values.end());
    double expected = 0;
    double largest = 0;
    for (unsigned int k = 0; k <= values.back(); ++k) {
      expected +=
          std::exp(k * std::log(lambda) - lambda - std::lgamma(k + 1.0));
      const auto reached =
          std::upper_bound(values.begin(), values.end(), k) - values.begin();
      largest = std::max(
          largest, std::abs(static_cast<double>(reached) / kCount - expected));
    }
    EXPECT_LT(largest, kLimit) << lambda;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    DistributionTest,
    ::testing::ValuesIn(kAllTypes),
    [](const auto& info) { return std::to_string(info.param); });

// Of 2^k points, each interval of length 2^-k has one, in every dimension; and
// each of as many squares, in the first two.
TEST(Quasirandom, PointsFillEachDimension) {
  constexpr std::size_t kPoints = 1024;
  constexpr unsigned kDimensions = 50;
  for (const curandRngType_t type :
       {CURAND_RNG_QUASI_SOBOL32,
        CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
        CURAND_RNG_QUASI_SOBOL64,
        CURAND_RNG_QUASI_SCRAMBLED_SOBOL64}) {
    const Handle generator(Place::kHost, type);
    ASSERT_EQ(
        curandSetQuasiRandomGeneratorDimensions(generator, kDimensions),
        CURAND_STATUS_SUCCESS);
    std::vector<double> values(kPoints * kDimensions);
    // Numbers of 32 bits lie at the ends of what they stand for.
    const double shift = is_64_bit(type) ? 0 : 0x1p-33;
    ASSERT_EQ(
        curandGenerateUniformDouble(generator, values.data(), values.size()),
        CURAND_STATUS_SUCCESS);
    for (unsigned dimension = 0; dimension < kDimensions; ++dimension) {
      std::vector<int> hits(kPoints);
      for (std::size_t i = 0; i < kPoints; ++i) {
        const double value = values[dimension * kPoints + i];
        ++hits[static_cast<std::size_t>((value - shift) * kPoints)];
      }
      EXPECT_EQ(hits, std::vector<int>(kPoints, 1)) << type << ' ' << dimension;
    }
    std::vector<int> squares(kPoints);
    for (std::size_t i = 0; i < kPoints; ++i) {
      const auto x = static_cast<std::size_t>((values[i] - shift) * 32);
      const auto y =
          static_cast<std::size_t>((values[kPoints + i] - shift) * 32);
      ++squares[x * 32 + y];
    }
    EXPECT_EQ(squares, std::vector<int>(kPoints, 1)) << type;
  }
}

} // namespace
} // namespace accelerator::rand::testing

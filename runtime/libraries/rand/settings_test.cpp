// What generators refuse, as NVIDIA's library does, and their settings.
#include <curand.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "runtime/libraries/rand/testing/handle.h"

namespace accelerator::rand::testing {
namespace {

constexpr curandGenerator_t kNone = nullptr;

constexpr curandRngType_t kPseudorandomTypes[] = {
    CURAND_RNG_PSEUDO_XORWOW,
    CURAND_RNG_PSEUDO_MRG32K3A,
    CURAND_RNG_PSEUDO_PHILOX4_32_10,
    CURAND_RNG_PSEUDO_MTGP32,
    CURAND_RNG_PSEUDO_MT19937};

bool is_quasirandom(curandRngType_t type) {
  return type >= CURAND_RNG_QUASI_DEFAULT;
}

bool is_mersenne_twister(curandRngType_t type) {
  return type == CURAND_RNG_PSEUDO_MTGP32 || type == CURAND_RNG_PSEUDO_MT19937;
}

TEST(Generators, AreMadeOfTypesThatThereAre) {
  curandGenerator_t handle = nullptr;
  for (const auto create : {curandCreateGenerator, curandCreateGeneratorHost}) {
    for (const int type : {1, 99, 102, 205, 300}) {
      EXPECT_EQ(
          create(&handle, static_cast<curandRngType_t>(type)),
          CURAND_STATUS_TYPE_ERROR);
    }
    EXPECT_NE(create(nullptr, CURAND_RNG_PSEUDO_XORWOW), CURAND_STATUS_SUCCESS);
  }
  // The two defaults are these.
  const auto first = [](curandRngType_t type) {
    const Handle generator(Place::kHost, type);
    std::vector<unsigned int> values(3);
    EXPECT_EQ(
        curandGenerate(generator, values.data(), 3), CURAND_STATUS_SUCCESS);
    return values;
  };
  EXPECT_EQ(first(CURAND_RNG_PSEUDO_DEFAULT), first(CURAND_RNG_PSEUDO_XORWOW));
  EXPECT_EQ(first(CURAND_RNG_QUASI_DEFAULT), first(CURAND_RNG_QUASI_SOBOL32));
}

TEST(Generators, ThatThereAreNot) {
  curandGenerator_t gone = nullptr;
  ASSERT_EQ(
      curandCreateGeneratorHost(&gone, CURAND_RNG_PSEUDO_XORWOW),
      CURAND_STATUS_SUCCESS);
  ASSERT_EQ(curandDestroyGenerator(gone), CURAND_STATUS_SUCCESS);
  unsigned int bits[2];
  unsigned long long wide[2];
  float narrow[2];
  double precise[2];
  for (const curandGenerator_t none : {kNone, gone}) {
    for (const curandStatus_t status :
         {curandDestroyGenerator(none),
          curandSetStream(none, nullptr),
          curandSetPseudoRandomGeneratorSeed(none, 1),
          curandSetGeneratorOffset(none, 1),
          curandSetGeneratorOrdering(none, CURAND_ORDERING_PSEUDO_DEFAULT),
          curandSetQuasiRandomGeneratorDimensions(none, 1),
          curandGenerateSeeds(none),
          curandGenerate(none, bits, 2),
          curandGenerateLongLong(none, wide, 2),
          curandGenerateUniform(none, narrow, 2),
          curandGenerateUniformDouble(none, precise, 2),
          curandGenerateNormal(none, narrow, 2, 0, 1),
          curandGenerateNormalDouble(none, precise, 2, 0, 1),
          curandGenerateLogNormal(none, narrow, 2, 0, 1),
          curandGenerateLogNormalDouble(none, precise, 2, 0, 1),
          curandGeneratePoisson(none, bits, 2, 1)}) {
      EXPECT_EQ(status, CURAND_STATUS_NOT_INITIALIZED);
    }
  }
}

class SettingsTest : public ::testing::TestWithParam<Place> {};

INSTANTIATE_TEST_SUITE_P(
    All,
    SettingsTest,
    ::testing::Values(Place::kHost, Place::kDevice));

TEST_P(SettingsTest, ThatATypeHas) {
  for (const curandRngType_t type : kAllTypes) {
    SCOPED_TRACE(type);
    const bool is_quasi = is_quasirandom(type);
    const bool is_twister = is_mersenne_twister(type);
    const Handle generator(GetParam(), type);
    EXPECT_EQ(
        curandSetPseudoRandomGeneratorSeed(generator, 1),
        is_quasi ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_SUCCESS);
    EXPECT_EQ(
        curandSetGeneratorOffset(generator, 1),
        is_twister ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_SUCCESS);
    for (const unsigned dimensions : {1U, 20000U}) {
      EXPECT_EQ(
          curandSetQuasiRandomGeneratorDimensions(generator, dimensions),
          is_quasi ? CURAND_STATUS_SUCCESS : CURAND_STATUS_TYPE_ERROR);
    }
    for (const unsigned dimensions : {0U, 20001U}) {
      EXPECT_EQ(
          curandSetQuasiRandomGeneratorDimensions(generator, dimensions),
          is_quasi ? CURAND_STATUS_OUT_OF_RANGE : CURAND_STATUS_TYPE_ERROR);
    }
    EXPECT_EQ(curandGenerateSeeds(generator), CURAND_STATUS_SUCCESS);
    std::set<int> good;
    if (is_quasi) {
      good = {CURAND_ORDERING_QUASI_DEFAULT};
    } else {
      good = {CURAND_ORDERING_PSEUDO_DEFAULT, CURAND_ORDERING_PSEUDO_LEGACY};
      if (type != CURAND_RNG_PSEUDO_MT19937) {
        good.insert(CURAND_ORDERING_PSEUDO_BEST);
        if (GetParam() == Place::kDevice) {
          good.insert(CURAND_ORDERING_PSEUDO_DYNAMIC);
        }
      }
      if (type == CURAND_RNG_PSEUDO_XORWOW) {
        good.insert(CURAND_ORDERING_PSEUDO_SEEDED);
      }
    }
    for (const int ordering :
         {0, 99, 100, 101, 102, 103, 104, 105, 200, 201, 202}) {
      EXPECT_EQ(
          curandSetGeneratorOrdering(
              generator, static_cast<curandOrdering_t>(ordering)),
          good.count(ordering) == 1 ? CURAND_STATUS_SUCCESS
                                    : CURAND_STATUS_OUT_OF_RANGE)
          << ordering;
    }
  }
}

TEST(Numbers, AreCounted) {
  const auto makes_two = [](curandRngType_t type) {
    return type == CURAND_RNG_PSEUDO_XORWOW ||
        type == CURAND_RNG_PSEUDO_MRG32K3A;
  };
  unsigned int bits[4];
  unsigned long long wide[4];
  float narrow[4];
  double precise[4];
  for (const curandRngType_t type : kAllTypes) {
    SCOPED_TRACE(type);
    const Handle generator(Place::kHost, type);
    for (const std::size_t n : {0, 1, 2, 3}) {
      const auto expected = n % 2 != 0 && makes_two(type)
          ? CURAND_STATUS_LENGTH_NOT_MULTIPLE
          : CURAND_STATUS_SUCCESS;
      EXPECT_EQ(curandGenerateNormal(generator, narrow, n, 0, 1), expected);
      EXPECT_EQ(
          curandGenerateNormalDouble(generator, precise, n, 0, 1), expected);
      EXPECT_EQ(curandGenerateLogNormal(generator, narrow, n, 0, 1), expected);
      EXPECT_EQ(
          curandGenerateLogNormalDouble(generator, precise, n, 0, 1), expected);
      EXPECT_EQ(
          curandGenerateUniform(generator, narrow, n), CURAND_STATUS_SUCCESS);
      // Each type has bits of one size only, but none are had of all.
      const bool is_wide = is_64_bit(type);
      EXPECT_EQ(
          curandGenerate(generator, bits, n),
          n > 0 && is_wide ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_SUCCESS);
      EXPECT_EQ(
          curandGenerateLongLong(generator, wide, n),
          n > 0 && !is_wide ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_SUCCESS);
    }
    if (!is_quasirandom(type)) {
      continue;
    }
    ASSERT_EQ(
        curandSetQuasiRandomGeneratorDimensions(generator, 2),
        CURAND_STATUS_SUCCESS);
    for (const std::size_t n : {1, 3}) {
      EXPECT_EQ(
          curandGenerateUniform(generator, narrow, n),
          CURAND_STATUS_LENGTH_NOT_MULTIPLE);
      EXPECT_EQ(
          curandGenerateUniformDouble(generator, precise, n),
          CURAND_STATUS_LENGTH_NOT_MULTIPLE);
      EXPECT_EQ(
          curandGeneratePoisson(generator, bits, n, 1),
          CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    }
  }
}

TEST(Numbers, OfPoissonHaveAMeanInItsRange) {
  const Handle generator(Place::kHost, CURAND_RNG_PSEUDO_PHILOX4_32_10);
  unsigned int values[2];
  for (const double lambda : {-1.0, 0.0, 400001.0, 1e300, std::nan("")}) {
    EXPECT_EQ(
        curandGeneratePoisson(generator, values, 2, lambda),
        CURAND_STATUS_OUT_OF_RANGE);
  }
  for (const double lambda : {1e-300, 400000.0}) {
    EXPECT_EQ(
        curandGeneratePoisson(generator, values, 2, lambda),
        CURAND_STATUS_SUCCESS);
    EXPECT_NEAR(values[0], lambda, 5 * std::sqrt(lambda) + 1e-9);
  }
}

// A sequence goes on from call to call; its settings say where it is.
TEST(Sequences, GoOn) {
  for (const curandRngType_t type : kPseudorandomTypes) {
    SCOPED_TRACE(type);
    constexpr std::size_t kAll = 5000;
    std::vector<unsigned int> all(kAll);
    {
      const Handle generator(Place::kHost, type);
      ASSERT_EQ(
          curandGenerate(generator, all.data(), kAll), CURAND_STATUS_SUCCESS);
    }
    const Handle generator(Place::kHost, type);
    std::vector<unsigned int> parts(kAll);
    for (std::size_t i = 0; i < kAll;) {
      const std::size_t count = std::min(kAll - i, i + 1);
      ASSERT_EQ(
          curandGenerate(generator, parts.data() + i, count),
          CURAND_STATUS_SUCCESS);
      i += count;
      // It is the same as before, which is no change. Source: what libcurand.so
      // of 10.3.5 answered, for MTGP32, too.
      ASSERT_EQ(
          curandSetPseudoRandomGeneratorSeed(generator, 0),
          CURAND_STATUS_SUCCESS);
    }
    EXPECT_EQ(parts, all);
    if (!is_mersenne_twister(type)) {
      ASSERT_EQ(
          curandSetGeneratorOffset(generator, 4321), CURAND_STATUS_SUCCESS);
      ASSERT_EQ(
          curandGenerate(generator, parts.data(), 100), CURAND_STATUS_SUCCESS);
      EXPECT_TRUE(
          std::equal(parts.begin(), parts.begin() + 100, all.begin() + 4321));
    }
    ASSERT_EQ(
        curandSetPseudoRandomGeneratorSeed(generator, 1),
        CURAND_STATUS_SUCCESS);
    ASSERT_EQ(
        curandGenerate(generator, parts.data(), kAll), CURAND_STATUS_SUCCESS);
    EXPECT_NE(parts, all);
  }
}

// In mid-sequence, too: at the offset that it has come to, or, where there are
// no offsets, at the beginning. Source: what libcurand.so of 10.3.5 answered.
// Its Philox begins elsewhere, and MT19937 it does not make without a GPU.
TEST(Sequences, BeginAnewWithAnotherSetting) {
  constexpr unsigned long long kSeed = 7;
  // Each takes two steps of some types.
  constexpr std::size_t kBefore = 5000;
  constexpr std::size_t kCount = 100;
  using Change = std::function<void(curandGenerator_t)>;
  const auto seed = [](unsigned long long value) -> Change {
    return [value](curandGenerator_t generator) {
      EXPECT_EQ(
          curandSetPseudoRandomGeneratorSeed(generator, value),
          CURAND_STATUS_SUCCESS);
    };
  };
  const auto ordering = [](curandOrdering_t value) -> Change {
    return [value](curandGenerator_t generator) {
      EXPECT_EQ(
          curandSetGeneratorOrdering(generator, value), CURAND_STATUS_SUCCESS);
    };
  };
  const Change make_state = [](curandGenerator_t generator) {
    EXPECT_EQ(curandGenerateSeeds(generator), CURAND_STATUS_SUCCESS);
  };
  const Change to_offset = [](curandGenerator_t generator) {
    EXPECT_EQ(
        curandSetGeneratorOffset(generator, kBefore), CURAND_STATUS_SUCCESS);
  };
  const Change advance = [](curandGenerator_t generator) {
    std::vector<double> values(kBefore);
    EXPECT_EQ(
        curandGenerateUniformDouble(generator, values.data(), kBefore),
        CURAND_STATUS_SUCCESS);
  };
  for (const curandRngType_t type : kPseudorandomTypes) {
    SCOPED_TRACE(type);
    const auto after = [&](const std::vector<Change>& changes) {
      const Handle generator(Place::kHost, type);
      for (const Change& change : changes) {
        change(generator);
      }
      std::vector<unsigned int> values(kCount);
      EXPECT_EQ(
          curandGenerate(generator, values.data(), kCount),
          CURAND_STATUS_SUCCESS);
      return values;
    };
    const auto undisturbed = after({seed(kSeed), advance});
    for (const Change& same :
         {seed(kSeed), ordering(CURAND_ORDERING_PSEUDO_DEFAULT)}) {
      EXPECT_EQ(after({seed(kSeed), advance, same}), undisturbed);
    }
    const auto anew = is_mersenne_twister(type)
        ? after({seed(kSeed)})
        : after({seed(kSeed), to_offset});
    EXPECT_EQ(after({seed(kSeed + 1), advance, seed(kSeed)}), anew);
    EXPECT_EQ(
        after({seed(kSeed), advance, seed(kSeed + 1), seed(kSeed)}), anew);
    EXPECT_EQ(
        after(
            {seed(kSeed),
             advance,
             ordering(CURAND_ORDERING_PSEUDO_LEGACY),
             ordering(CURAND_ORDERING_PSEUDO_DEFAULT)}),
        anew);
    EXPECT_EQ(after({seed(kSeed), advance, make_state}), anew);
    if (!is_mersenne_twister(type)) {
      EXPECT_EQ(after({seed(kSeed), advance, to_offset}), anew);
    }
  }
}

// NVIDIA's are those that suit the device.
TEST(Sequences, OfTheDynamicOrderingAreThoseOfTheDefaultOne) {
  constexpr std::size_t kCount = 100000;
  for (const curandRngType_t type : kPseudorandomTypes) {
    if (type == CURAND_RNG_PSEUDO_MT19937) {
      continue;
    }
    SCOPED_TRACE(type);
    const auto numbers = [type](curandOrdering_t ordering) {
      const Handle generator(Place::kDevice, type);
      EXPECT_EQ(
          curandSetGeneratorOrdering(generator, ordering),
          CURAND_STATUS_SUCCESS);
      Room<unsigned int> room(Place::kDevice, kCount);
      EXPECT_EQ(
          curandGenerate(generator, room.get(), kCount), CURAND_STATUS_SUCCESS);
      return room.values();
    };
    EXPECT_EQ(
        numbers(CURAND_ORDERING_PSEUDO_DYNAMIC),
        numbers(CURAND_ORDERING_PSEUDO_DEFAULT));
  }
}

// What kernels are given who make Sobol's numbers themselves.
TEST(Directions, AreThoseOfTheGenerators) {
  curandDirectionVectors32_t* vectors = nullptr;
  curandDirectionVectors64_t* wide_vectors = nullptr;
  unsigned int* constants = nullptr;
  unsigned long long* wide_constants = nullptr;
  ASSERT_EQ(curandGetScrambleConstants32(&constants), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(
      curandGetScrambleConstants64(&wide_constants), CURAND_STATUS_SUCCESS);
  constexpr std::size_t kPoints = 3;
  constexpr std::size_t kDimensions = 20000;
  const auto check = [&](curandRngType_t type,
                         auto generate,
                         const auto* const* sets,
                         const auto* offsets,
                         auto zero) {
    const Handle generator(Place::kHost, type);
    ASSERT_EQ(
        curandSetQuasiRandomGeneratorDimensions(generator, kDimensions),
        CURAND_STATUS_SUCCESS);
    std::vector<decltype(zero)> values(kPoints * kDimensions);
    ASSERT_EQ(
        generate(generator, values.data(), values.size()),
        CURAND_STATUS_SUCCESS);
    for (std::size_t i = 0; i < kDimensions; ++i) {
      const auto first = offsets == nullptr ? zero : offsets[i];
      ASSERT_EQ(values[kPoints * i], first);
      ASSERT_EQ(values[kPoints * i + 1], first ^ (*sets)[i][0]);
      ASSERT_EQ(values[kPoints * i + 2], first ^ (*sets)[i][0] ^ (*sets)[i][1]);
    }
  };
  const unsigned int* const none = nullptr;
  const unsigned long long* const wide_none = nullptr;
  ASSERT_EQ(
      curandGetDirectionVectors32(
          &vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6),
      CURAND_STATUS_SUCCESS);
  check(CURAND_RNG_QUASI_SOBOL32, curandGenerate, &vectors, none, 0U);
  ASSERT_EQ(
      curandGetDirectionVectors32(
          &vectors, CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6),
      CURAND_STATUS_SUCCESS);
  check(
      CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
      curandGenerate,
      &vectors,
      constants,
      0U);
  ASSERT_EQ(
      curandGetDirectionVectors64(
          &wide_vectors, CURAND_DIRECTION_VECTORS_64_JOEKUO6),
      CURAND_STATUS_SUCCESS);
  check(
      CURAND_RNG_QUASI_SOBOL64,
      curandGenerateLongLong,
      &wide_vectors,
      wide_none,
      0ULL);
  ASSERT_EQ(
      curandGetDirectionVectors64(
          &wide_vectors, CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6),
      CURAND_STATUS_SUCCESS);
  check(
      CURAND_RNG_QUASI_SCRAMBLED_SOBOL64,
      curandGenerateLongLong,
      &wide_vectors,
      wide_constants,
      0ULL);
  for (const auto set :
       {CURAND_DIRECTION_VECTORS_64_JOEKUO6,
        CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6}) {
    EXPECT_EQ(
        curandGetDirectionVectors32(&vectors, set), CURAND_STATUS_OUT_OF_RANGE);
  }
  for (const auto set :
       {CURAND_DIRECTION_VECTORS_32_JOEKUO6,
        CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6}) {
    EXPECT_EQ(
        curandGetDirectionVectors64(&wide_vectors, set),
        CURAND_STATUS_OUT_OF_RANGE);
  }
}

TEST(Library, SaysItsVersion) {
  int version = 0;
  ASSERT_EQ(curandGetVersion(&version), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(version, CURAND_VERSION);
  int parts[3] = {};
  for (const auto type : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    EXPECT_EQ(curandGetProperty(type, &parts[type]), CURAND_STATUS_SUCCESS);
  }
  EXPECT_EQ(parts[0] * 1000 + parts[1] * 100 + parts[2], version);
  EXPECT_EQ(
      curandGetProperty(static_cast<libraryPropertyType>(3), parts),
      CURAND_STATUS_OUT_OF_RANGE);
}

} // namespace
} // namespace accelerator::rand::testing

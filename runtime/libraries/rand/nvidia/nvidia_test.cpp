// The numbers of generators for the host beside those of NVIDIA's library,
// which makes them without a GPU.
#include <curand.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace {

/// More than the lanes of every generator take in a turn.
constexpr std::size_t kCount = 200000;
constexpr std::size_t kFewest = 100;

/// A function of NVIDIA's library by the name and type of ours.
template <typename Function>
Function* nvidias(const char* name, Function* /*ours*/) {
  static void* const library = dlopen(
      std::getenv("NVIDIA_CURAND"), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  EXPECT_NE(library, nullptr) << dlerror();
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  EXPECT_NE(function, nullptr) << name;
  return function;
}
#define NVIDIAS(name) nvidias(#name, name)

struct Setting {
  curandRngType_t type;
  curandOrdering_t ordering;
  unsigned long long seed; // not of quasirandom generators
  unsigned long long offset; // not of Mersenne Twisters
  unsigned dimensions; // of quasirandom generators
};

bool is_quasirandom(curandRngType_t type) {
  return type >= CURAND_RNG_QUASI_DEFAULT;
}

bool is_mersenne_twister(curandRngType_t type) {
  return type == CURAND_RNG_PSEUDO_MTGP32 || type == CURAND_RNG_PSEUDO_MT19937;
}

/// The same generator of both libraries.
class Pair {
 public:
  explicit Pair(const Setting& setting) {
    both(
        NVIDIAS(curandCreateGeneratorHost), curandCreateGeneratorHost, setting);
  }
  ~Pair() {
    EXPECT_EQ(curandDestroyGenerator(ours_), CURAND_STATUS_SUCCESS);
    EXPECT_EQ(NVIDIAS(curandDestroyGenerator)(nvidias_), CURAND_STATUS_SUCCESS);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  /// Has both make numbers, in pieces that end anywhere.
  /// @param expect is called with the place, our number and NVIDIA's.
  template <typename T, typename Function, typename Expect, typename... More>
  void compare(
      Function* function,
      Function* nvidias_function,
      std::vector<std::size_t> pieces,
      Expect expect,
      More... more) {
    for (const std::size_t count : pieces) {
      std::vector<T> ours(count), theirs(count);
      ASSERT_EQ(
          function(ours_, ours.data(), count, more...), CURAND_STATUS_SUCCESS);
      ASSERT_EQ(
          nvidias_function(nvidias_, theirs.data(), count, more...),
          CURAND_STATUS_SUCCESS);
      for (std::size_t i = 0; i < count; ++i) {
        expect(i, ours[i], theirs[i]);
        if (::testing::Test::HasFailure()) {
          FAIL() << "number " << i << " of " << count;
        }
      }
    }
  }

 private:
  template <typename Create>
  void both(Create* nvidias_create, Create* create, const Setting& its) {
    ASSERT_EQ(create(&ours_, its.type), CURAND_STATUS_SUCCESS);
    ASSERT_EQ(nvidias_create(&nvidias_, its.type), CURAND_STATUS_SUCCESS);
    const auto set = [&](auto* ours, auto* nvidias_set, auto value) {
      ASSERT_EQ(ours(ours_, value), CURAND_STATUS_SUCCESS);
      ASSERT_EQ(nvidias_set(nvidias_, value), CURAND_STATUS_SUCCESS);
    };
#define SET(name, value) set(name, NVIDIAS(name), value)
    if (is_quasirandom(its.type)) {
      SET(curandSetQuasiRandomGeneratorDimensions, its.dimensions);
    } else {
      SET(curandSetPseudoRandomGeneratorSeed, its.seed);
    }
    if (!is_mersenne_twister(its.type)) {
      SET(curandSetGeneratorOffset, its.offset);
    }
    SET(curandSetGeneratorOrdering, its.ordering);
#undef SET
  }

  curandGenerator_t ours_ = nullptr;
  curandGenerator_t nvidias_ = nullptr;
};

class NvidiaTest : public ::testing::TestWithParam<Setting> {
 protected:
  static std::vector<std::size_t> pieces() {
    // Quasirandom points have a number in each dimension; pairs are whole.
    return {kFewest, kCount};
  }
  /// New generators, but of MT19937, whose state NVIDIA's library makes in
  /// seconds: those of a test go on.
  Pair& pair() {
    if (!pair_ || GetParam().type != CURAND_RNG_PSEUDO_MT19937) {
      pair_.emplace(GetParam());
    }
    return *pair_;
  }

 private:
  std::optional<Pair> pair_;
};

const auto kEqual = [](std::size_t, auto ours, auto theirs) {
  EXPECT_EQ(ours, theirs);
};

/// The mathematical functions of the two libraries round differently.
const auto kNear = [](std::size_t, auto ours, auto theirs) {
  const bool is_narrow = sizeof(ours) == sizeof(float);
  EXPECT_NEAR(
      ours, theirs, (is_narrow ? 3e-6 : 1e-11) * (1 + std::abs(theirs)));
};

#define COMPARE(T, name, expect, ...) \
  pair().compare<T>(name, NVIDIAS(name), pieces(), expect, ##__VA_ARGS__)

TEST_P(NvidiaTest, Bits) {
  const bool is_wide = GetParam().type == CURAND_RNG_QUASI_SOBOL64 ||
      GetParam().type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
  if (is_wide) {
    COMPARE(unsigned long long, curandGenerateLongLong, kEqual);
  } else {
    COMPARE(unsigned int, curandGenerate, kEqual);
  }
}

TEST_P(NvidiaTest, UniformNumbers) {
  COMPARE(float, curandGenerateUniform, kEqual);
  COMPARE(double, curandGenerateUniformDouble, kEqual);
}

TEST_P(NvidiaTest, NormalNumbers) {
  COMPARE(float, curandGenerateNormal, kNear, 0.0F, 1.0F);
  COMPARE(double, curandGenerateNormalDouble, kNear, 0.0, 1.0);
  COMPARE(float, curandGenerateLogNormal, kNear, 0.5F, 0.25F);
  COMPARE(double, curandGenerateLogNormalDouble, kNear, 0.5, 0.25);
}

TEST_P(NvidiaTest, PoissonNumbers) {
  for (const double lambda :
       {0.01,
        3.5,
        9.5,
        10.0,
        31.5,
        32.0,
        100.0,
        1999.0,
        2000.0,
        8000.0,
        8000.5,
        400000.0}) {
    SCOPED_TRACE(lambda);
    // A sum of probabilities can lie at the very border between two numbers,
    // and so can a normal number, which is known to some 5e-7.
    std::size_t differences = 0;
    COMPARE(
        unsigned int,
        curandGeneratePoisson,
        ([&](std::size_t, unsigned int ours, unsigned int theirs) {
          EXPECT_LE(ours, theirs + 1);
          EXPECT_LE(theirs, ours + 1);
          differences += ours == theirs ? 0 : 1;
        }),
        lambda);
    // MT19937's come from sums that seem to have single precision.
    const bool is_single =
        lambda >= 2000 && GetParam().type == CURAND_RNG_PSEUDO_MT19937;
    if (!is_single) {
      EXPECT_LE(
          differences, lambda < 2000 ? 3 : 2e-6 * std::sqrt(lambda) * kCount);
    }
  }
}

constexpr unsigned long long kLargeSeed = (5ULL << 32) + 7;
constexpr unsigned long long kCarryingSeed = (6ULL << 32) - 9;
constexpr unsigned long long kWrappingSeed = ~0ULL - 9;

INSTANTIATE_TEST_SUITE_P(
    All,
    NvidiaTest,
    ::testing::Values(
        Setting{
            CURAND_RNG_PSEUDO_XORWOW,
            CURAND_ORDERING_PSEUDO_DEFAULT,
            1234,
            0,
            1},
        Setting{
            CURAND_RNG_PSEUDO_XORWOW,
            CURAND_ORDERING_PSEUDO_LEGACY,
            kLargeSeed,
            1000000,
            1},
        Setting{CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_BEST, 1, 7, 1},
        Setting{
            CURAND_RNG_PSEUDO_XORWOW,
            CURAND_ORDERING_PSEUDO_SEEDED,
            1234,
            0,
            1},
        // Seeds of lanes carry into their upper half, and beyond.
        Setting{
            CURAND_RNG_PSEUDO_XORWOW,
            CURAND_ORDERING_PSEUDO_SEEDED,
            kCarryingSeed,
            1000000,
            1},
        Setting{
            CURAND_RNG_PSEUDO_XORWOW,
            CURAND_ORDERING_PSEUDO_SEEDED,
            kWrappingSeed,
            7,
            1},
        Setting{
            CURAND_RNG_PSEUDO_MRG32K3A,
            CURAND_ORDERING_PSEUDO_DEFAULT,
            1234,
            0,
            1},
        Setting{
            CURAND_RNG_PSEUDO_MRG32K3A,
            CURAND_ORDERING_PSEUDO_LEGACY,
            kLargeSeed,
            1000000,
            1},
        Setting{
            CURAND_RNG_PSEUDO_PHILOX4_32_10,
            CURAND_ORDERING_PSEUDO_DEFAULT,
            1234,
            0,
            1},
        Setting{
            CURAND_RNG_PSEUDO_PHILOX4_32_10,
            CURAND_ORDERING_PSEUDO_LEGACY,
            kLargeSeed,
            1000000,
            1},
        Setting{
            CURAND_RNG_PSEUDO_MTGP32,
            CURAND_ORDERING_PSEUDO_DEFAULT,
            1234,
            0,
            1},
        Setting{
            CURAND_RNG_PSEUDO_MTGP32,
            CURAND_ORDERING_PSEUDO_LEGACY,
            kLargeSeed,
            0,
            1},
        Setting{
            CURAND_RNG_PSEUDO_MT19937,
            CURAND_ORDERING_PSEUDO_DEFAULT,
            kLargeSeed,
            0,
            1},
        Setting{
            CURAND_RNG_QUASI_SOBOL32,
            CURAND_ORDERING_QUASI_DEFAULT,
            0,
            0,
            1},
        Setting{
            CURAND_RNG_QUASI_SOBOL32,
            CURAND_ORDERING_QUASI_DEFAULT,
            0,
            12345,
            20},
        Setting{
            CURAND_RNG_QUASI_SOBOL64,
            CURAND_ORDERING_QUASI_DEFAULT,
            0,
            12345,
            20},
        Setting{
            CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
            CURAND_ORDERING_QUASI_DEFAULT,
            0,
            12345,
            20},
        Setting{
            CURAND_RNG_QUASI_SCRAMBLED_SOBOL64,
            CURAND_ORDERING_QUASI_DEFAULT,
            0,
            12345,
            20}));

/// The most dimensions, all of which the tables have.
constexpr std::size_t kDimensions = 20000;

template <typename Vectors, typename Function>
void expect_vectors(
    Function* ours,
    Function* nvidias_function,
    std::initializer_list<curandDirectionVectorSet_t> sets) {
  for (const auto set : sets) {
    Vectors* vectors = nullptr;
    Vectors* theirs = nullptr;
    ASSERT_EQ(ours(&vectors, set), CURAND_STATUS_SUCCESS);
    ASSERT_EQ(nvidias_function(&theirs, set), CURAND_STATUS_SUCCESS);
    EXPECT_EQ(std::memcmp(vectors, theirs, kDimensions * sizeof(Vectors)), 0)
        << set;
  }
}

template <typename Word>
void expect_constants(
    curandStatus_t ours(Word**),
    curandStatus_t nvidias_function(Word**)) {
  Word* constants = nullptr;
  Word* theirs = nullptr;
  ASSERT_EQ(ours(&constants), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(nvidias_function(&theirs), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(std::memcmp(constants, theirs, kDimensions * sizeof(Word)), 0);
}

TEST(NvidiaTables, DirectionVectors) {
  expect_vectors<curandDirectionVectors32_t>(
      curandGetDirectionVectors32,
      NVIDIAS(curandGetDirectionVectors32),
      {CURAND_DIRECTION_VECTORS_32_JOEKUO6,
       CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6});
  expect_vectors<curandDirectionVectors64_t>(
      curandGetDirectionVectors64,
      NVIDIAS(curandGetDirectionVectors64),
      {CURAND_DIRECTION_VECTORS_64_JOEKUO6,
       CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6});
}

TEST(NvidiaTables, ScrambleConstants) {
  expect_constants(
      curandGetScrambleConstants32, NVIDIAS(curandGetScrambleConstants32));
  expect_constants(
      curandGetScrambleConstants64, NVIDIAS(curandGetScrambleConstants64));
}

} // namespace

// Numbers that NVIDIA's library makes: it has generators for the host, which
// run without a GPU. Source: what libcurand.so of 10.3.5 answered.
#include <curand.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/libraries/rand/testing/handle.h"

namespace accelerator::rand::testing {
namespace {

/// One of many numbers of each kind, from a sequence's offset on.
struct Pseudorandom {
  curandRngType_t type;
  curandOrdering_t ordering;
  unsigned long long seed;
  unsigned long long offset;
  std::size_t index;
  unsigned int bits;
  float uniform;
  double wide_uniform;
  float normal;
  double wide_normal;
};

constexpr std::size_t kCount = 90000;

// clang-format off
constexpr Pseudorandom kPseudorandom[] = {
    {CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_DEFAULT, 0, 0, 0, 3179217846U, 0.740219355F, 0.43845084471842349, 0.292536646F, 1.0710216055754271},
    {CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_DEFAULT, 0, 0, 89999, 3120398070U, 0.726524293F, 0.93538271574096399, -0.00519129261F, 0.23535516522482661},
    {CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_DEFAULT, 1099511627875, 12345678901, 0, 3923418314U, 0.913492024F, 0.30351806637636375, 0.401570767F, -0.82635449854630438},
    {CURAND_RNG_PSEUDO_XORWOW, CURAND_ORDERING_PSEUDO_DEFAULT, 1099511627875, 12345678901, 89999, 575714418U, 0.134043962F, 0.55741939960137987, -0.193117648F, 0.39569885508089847},
    {CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_DEFAULT, 0, 0, 0, 545508615U, 0.12701112F, 0.12701112207614923, 1.84607279F, 1.8460727868869959},
    {CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_DEFAULT, 0, 0, 89999, 3903336193U, 0.908816278F, 0.90881627843310187, 0.801951289F, 0.80195119090361866},
    {CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_DEFAULT, 1099511627875, 12345678901, 0, 3793621547U, 0.883271337F, 0.8832713467077612, 0.444639891F, 0.44463987612439021},
    {CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_DEFAULT, 1099511627875, 12345678901, 89999, 656543000U, 0.152863324F, 0.15286332949726747, -2.12108707F, -2.1210869762235602},
    {CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_LEGACY, 0, 0, 89999, 1085002515U, 0.25262183F, 0.25262183411930766, 0.774145484F, 0.77414557503696713},
    {CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_LEGACY, 1099511627875, 12345678901, 0, 1990217509U, 0.463383615F, 0.46338362382891995, -0.700255573F, -0.70025556140154943},
    {CURAND_RNG_PSEUDO_MRG32K3A, CURAND_ORDERING_PSEUDO_LEGACY, 1099511627875, 12345678901, 89999, 2985106217U, 0.695024192F, 0.69502420193982739, -3.00786924F, -3.0078692156536944},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_ORDERING_PSEUDO_DEFAULT, 0, 0, 0, 1713891541U, 0.399046481F, 0.88052026840093833, -0.924662411F, -0.31039573600037634},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_ORDERING_PSEUDO_DEFAULT, 0, 0, 89999, 3075142582U, 0.715987444F, 0.64268724822843404, -0.423895657F, -0.79336192637433722},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_ORDERING_PSEUDO_DEFAULT, 1099511627875, 12345678901, 0, 2588062331U, 0.60258019F, 0.72366189592569929, -0.453218669F, -0.16580579668034659},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_ORDERING_PSEUDO_DEFAULT, 1099511627875, 12345678901, 89999, 3050241574U, 0.7101897F, 0.4232749413858457, 0.383560866F, -1.0112731829563226},
};
// clang-format on

/// The first point's number of one dimension of 20,000, at an offset: for 32
/// bits, then for 64.
struct Quasirandom {
  unsigned long long offset;
  std::size_t dimension;
  unsigned int bits;
  double wide_uniform;
  float normal;
  double wide_normal;
  unsigned long long wide_bits;
  double wide_uniform_64;
  float normal_64;
  double wide_normal_64;
};

constexpr std::size_t kDimensions = 20000;

// clang-format off
constexpr Quasirandom kQuasirandom[] = {
    {5, 19999, 1610612736U, 0.37500000023283064, -0.318639368F, -0.31863936365736895, 6917529027641081856U, 0.37500000000000006, -0.318639368F, -0.31863936396437503},
    {1000003, 0, 1187450880U, 0.27647495293058455, -0.593345582F, -0.59334557272849686, 5100062695206420480U, 0.27647495269775396, -0.593345582F, -0.59334557307647218},
    {1000003, 1, 2413424640U, 0.56191921257413924, 0.15583691F, 0.1558369112351842, 10365579900160573440U, 0.56191921234130859, 0.15583691F, 0.1558369109398095},
    {1000003, 777, 1970909184U, 0.45888805412687361, -0.103235446F, -0.10323544641713919, 8464990488666046464U, 0.45888805389404302, -0.103235446F, -0.10323544671050812},
    {1000003, 19999, 1052741632U, 0.2451105120126158, -0.689957321F, -0.68995732610236138, 4521490880577667072U, 0.24511051177978521, -0.689957321F, -0.68995732647259078},
};
// clang-format on

class KnownTest : public ::testing::TestWithParam<Place> {};

TEST_P(KnownTest, PseudorandomNumbersAreNvidias) {
  for (const Pseudorandom& known : kPseudorandom) {
    SCOPED_TRACE(known.type);
    SCOPED_TRACE(known.seed);
    SCOPED_TRACE(known.index);
    const auto number = [&](auto function, auto type, auto... arguments) {
      using T = decltype(type);
      const Handle generator(GetParam(), known.type);
      EXPECT_EQ(
          curandSetPseudoRandomGeneratorSeed(generator, known.seed),
          CURAND_STATUS_SUCCESS);
      EXPECT_EQ(
          curandSetGeneratorOffset(generator, known.offset),
          CURAND_STATUS_SUCCESS);
      EXPECT_EQ(
          curandSetGeneratorOrdering(generator, known.ordering),
          CURAND_STATUS_SUCCESS);
      Room<T> room(GetParam(), kCount);
      EXPECT_EQ(
          function(generator, room.get(), kCount, arguments...),
          CURAND_STATUS_SUCCESS);
      return room.values()[known.index];
    };
    EXPECT_EQ(number(curandGenerate, 0U), known.bits);
    EXPECT_EQ(number(curandGenerateUniform, 0.0F), known.uniform);
    EXPECT_EQ(number(curandGenerateUniformDouble, 0.0), known.wide_uniform);
    const float normal = number(curandGenerateNormal, 0.0F, 0.0F, 1.0F);
    const double wide = number(curandGenerateNormalDouble, 0.0, 0.0, 1.0);
    EXPECT_NEAR(normal, known.normal, 3e-6);
    EXPECT_NEAR(wide, known.wide_normal, 1e-13);
    EXPECT_NEAR(
        number(curandGenerateNormal, 0.0F, 3.0F, 2.0F), 3 + 2 * normal, 1e-5);
    EXPECT_NEAR(
        number(curandGenerateNormalDouble, 0.0, 3.0, 2.0), 3 + 2 * wide, 1e-13);
    EXPECT_FLOAT_EQ(
        number(curandGenerateLogNormal, 0.0F, 0.5F, 0.25F),
        std::exp(0.5F + 0.25F * normal));
    EXPECT_DOUBLE_EQ(
        number(curandGenerateLogNormalDouble, 0.0, 0.5, 0.25),
        std::exp(0.5 + 0.25 * wide));
  }
}

TEST_P(KnownTest, QuasirandomNumbersAreNvidias) {
  for (const Quasirandom& known : kQuasirandom) {
    SCOPED_TRACE(known.offset);
    SCOPED_TRACE(known.dimension);
    const auto number =
        [&](curandRngType_t type, auto function, auto zero, auto... arguments) {
          using T = decltype(zero);
          const Handle generator(GetParam(), type);
          EXPECT_EQ(
              curandSetQuasiRandomGeneratorDimensions(generator, kDimensions),
              CURAND_STATUS_SUCCESS);
          EXPECT_EQ(
              curandSetGeneratorOffset(generator, known.offset),
              CURAND_STATUS_SUCCESS);
          Room<T> room(GetParam(), kDimensions);
          EXPECT_EQ(
              function(generator, room.get(), kDimensions, arguments...),
              CURAND_STATUS_SUCCESS);
          return room.values()[known.dimension];
        };
    constexpr auto k32 = CURAND_RNG_QUASI_SOBOL32;
    constexpr auto k64 = CURAND_RNG_QUASI_SOBOL64;
    EXPECT_EQ(number(k32, curandGenerate, 0U), known.bits);
    EXPECT_EQ(number(k64, curandGenerateLongLong, 0ULL), known.wide_bits);
    EXPECT_EQ(
        number(k32, curandGenerateUniformDouble, 0.0), known.wide_uniform);
    EXPECT_EQ(
        number(k64, curandGenerateUniformDouble, 0.0), known.wide_uniform_64);
    EXPECT_EQ(
        number(k32, curandGenerateUniform, 0.0F),
        number(k64, curandGenerateUniform, 0.0F));
    EXPECT_FLOAT_EQ(
        number(k32, curandGenerateNormal, 0.0F, 0.0F, 1.0F), known.normal);
    EXPECT_FLOAT_EQ(
        number(k64, curandGenerateNormal, 0.0F, 0.0F, 1.0F), known.normal_64);
    EXPECT_NEAR(
        number(k32, curandGenerateNormalDouble, 0.0, 0.0, 1.0),
        known.wide_normal,
        1e-14);
    EXPECT_NEAR(
        number(k64, curandGenerateNormalDouble, 0.0, 0.0, 1.0),
        known.wide_normal_64,
        1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    KnownTest,
    ::testing::Values(Place::kHost, Place::kDevice));

} // namespace
} // namespace accelerator::rand::testing

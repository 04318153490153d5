// What transforms give, against their definition: kinds, sizes, layouts,
// batches, in place or not.
#include <cufft.h>
#include <cufftXt.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "runtime/libraries/blas/testing/arrays.h"
#include "runtime/libraries/fft/testing/naive.h"

namespace accelerator::fft::testing {
namespace {

using blas::testing::Array;
using blas::testing::random;

template <typename R>
struct Functions;
template <>
struct Functions<float> {
  static constexpr cufftType c2c = CUFFT_C2C, r2c = CUFFT_R2C, c2r = CUFFT_C2R;
  static constexpr auto exec_c2c = cufftExecC2C;
  static constexpr auto exec_r2c = cufftExecR2C;
  static constexpr auto exec_c2r = cufftExecC2R;
  using Api = cufftComplex;
};
template <>
struct Functions<double> {
  static constexpr cufftType c2c = CUFFT_Z2Z, r2c = CUFFT_D2Z, c2r = CUFFT_Z2D;
  static constexpr auto exec_c2c = cufftExecZ2Z;
  static constexpr auto exec_r2c = cufftExecD2Z;
  static constexpr auto exec_c2r = cufftExecZ2D;
  using Api = cufftDoubleComplex;
};

/// Where elements lie, as cufftPlanMany's arguments say it.
struct Place {
  Sizes embed;
  int stride;
  int distance;

  /// The address of an element of the transform `b` by its number without gaps.
  std::size_t at(int b, std::size_t number, const Sizes& sizes) const {
    std::size_t address = 0, factor = static_cast<std::size_t>(stride);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      const auto n = static_cast<std::size_t>(sizes[d]);
      address += number % n * factor;
      number /= n;
      factor *= static_cast<std::size_t>(embed[d]);
    }
    return address + static_cast<std::size_t>(b) * distance;
  }
  std::size_t room(int batch) const {
    return product(embed) * static_cast<std::size_t>(stride) +
        static_cast<std::size_t>(batch) * distance;
  }
};

Place dense(const Sizes& sizes) {
  return {sizes, 1, static_cast<int>(product(sizes))};
}

Sizes halved(Sizes sizes) {
  sizes.back() = sizes.back() / 2 + 1;
  return sizes;
}

template <typename R>
class TransformTest : public ::testing::Test {
 protected:
  using C = std::complex<R>;
  using F = Functions<R>;
  using Api = typename F::Api;

  void TearDown() override {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  static double tolerance(const Sizes& sizes) {
    return 50 * std::numeric_limits<R>::epsilon() *
        static_cast<double>(product(sizes));
  }

  template <typename T>
  static void expect_near(T got, Wide wanted, const Sizes& sizes) {
    ASSERT_LE(std::abs(Wide(got) - wanted), tolerance(sizes))
        << "of " << sizes.size() << " dimensions, the last " << sizes.back();
  }

  static cufftHandle plan(
      Sizes sizes,
      Place in,
      Place out,
      cufftType type,
      int batch) {
    cufftHandle handle = 0;
    EXPECT_EQ(
        cufftPlanMany(
            &handle,
            static_cast<int>(sizes.size()),
            sizes.data(),
            in.embed.data(),
            in.stride,
            in.distance,
            out.embed.data(),
            out.stride,
            out.distance,
            type,
            batch),
        CUFFT_SUCCESS);
    return handle;
  }

  /// Both directions, from one place to another or in place.
  static void check_complex(
      const Sizes& sizes,
      const Place& in,
      const Place& out,
      int batch,
      bool in_place) {
    const auto values = random<C>(
        in_place ? std::max(in.room(batch), out.room(batch)) : in.room(batch),
        7);
    const cufftHandle handle = plan(sizes, in, out, F::c2c, batch);
    for (const int direction : {CUFFT_FORWARD, CUFFT_INVERSE}) {
      const Array<C> source(values);
      const Array<C> other(std::vector<C>(out.room(batch), C(99)));
      const Array<C>& target = in_place ? source : other;
      ASSERT_EQ(
          F::exec_c2c(
              handle,
              source.template get<Api>(),
              target.template get<Api>(),
              direction),
          CUFFT_SUCCESS);
      const auto result = target.values();
      std::vector<bool> written(result.size());
      for (int b = 0; b < batch; ++b) {
        std::vector<Wide> one;
        for (std::size_t i = 0; i < product(sizes); ++i) {
          one.push_back(Wide(values[in.at(b, i, sizes)]));
        }
        const auto wanted = naive(one, sizes, direction);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          const std::size_t address = out.at(b, i, sizes);
          expect_near(result[address], wanted[i], sizes);
          written[address] = true;
        }
      }
      if (!in_place) {
        EXPECT_EQ(source.values(), values);
        for (std::size_t i = 0; i < result.size(); ++i) {
          EXPECT_TRUE(written[i] || result[i] == C(99)) << "element " << i;
        }
      }
    }
    EXPECT_EQ(cufftDestroy(handle), CUFFT_SUCCESS);
  }

  /// Real numbers forward, and what they give back again.
  static void check_real(
      const Sizes& sizes,
      const Place& real,
      const Place& complex,
      int batch,
      bool in_place) {
    const std::size_t reals = real.room(batch), complexes = complex.room(batch);
    auto values = random<R>(std::max(reals, 2 * complexes), 8);
    const Array<R> source(values);
    const Array<R> other(std::vector<R>(2 * complexes));
    const Array<R>& spectrum = in_place ? source : other;
    const cufftHandle there = plan(sizes, real, complex, F::r2c, batch);
    ASSERT_EQ(
        F::exec_r2c(there, source.get(), spectrum.template get<Api>()),
        CUFFT_SUCCESS);
    const auto result = spectrum.values();
    for (int b = 0; b < batch; ++b) {
      std::vector<Wide> one;
      for (std::size_t i = 0; i < product(sizes); ++i) {
        one.push_back(Wide(values[real.at(b, i, sizes)]));
      }
      const auto wanted = half(naive(one, sizes, -1), sizes);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::size_t address = 2 * complex.at(b, i, halved(sizes));
        expect_near(C(result[address], result[address + 1]), wanted[i], sizes);
      }
    }
    const cufftHandle back = plan(sizes, complex, real, F::c2r, batch);
    const Array<R> elsewhere(std::vector<R>(values.size()));
    const Array<R>& target = in_place ? source : elsewhere;
    ASSERT_EQ(
        F::exec_c2r(back, spectrum.template get<Api>(), target.get()),
        CUFFT_SUCCESS);
    const auto again = target.values();
    const auto factor = static_cast<double>(product(sizes));
    for (int b = 0; b < batch; ++b) {
      for (std::size_t i = 0; i < product(sizes); ++i) {
        const std::size_t address = real.at(b, i, sizes);
        expect_near(again[address], Wide(values[address]) * factor, sizes);
      }
    }
    EXPECT_EQ(cufftDestroy(there), CUFFT_SUCCESS);
    EXPECT_EQ(cufftDestroy(back), CUFFT_SUCCESS);
  }
};

using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TransformTest, Reals);

const std::vector<Sizes>& all_sizes() {
  static const std::vector<Sizes> sizes = {
      {1},       {2},       {3},        {4},       {7},       {12},
      {31},      {97},      {128},      {210},     {1, 1},    {1, 6},
      {6, 1},    {5, 8},    {13, 3},    {2, 3, 4}, {5, 1, 3}, {1, 1, 1},
      {7, 2, 9}, {4, 4, 4}, {3, 11, 2},
  };
  return sizes;
}

TYPED_TEST(TransformTest, OfAllSizes) {
  for (const Sizes& sizes : all_sizes()) {
    for (const int batch : {1, 3}) {
      for (const bool in_place : {false, true}) {
        this->check_complex(sizes, dense(sizes), dense(sizes), batch, in_place);
        Sizes padded = halved(sizes);
        padded.back() *= 2;
        this->check_real(
            sizes,
            dense(in_place ? padded : sizes),
            dense(halved(sizes)),
            batch,
            in_place);
      }
    }
  }
}

TYPED_TEST(TransformTest, OfRandomLayouts) {
  std::mt19937 generator(1);
  const auto number = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(generator);
  };
  for (int round = 0; round < 60; ++round) {
    Sizes sizes;
    for (int d = number(1, 3); d > 0; --d) {
      sizes.push_back(number(1, 9));
    }
    const int batch = number(1, 4);
    const auto place = [&](Sizes embed) {
      for (int& size : embed) {
        size += number(0, 2);
      }
      const int stride = number(1, 3);
      // Batches one after another, or each next to the one before.
      if (stride >= batch && number(0, 1) == 1) {
        return Place{embed, stride, 1};
      }
      const int whole = static_cast<int>(product(embed)) * stride;
      return Place{embed, stride, whole + number(0, 5)};
    };
    this->check_complex(sizes, place(sizes), place(sizes), batch, false);
    this->check_complex(sizes, place(sizes), place(sizes), batch, true);
    const Place same = place(sizes);
    this->check_complex(sizes, same, same, batch, true);
    this->check_real(sizes, place(sizes), place(halved(sizes)), batch, false);
    this->check_real(sizes, place(sizes), place(halved(sizes)), batch, true);
  }
}

// The pieces of a signal that a short-time transform takes overlap each other.
TYPED_TEST(TransformTest, OfInputThatOverlapsItself) {
  this->check_complex({8}, {{8}, 1, 3}, {{8}, 1, 8}, 5, false);
}

// Without layouts real data in place have room for the complex ones.
TYPED_TEST(TransformTest, OfRealDataInPlaceWithoutLayout) {
  using R = TypeParam;
  using F = Functions<R>;
  constexpr int kN = 9, kBatch = 3, kPadded = 10;
  const auto values = random<R>(kPadded * kBatch, 4);
  const Array<R> data(values);
  cufftHandle there = 0, back = 0;
  ASSERT_EQ(cufftPlan1d(&there, kN, F::r2c, kBatch), CUFFT_SUCCESS);
  ASSERT_EQ(cufftPlan1d(&back, kN, F::c2r, kBatch), CUFFT_SUCCESS);
  ASSERT_EQ(
      F::exec_r2c(there, data.get(), data.template get<typename F::Api>()),
      CUFFT_SUCCESS);
  const auto spectrum = data.values();
  ASSERT_EQ(
      F::exec_c2r(back, data.template get<typename F::Api>(), data.get()),
      CUFFT_SUCCESS);
  const auto again = data.values();
  for (std::size_t b = 0; b < kBatch; ++b) {
    const R* first = &values[b * kPadded];
    const auto wanted =
        half(naive(std::vector<Wide>(first, first + kN), {kN}, -1), {kN});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t address = b * kPadded + 2 * i;
      this->expect_near(
          std::complex<R>(spectrum[address], spectrum[address + 1]),
          wanted[i],
          {kN});
    }
    for (int i = 0; i < kN; ++i) {
      this->expect_near(again[b * kPadded + i], Wide(first[i]) * 9.0, {kN});
    }
  }
  EXPECT_EQ(cufftDestroy(there), CUFFT_SUCCESS);
  EXPECT_EQ(cufftDestroy(back), CUFFT_SUCCESS);
}

// All ways to ask for the same plan.
TEST(Plans, OfAllFunctionsAreTheSame) {
  using C = std::complex<float>;
  const auto values = random<C>(2 * 3 * 4, 5);
  const Array<C> source(values);
  const auto check = [&](cufftHandle handle, const Sizes& sizes) {
    const Array<C> target{std::vector<C>(values.size())};
    EXPECT_EQ(
        cufftXtExec(handle, source.get(), target.get(), CUFFT_FORWARD),
        CUFFT_SUCCESS);
    const auto wanted = naive(
        std::vector<Wide>(values.begin(), values.end()), sizes, CUFFT_FORWARD);
    const auto got = target.values();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_LE(std::abs(Wide(got[i]) - wanted[i]), 1e-4);
    }
    EXPECT_EQ(cufftDestroy(handle), CUFFT_SUCCESS);
  };
  cufftHandle handle = 0;
  size_t size = 1;
  const auto create = [&] {
    EXPECT_EQ(cufftCreate(&handle), CUFFT_SUCCESS);
    return handle;
  };
  int n[] = {2, 3, 4};
  long long n64[] = {2, 3, 4};
  ASSERT_EQ(cufftPlan1d(&handle, 24, CUFFT_C2C, 1), CUFFT_SUCCESS);
  check(handle, {24});
  ASSERT_EQ(cufftPlan2d(&handle, 6, 4, CUFFT_C2C), CUFFT_SUCCESS);
  check(handle, {6, 4});
  ASSERT_EQ(cufftPlan3d(&handle, 2, 3, 4, CUFFT_C2C), CUFFT_SUCCESS);
  check(handle, {2, 3, 4});
  ASSERT_EQ(
      cufftPlanMany(&handle, 3, n, nullptr, 5, 6, nullptr, 7, 8, CUFFT_C2C, 1),
      CUFFT_SUCCESS);
  check(handle, {2, 3, 4});
  ASSERT_EQ(cufftMakePlan1d(create(), 24, CUFFT_C2C, 1, &size), CUFFT_SUCCESS);
  check(handle, {24});
  ASSERT_EQ(cufftMakePlan2d(create(), 6, 4, CUFFT_C2C, &size), CUFFT_SUCCESS);
  check(handle, {6, 4});
  ASSERT_EQ(
      cufftMakePlan3d(create(), 2, 3, 4, CUFFT_C2C, &size), CUFFT_SUCCESS);
  check(handle, {2, 3, 4});
  ASSERT_EQ(
      cufftMakePlanMany(
          create(), 3, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &size),
      CUFFT_SUCCESS);
  check(handle, {2, 3, 4});
  ASSERT_EQ(
      cufftMakePlanMany64(
          create(), 3, n64, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &size),
      CUFFT_SUCCESS);
  check(handle, {2, 3, 4});
  ASSERT_EQ(
      cufftXtMakePlanMany(
          create(),
          3,
          n64,
          nullptr,
          1,
          0,
          CUDA_C_32F,
          nullptr,
          1,
          0,
          CUDA_C_32F,
          1,
          &size,
          CUDA_C_32F),
      CUFFT_SUCCESS);
  check(handle, {2, 3, 4});
  EXPECT_EQ(size, 0U);
}

} // namespace
} // namespace accelerator::fft::testing

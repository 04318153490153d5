// The loops of reductions: the same bits whatever instructions they use, and
// those that rounding once asks for.
#include "runtime/nccl/numeric/reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "runtime/nccl/numeric/kernels.h"

namespace accelerator::nccl {
namespace {

constexpr std::size_t kCount = 3001; // several blocks, and a rest
constexpr int kRanks = 3;

constexpr ncclDataType_t kTypes[] = {
    ncclInt8,
    ncclUint8,
    ncclInt32,
    ncclUint32,
    ncclInt64,
    ncclUint64,
    ncclFloat16,
    ncclFloat32,
    ncclFloat64,
    ncclBfloat16};
constexpr Reduction kReductions[] = {
    Reduction::kSum,
    Reduction::kProduct,
    Reduction::kMaximum,
    Reduction::kMinimum,
    Reduction::kMean,
    Reduction::kScaledSum};

using Bytes = std::vector<unsigned char>;

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(random());
  }
  return bytes;
}

/// Whether two results are the same; NaN is, whatever its bits are.
bool same(ncclDataType_t type, const Bytes& a, const Bytes& b, std::size_t i) {
  const std::size_t size = size_of(type);
  const auto value = [&](const Bytes& bytes) -> double {
    const unsigned char* place = bytes.data() + i * size;
    switch (type) {
      case ncclFloat16: {
        __half half;
        std::memcpy(&half, place, size);
        return __half2float(half);
      }
      case ncclBfloat16: {
        __nv_bfloat16 short_float;
        std::memcpy(&short_float, place, size);
        return __bfloat162float(short_float);
      }
      case ncclFloat32: {
        float number = 0;
        std::memcpy(&number, place, size);
        return number;
      }
      case ncclFloat64: {
        double number = 0;
        std::memcpy(&number, place, size);
        return number;
      }
      default:
        return 0;
    }
  };
  return std::memcmp(a.data() + i * size, b.data() + i * size, size) == 0 ||
      (std::isnan(value(a)) && std::isnan(value(b)));
}

TEST(Reduce, GivesTheSameBitsWithAllInstructions) {
  if (__builtin_cpu_supports("x86-64-v3") == 0) {
    GTEST_SKIP() << "this machine has no x86-64-v3";
  }
  for (const ncclDataType_t type : kTypes) {
    const std::size_t bytes = kCount * size_of(type);
    std::vector<Bytes> data;
    std::vector<Input> inputs;
    for (unsigned rank = 0; rank < kRanks; ++rank) {
      data.push_back(random_bytes(bytes, rank));
    }
    for (unsigned rank = 0; rank < kRanks; ++rank) {
      const std::uint64_t factor = 0x3c00'4000'3f80'3e01ULL + rank;
      inputs.push_back({data[rank].data(), factor});
    }
    for (const Reduction reduction : kReductions) {
      Bytes plain(bytes), wide(bytes), second(bytes);
      baseline::find_kernel(type, reduction)(inputs, {plain.data()}, kCount);
      v3::find_kernel(type, reduction)(
          inputs, {wide.data(), second.data()}, kCount);
      EXPECT_EQ(wide, second);
      for (std::size_t i = 0; i < kCount; ++i) {
        ASSERT_TRUE(same(type, plain, wide, i))
            << name_of(type) << ' ' << name_of(reduction) << ' ' << i;
      }
    }
  }
}

template <typename T>
std::vector<T> reduce_all(
    ncclDataType_t type,
    Reduction reduction,
    const std::vector<std::vector<T>>& values) {
  std::vector<Input> inputs;
  for (const std::vector<T>& each : values) {
    inputs.push_back({each.data(), 0});
  }
  std::vector<T> results(values[0].size());
  reduce(type, reduction, inputs, {results.data()}, results.size());
  return results;
}

// 2048 + 1 is 2048 in float16, twice; 2048 + 1 + 1 is not.
TEST(Reduce, RoundsShortTypesOnce) {
  const __half large = __float2half(2048), one = __float2half(1);
  const auto sums =
      reduce_all<__half>(ncclFloat16, Reduction::kSum, {{large}, {one}, {one}});
  EXPECT_EQ(__half2float(sums[0]), 2050);
  const __nv_bfloat16 big = __float2bfloat16(256), small = __float2bfloat16(1);
  const auto others = reduce_all<__nv_bfloat16>(
      ncclBfloat16, Reduction::kSum, {{big}, {small}, {small}});
  EXPECT_EQ(__bfloat162float(others[0]), 258);
}

// (1e8 + 1) - 1e8 is 0 in float32, (1e8 - 1e8) + 1 is 1.
TEST(Reduce, AddsInTheOrderOfTheRanks) {
  const auto sums = reduce_all<float>(
      ncclFloat32, Reduction::kSum, {{1e8F, 1e8F}, {1, -1e8F}, {-1e8F, 1}});
  EXPECT_EQ(sums, (std::vector<float>{0, 1}));
}

TEST(Reduce, WrapsIntegersAndDividesTowardsZero) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(
      reduce_all<std::int64_t>(
          ncclInt64, Reduction::kSum, {{Limits::max(), -5}, {1, -2}}),
      (std::vector<std::int64_t>{Limits::min(), -7}));
  EXPECT_EQ(
      reduce_all<std::int64_t>(ncclInt64, Reduction::kMean, {{-5, 5}, {-2, 2}}),
      (std::vector<std::int64_t>{-3, 3}));
  EXPECT_EQ(
      reduce_all<std::uint64_t>(
          ncclUint64, Reduction::kMean, {{~0ULL - 1}, {0}}),
      (std::vector<std::uint64_t>{(~0ULL - 1) / 2}));
  EXPECT_EQ(
      reduce_all<std::int8_t>(ncclInt8, Reduction::kProduct, {{100}, {100}}),
      (std::vector<std::int8_t>{16}));
}

TEST(Reduce, PassesOverNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(
      reduce_all<float>(ncclFloat32, Reduction::kMaximum, {{nan, 1}, {2, nan}}),
      (std::vector<float>{2, 1}));
  EXPECT_EQ(
      reduce_all<float>(ncclFloat32, Reduction::kMinimum, {{nan, 1}, {2, nan}}),
      (std::vector<float>{2, 1}));
}

TEST(Reduce, RoundsToTheNearestAndKeepsWhatIsNoNumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float value :
       {1.0F,
        1.00390625F,
        1.01171875F,
        65504.0F,
        6e-8F,
        3e-8F,
        -0.0F,
        infinity,
        -infinity,
        nan}) {
    const auto half = reduce_all<__half>(
        ncclFloat16, Reduction::kMaximum, {{__float2half(value)}});
    const auto other = reduce_all<__nv_bfloat16>(
        ncclBfloat16, Reduction::kMaximum, {{__float2bfloat16(value)}});
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(__half2float(half[0])));
      EXPECT_TRUE(std::isnan(__bfloat162float(other[0])));
    } else {
      EXPECT_EQ(__half2float(half[0]), __half2float(__float2half(value)));
      EXPECT_EQ(
          __bfloat162float(other[0]),
          __bfloat162float(__float2bfloat16(value)));
    }
  }
}

} // namespace
} // namespace accelerator::nccl

// The formats of 16 bits in arithmetic of the host's own, and how programs call
// functions of cuda_fp16.h and cuda_bf16.h to be held against it.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/cuda_programs/check.h"

using U16 = std::uint16_t;
using Real = long double;

enum class Mode { kNearest, kZero, kDown, kUp };

// The two formats.
struct Fp16 {
  using T = __half;
  using T2 = __half2;
  static constexpr const char* kName = "half";
  static constexpr int kMantissa = 10;
  static constexpr int kLeast = -14; // exponent of the least normal number
  static constexpr int kMost = 15;
  static constexpr U16 kInfinity = 0x7c00;
};
struct Bf16 {
  using T = __nv_bfloat16;
  using T2 = __nv_bfloat162;
  static constexpr const char* kName = "bfloat16";
  static constexpr int kMantissa = 7;
  static constexpr int kLeast = -126;
  static constexpr int kMost = 127;
  static constexpr U16 kInfinity = 0x7f80;
};

template <typename F>
bool is_nan(U16 bits) {
  return (bits & 0x7fff) > F::kInfinity;
}

template <typename F>
Real decode(U16 bits) {
  const Real sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int magnitude = bits & 0x7fff;
  if (magnitude >= F::kInfinity) {
    return magnitude == F::kInfinity
        ? sign * std::numeric_limits<Real>::infinity()
        : std::numeric_limits<Real>::quiet_NaN();
  }
  const int exponent = magnitude >> F::kMantissa;
  const int fraction = magnitude & ((1 << F::kMantissa) - 1);
  return sign *
      (exponent == 0 ? std::ldexp(Real(fraction), F::kLeast - F::kMantissa)
                     : std::ldexp(
                           Real(fraction + (1 << F::kMantissa)),
                           exponent - 1 + F::kLeast - F::kMantissa));
}

template <typename F>
U16 encode(Real x, Mode mode = Mode::kNearest) {
  if (std::isnan(x)) {
    return 0x7fff;
  }
  const U16 sign = std::signbit(x) ? 0x8000 : 0;
  const Real magnitude = std::fabs(x);
  if (std::isinf(x)) {
    return sign | F::kInfinity;
  }
  if (magnitude == 0) {
    return sign;
  }
  int exponent = std::ilogb(magnitude);
  exponent = exponent < F::kLeast ? F::kLeast : exponent;
  const Real units = std::ldexp(magnitude, F::kMantissa - exponent);
  const Real below = std::floor(units);
  const Real rest = units - below;
  bool up = false;
  if (mode == Mode::kNearest) {
    up = rest > 0.5L || (rest == 0.5L && std::fmod(below, 2) == 1);
  } else if (mode != Mode::kZero) {
    up = rest > 0 && (mode == Mode::kUp) == (sign == 0);
  }
  const auto count = static_cast<long>(below) + (up ? 1 : 0);
  // A carry out of the mantissa goes into the exponent by itself.
  const long bits =
      count + (static_cast<long>(exponent - F::kLeast) << F::kMantissa);
  if (bits >= F::kInfinity) {
    const bool stays = mode == Mode::kZero ||
        (mode == Mode::kDown && sign == 0) || (mode == Mode::kUp && sign != 0);
    return sign | (stays ? F::kInfinity - 1 : F::kInfinity);
  }
  return static_cast<U16>(sign | bits);
}

// The sum, with the last bit set when it is not exact: to round it again does
// no harm.
inline Real add(Real a, Real b) {
  Real sum = a + b;
  if (!std::isfinite(sum)) {
    return sum;
  }
  const Real part = sum - a;
  const Real error = (a - (sum - part)) + (b - part);
  if (error != 0) {
    if ((error > 0) != (sum > 0)) {
      sum = std::nextafter(sum, Real(0));
    }
    unsigned char last = 0;
    std::memcpy(&last, &sum, 1);
    if ((last & 1) == 0) {
      sum = std::nextafter(sum, std::copysign(HUGE_VALL, sum));
    }
  }
  return sum;
}

inline Real saturate(Real x) {
  return std::isnan(x) || x <= 0 ? 0 : x > 1 ? 1 : x;
}
inline Real relu(Real x) {
  return x <= 0 ? 0 : x; // NaN stays
}
template <bool kGreater, bool kNan>
Real extreme(Real a, Real b) {
  if (std::isnan(a) || std::isnan(b)) {
    return kNan ? std::numeric_limits<Real>::quiet_NaN()
                : (std::isnan(a) ? b : a);
  }
  if (a == b) { // zeros with signs
    return std::signbit(a) == kGreater ? b : a;
  }
  return (a > b) == kGreater ? a : b;
}

// ---- How they are called ----

template <typename Function, typename R, typename... A>
__global__ void apply(
    Function function,
    int count,
    R* results,
    const A*... in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    results[i] = static_cast<R>(function(in[i]...));
  }
}

template <typename R, typename Function, typename A, typename... More>
std::vector<R> run(
    Function function,
    const std::vector<A>& first,
    const std::vector<More>&... more) {
  const int count = static_cast<int>(first.size());
  R* results = to_device(std::vector<R>(first.size()));
  apply<<<(count + 127) / 128, 128>>>(
      function,
      count,
      results,
      const_cast<const A*>(to_device(first)),
      const_cast<const More*>(to_device(more))...);
  CHECK_CUDA(cudaGetLastError());
  return to_host(results, first.size());
}

template <typename To, typename From>
std::vector<To> bits_as(const std::vector<From>& from) {
  std::vector<To> to(from.size() * sizeof(From) / sizeof(To));
  std::memcpy(
      static_cast<void*>(to.data()), from.data(), to.size() * sizeof(To));
  return to;
}

[[noreturn]] inline void fail(
    const char* format,
    const char* name,
    std::size_t i,
    double in,
    double found,
    double expected) {
  std::printf(
      "%s of %s: [%zu], of %.9g: found %.9g, expected %.9g\n",
      name,
      format,
      i,
      in,
      found,
      expected);
  std::exit(1);
}

// In the order of the numbers, so that neighbours differ by one.
inline int place(U16 bits) {
  return (bits & 0x8000) != 0 ? -(bits & 0x7fff) : bits;
}

// @param most how many numbers of the format a result may be off.
template <typename F>
void expect(
    const char* name,
    std::size_t i,
    U16 in,
    U16 found,
    U16 expected,
    int most = 0) {
  const bool right = is_nan<F>(expected) ? is_nan<F>(found)
      : most == 0
      ? found == expected
      : !is_nan<F>(found) && std::abs(place(found) - place(expected)) <= most;
  if (!right) {
    fail(
        F::kName,
        name,
        i,
        decode<F>(in),
        decode<F>(found),
        decode<F>(expected));
  }
}

#define CALL(name)                             \
  struct call_##name {                         \
    template <typename... A>                   \
    __device__ auto operator()(A... a) const { \
      return name(a...);                       \
    }                                          \
  };

// All numbers of 16 bits.
inline std::vector<U16> everything() {
  std::vector<U16> all(1 << 16);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<U16>(i);
  }
  return all;
}

// Pairs or triples with everything special: lists of the same length.
template <typename F>
std::vector<std::vector<U16>> samples(int operands) {
  const U16 one = encode<F>(1), infinity = F::kInfinity;
  std::vector<U16> special = {
      0,
      1,
      2,
      one,
      U16(one + 1),
      U16(one - 1),
      encode<F>(2),
      encode<F>(3),
      encode<F>(0.5),
      encode<F>(1000),
      U16(infinity - 1),
      infinity,
      U16(infinity + 1),
      0x7fff,
      U16(1 << F::kMantissa),
      U16((1 << F::kMantissa) - 1),
      encode<F>(0.1)};
  const std::size_t positive = special.size();
  for (std::size_t i = 0; i < positive; ++i) {
    special.push_back(special[i] | 0x8000);
  }
  std::vector<std::vector<U16>> lists(operands);
  std::size_t count = 1;
  for (int i = 0; i < operands; ++i) {
    count *= special.size();
  }
  for (std::size_t n = 0; n < count; ++n) {
    std::size_t rest = n;
    for (auto& list : lists) {
      list.push_back(special[rest % special.size()]);
      rest /= special.size();
    }
  }
  std::mt19937 random(3);
  for (int n = 0; n < 6000; ++n) {
    const U16 first = static_cast<U16>(random());
    for (auto& list : lists) {
      // Half of them near one another, which sums are about.
      list.push_back(
          n % 2 == 0 ? static_cast<U16>(random())
                     : static_cast<U16>(first + random() % 2048));
    }
  }
  if (lists[0].size() % 2 != 0) {
    for (auto& list : lists) {
      list.push_back(one);
    }
  }
  return lists;
}

// Any numbers, to be moved.
inline std::vector<U16> move_numbers(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<U16> numbers(64);
  for (U16& number : numbers) {
    number = static_cast<U16>(random());
  }
  return numbers;
}

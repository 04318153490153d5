// Every function of cuda_fp16.h and cuda_bf16.h against arithmetic of the host
// in long double, rounded to 16 bits here. half_functions_list_test.py sees to
// it that none is left out.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>
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
Real add(Real a, Real b) {
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

Real saturate(Real x) {
  return std::isnan(x) || x <= 0 ? 0 : x > 1 ? 1 : x;
}
Real relu(Real x) {
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

[[noreturn]] void fail(
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
int place(U16 bits) {
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
std::vector<U16> everything() {
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

// ---- One to one ----

// one, two, what it is of x, by how many numbers it may be off.
#define UNARY(use)                                                             \
  use(htrunc, h2trunc, trunc(x), 0) use(hceil, h2ceil, ceil(x), 0)             \
      use(hfloor, h2floor, floor(x), 0) use(hrint, h2rint, rint(x), 0)         \
          use(__habs, __habs2, fabs(x), 0) use(__hneg, __hneg2, -x, 0) use(    \
              hsqrt, h2sqrt, sqrt(x), 1) use(hrsqrt, h2rsqrt, 1 / sqrt(x), 1)  \
              use(hrcp, h2rcp, 1 / x, 1) use(hlog, h2log, log(x), 1) use(      \
                  hlog2, h2log2, log2(x), 1) use(hlog10, h2log10, log10(x), 1) \
                  use(hexp, h2exp, exp(x), 1) use(hexp2, h2exp2, exp2(x), 1)   \
                      use(hexp10, h2exp10, pow(10.0L, x), 1)                   \
                          use(hcos, h2cos, cos(x), 1)                          \
                              use(hsin, h2sin, sin(x), 1)

#define UNARY_CALL(one, two, host, most) CALL(one) CALL(two)
UNARY(UNARY_CALL)

template <typename F, typename One, typename Two>
void check_unary(
    const char* name,
    One one,
    Two two,
    Real (*host)(Real),
    int most) {
  const std::vector<U16> in = everything();
  const auto found =
      bits_as<U16>(run<typename F::T>(one, bits_as<typename F::T>(in)));
  const auto pairs =
      bits_as<U16>(run<typename F::T2>(two, bits_as<typename F::T2>(in)));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const U16 expected = encode<F>(host(decode<F>(in[i])));
    expect<F>(name, i, in[i], found[i], expected, most);
    expect<F>(
        (std::string(name) + ", two").c_str(),
        i,
        in[i],
        pairs[i],
        expected,
        most);
  }
}

// ---- Two and three to one ----

#define BINARY(use)                                                           \
  use(__hadd, __hadd2, add(a, b), 0) use(__hsub, __hsub2, add(a, -b), 0) use( \
      __hmul, __hmul2, a* b, 0) use(__hadd_rn, __hadd2_rn, add(a, b), 0)      \
      use(__hsub_rn, __hsub2_rn, add(a, -b), 0)                               \
          use(__hmul_rn, __hmul2_rn, a* b, 0) use(                            \
              __hadd_sat, __hadd2_sat, saturate(add(a, b)), 0)                \
              use(__hsub_sat, __hsub2_sat, saturate(add(a, -b)), 0) use(      \
                  __hmul_sat, __hmul2_sat, saturate(a* b), 0)                 \
                  use(__hdiv, __h2div, a / b, 1) use(                         \
                      __hmax, __hmax2, (extreme<true, false>(a, b)), 0)       \
                      use(__hmin, __hmin2, (extreme<false, false>(a, b)), 0)  \
                          use(__hmax_nan,                                     \
                              __hmax2_nan,                                    \
                              (extreme<true, true>(a, b)),                    \
                              0)                                              \
                              use(__hmin_nan,                                 \
                                  __hmin2_nan,                                \
                                  (extreme<false, true>(a, b)),               \
                                  0)

#define TERNARY(use)                                          \
  use(__hfma, __hfma2, add(a* b, c), 0)                       \
      use(__hfma_sat, __hfma2_sat, saturate(add(a* b, c)), 0) \
          use(__hfma_relu, __hfma2_relu, relu(add(a* b, c)), 0)

BINARY(UNARY_CALL)
TERNARY(UNARY_CALL)

template <typename F, typename One, typename Two>
void check_binary(
    const char* name,
    One one,
    Two two,
    Real (*host)(Real, Real),
    int most) {
  using T = typename F::T;
  using T2 = typename F::T2;
  const auto in = samples<F>(2);
  const auto found =
      bits_as<U16>(run<T>(one, bits_as<T>(in[0]), bits_as<T>(in[1])));
  const auto pairs =
      bits_as<U16>(run<T2>(two, bits_as<T2>(in[0]), bits_as<T2>(in[1])));
  for (std::size_t i = 0; i < in[0].size(); ++i) {
    const U16 expected =
        encode<F>(host(decode<F>(in[0][i]), decode<F>(in[1][i])));
    expect<F>(name, i, in[0][i], found[i], expected, most);
    expect<F>(
        (std::string(name) + ", two").c_str(),
        i,
        in[0][i],
        pairs[i],
        expected,
        most);
  }
}

template <typename F, typename One, typename Two>
void check_ternary(
    const char* name,
    One one,
    Two two,
    Real (*host)(Real, Real, Real),
    int most) {
  using T = typename F::T;
  using T2 = typename F::T2;
  const auto in = samples<F>(3);
  const auto found = bits_as<U16>(
      run<T>(one, bits_as<T>(in[0]), bits_as<T>(in[1]), bits_as<T>(in[2])));
  const auto pairs = bits_as<U16>(
      run<T2>(two, bits_as<T2>(in[0]), bits_as<T2>(in[1]), bits_as<T2>(in[2])));
  for (std::size_t i = 0; i < in[0].size(); ++i) {
    const U16 expected = encode<F>(
        host(decode<F>(in[0][i]), decode<F>(in[1][i]), decode<F>(in[2][i])));
    expect<F>(name, i, in[0][i], found[i], expected, most);
    expect<F>(
        (std::string(name) + ", two").c_str(),
        i,
        in[0][i],
        pairs[i],
        expected,
        most);
  }
}

// ---- Comparisons ----

#define COMPARISONS(use)                                                      \
  use(__heq, __heq2, __hbeq2, __heq2_mask, a == b) use(                       \
      __hne,                                                                  \
      __hne2,                                                                 \
      __hbne2,                                                                \
      __hne2_mask,                                                            \
      a<b || a> b) use(__hle, __hle2, __hble2, __hle2_mask, a <= b)           \
      use(__hge, __hge2, __hbge2, __hge2_mask, a >= b) use(                   \
          __hlt, __hlt2, __hblt2, __hlt2_mask, a < b)                         \
          use(__hgt, __hgt2, __hbgt2, __hgt2_mask, a > b) use(                \
              __hequ, __hequ2, __hbequ2, __hequ2_mask, !(a < b || a > b))     \
              use(__hneu, __hneu2, __hbneu2, __hneu2_mask, a != b) use(       \
                  __hleu, __hleu2, __hbleu2, __hleu2_mask, !(a > b))          \
                  use(__hgeu, __hgeu2, __hbgeu2, __hgeu2_mask, !(a < b)) use( \
                      __hltu, __hltu2, __hbltu2, __hltu2_mask, !(a >= b))     \
                      use(__hgtu, __hgtu2, __hbgtu2, __hgtu2_mask, !(a <= b))

#define COMPARISON_CALL(one, two, both, mask, host) \
  CALL(one) CALL(two) CALL(both) CALL(mask)
COMPARISONS(COMPARISON_CALL)
CALL(__hisnan)
CALL(__hisnan2)
CALL(__hisinf)

template <typename F, typename One, typename Two, typename Both, typename Mask>
void check_comparison(
    const char* name,
    One one,
    Two two,
    Both both,
    Mask mask,
    bool (*host)(Real, Real)) {
  using T = typename F::T;
  using T2 = typename F::T2;
  const auto in = samples<F>(2);
  const auto a2 = bits_as<T2>(in[0]), b2 = bits_as<T2>(in[1]);
  const auto found = run<unsigned>(one, bits_as<T>(in[0]), bits_as<T>(in[1]));
  const auto pairs = bits_as<U16>(run<T2>(two, a2, b2));
  const auto masks = bits_as<U16>(run<unsigned>(mask, a2, b2));
  const auto all = run<unsigned>(both, a2, b2);
  bool even = false;
  for (std::size_t i = 0; i < in[0].size(); ++i) {
    const bool holds = host(decode<F>(in[0][i]), decode<F>(in[1][i]));
    expect_equal(name, i, found[i], holds ? 1u : 0u);
    expect<F>(name, i, in[0][i], pairs[i], holds ? encode<F>(1) : 0);
    expect_equal(name, i, masks[i], U16(holds ? 0xffff : 0));
    if (i % 2 == 1) {
      expect_equal(name, i, all[i / 2], holds && even ? 1u : 0u);
    }
    even = holds;
  }
}

template <typename F>
void check_kinds() {
  const auto in = everything();
  const auto nan = run<unsigned>(call___hisnan(), bits_as<typename F::T>(in));
  const auto nans = bits_as<U16>(
      run<typename F::T2>(call___hisnan2(), bits_as<typename F::T2>(in)));
  const auto infinite = run<int>(call___hisinf(), bits_as<typename F::T>(in));
  for (std::size_t i = 0; i < in.size(); ++i) {
    expect_equal("__hisnan", i, nan[i], is_nan<F>(in[i]) ? 1u : 0u);
    expect<F>(
        "__hisnan2", i, in[i], nans[i], is_nan<F>(in[i]) ? encode<F>(1) : 0);
    const int sign = in[i] == F::kInfinity ? 1
        : in[i] == (F::kInfinity | 0x8000) ? -1
                                           : 0;
    expect_equal("__hisinf", i, infinite[i], sign);
  }
}

// ---- To and from integers ----

// use(to, from, of integers, mode)
#define ROUNDED(use, to, from, type)                                           \
  use(to##_rn, from##_rn, type, kNearest) use(to##_rz, from##_rz, type, kZero) \
      use(to##_rd, from##_rd, type, kDown) use(to##_ru, from##_ru, type, kUp)
#define HALF_INTEGERS(use)                                   \
  ROUNDED(use, __half2short, __short2half, short)            \
  ROUNDED(use, __half2ushort, __ushort2half, unsigned short) \
  ROUNDED(use, __half2int, __int2half, int)                  \
  ROUNDED(use, __half2uint, __uint2half, unsigned)           \
  ROUNDED(use, __half2ll, __ll2half, long long)              \
  ROUNDED(use, __half2ull, __ull2half, unsigned long long)
#define BRAIN_INTEGERS(use)                                          \
  ROUNDED(use, __bfloat162short, __short2bfloat16, short)            \
  ROUNDED(use, __bfloat162ushort, __ushort2bfloat16, unsigned short) \
  ROUNDED(use, __bfloat162int, __int2bfloat16, int)                  \
  ROUNDED(use, __bfloat162uint, __uint2bfloat16, unsigned)           \
  ROUNDED(use, __bfloat162ll, __ll2bfloat16, long long)              \
  ROUNDED(use, __bfloat162ull, __ull2bfloat16, unsigned long long)

#define INTEGER_CALL(to, from, type, mode) CALL(to) CALL(from)
HALF_INTEGERS(INTEGER_CALL)
BRAIN_INTEGERS(INTEGER_CALL)
CALL(__half2char_rz)
CALL(__half2uchar_rz)
CALL(__bfloat162char_rz)
CALL(__bfloat162uchar_rz)

Real to_whole(Real x, Mode mode) {
  switch (mode) {
    case Mode::kNearest:
      return std::rint(x);
    case Mode::kZero:
      return std::trunc(x);
    case Mode::kDown:
      return std::floor(x);
    default:
      return std::ceil(x);
  }
}

template <typename F, typename Integer, typename To>
void check_to_integer(const char* name, To to, Mode mode) {
  using Limits = std::numeric_limits<Integer>;
  const auto in = everything();
  const auto found = run<Integer>(to, bits_as<typename F::T>(in));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Real x = to_whole(decode<F>(in[i]), mode);
    Integer expected = 0;
    if (std::isnan(x)) {
      // What the headers say of NaN.
      expected = sizeof(Integer) == 8
          ? static_cast<Integer>(0x8000000000000000ull)
          : 0;
    } else if (x >= Real(Limits::max())) {
      expected = Limits::max();
    } else if (x <= Real(Limits::min())) {
      expected = Limits::min();
    } else {
      expected = static_cast<Integer>(x);
    }
    expect_equal(name, i, found[i], expected);
  }
}

template <typename F, typename Integer, typename From>
void check_from_integer(const char* name, From from, Mode mode) {
  using Limits = std::numeric_limits<Integer>;
  std::vector<Integer> in = {
      0, 1, 2, 3, Limits::max(), Limits::min(), Integer(Limits::max() / 2)};
  std::mt19937_64 random(5);
  for (int n = 0; n < 8000; ++n) {
    const int bits = static_cast<int>(random() % (8 * sizeof(Integer)));
    const auto wide = static_cast<Integer>(random());
    in.push_back(static_cast<Integer>(wide >> bits));
    in.push_back(static_cast<Integer>(Integer(1) << bits));
  }
  const auto found = bits_as<U16>(run<typename F::T>(from, in));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const U16 expected = encode<F>(Real(in[i]), mode);
    if (found[i] != expected) {
      fail(
          F::kName,
          name,
          i,
          double(in[i]),
          decode<F>(found[i]),
          decode<F>(expected));
    }
  }
}

// ---- To and from float and double ----

CALL(__float2half)
CALL(__float2half_rn)
CALL(__float2half_rz)
CALL(__float2half_rd)
CALL(__float2half_ru)
CALL(__double2half)
CALL(__half2float)
CALL(__float2half2_rn)
CALL(__floats2half2_rn)
CALL(__float22half2_rn)
CALL(__half22float2)
CALL(__float2bfloat16)
CALL(__float2bfloat16_rn)
CALL(__float2bfloat16_rz)
CALL(__float2bfloat16_rd)
CALL(__float2bfloat16_ru)
CALL(__double2bfloat16)
CALL(__bfloat162float)
CALL(__float2bfloat162_rn)
CALL(__floats2bfloat162_rn)
CALL(__float22bfloat162_rn)
CALL(__bfloat1622float2)
CALL(__low2float)
CALL(__high2float)

// Around each number of the format: itself, what is half way, and beside that.
template <typename F, typename Number>
std::vector<Number> numbers_about() {
  std::vector<Number> numbers;
  for (int bits = 0; bits < 1 << 16; bits += 7) {
    const auto x = static_cast<Number>(decode<F>(static_cast<U16>(bits)));
    const auto next =
        static_cast<Number>(decode<F>(static_cast<U16>(bits + 1)));
    const Number between = x + (next - x) / 2;
    const Number huge = std::numeric_limits<Number>::infinity();
    numbers.insert(
        numbers.end(),
        {x,
         between,
         std::nextafter(between, huge),
         std::nextafter(between, -huge),
         std::nextafter(x, huge),
         std::nextafter(x, -huge)});
  }
  numbers.insert(
      numbers.end(),
      {std::numeric_limits<Number>::max(),
       std::numeric_limits<Number>::lowest(),
       std::numeric_limits<Number>::denorm_min(),
       Number(65519),
       Number(65520)});
  numbers.resize(numbers.size() / 2 * 2);
  return numbers;
}

template <typename F, typename Number, typename Function>
void check_from(
    const char* name,
    Function function,
    Mode mode = Mode::kNearest) {
  const auto in = numbers_about<F, Number>();
  const auto found = bits_as<U16>(run<typename F::T>(function, in));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const U16 expected = encode<F>(in[i], mode);
    if (!(is_nan<F>(expected) ? is_nan<F>(found[i]) : found[i] == expected)) {
      fail(F::kName, name, i, in[i], decode<F>(found[i]), decode<F>(expected));
    }
  }
}

template <typename F, typename Twice, typename Each, typename Vector>
void check_pairs_from(Twice twice, Each each, Vector vector) {
  const auto in = numbers_about<F, float>();
  const std::vector<float> reversed(in.rbegin(), in.rend());
  const auto same = bits_as<U16>(run<typename F::T2>(twice, in));
  const auto both = bits_as<U16>(run<typename F::T2>(each, in, reversed));
  const auto of_vector =
      bits_as<U16>(run<typename F::T2>(vector, bits_as<float2>(in)));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const U16 expected = encode<F>(in[i]);
    expect<F>("twice a float", i, 0, same[2 * i], expected);
    expect<F>("twice a float", i, 0, same[2 * i + 1], expected);
    expect<F>("two floats", i, 0, both[2 * i], expected);
    expect<F>("two floats", i, 0, both[2 * i + 1], encode<F>(reversed[i]));
    expect<F>("a float2", i, 0, of_vector[i], expected);
  }
}

template <typename F, typename One, typename Two>
void check_to_float(One one, Two two) {
  const auto in = everything();
  const auto pairs = bits_as<typename F::T2>(in);
  const auto found = run<float>(one, bits_as<typename F::T>(in));
  const auto both = bits_as<float>(run<float2>(two, pairs));
  const auto low = run<float>(call___low2float(), pairs);
  const auto high = run<float>(call___high2float(), pairs);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto expected = static_cast<float>(decode<F>(in[i]));
    const float part = i % 2 == 0 ? low[i / 2] : high[i / 2];
    for (const float value : {found[i], both[i], part}) {
      if (!(std::isnan(expected) ? std::isnan(value)
                                 : value == expected &&
                    std::signbit(value) == std::signbit(expected))) {
        fail(F::kName, "to float", i, in[i], value, expected);
      }
    }
  }
}

// ---- Moves ----

CALL(make_half2)
CALL(__halves2half2)
CALL(__half2half2)
CALL(__low2half)
CALL(__high2half)
CALL(__low2half2)
CALL(__high2half2)
CALL(__lows2half2)
CALL(__highs2half2)
CALL(__half_as_short)
CALL(__half_as_ushort)
CALL(__short_as_half)
CALL(__ushort_as_half)
CALL(make_bfloat162)
CALL(__halves2bfloat162)
CALL(__bfloat162bfloat162)
CALL(__low2bfloat16)
CALL(__high2bfloat16)
CALL(__low2bfloat162)
CALL(__high2bfloat162)
CALL(__lows2bfloat162)
CALL(__highs2bfloat162)
CALL(__bfloat16_as_short)
CALL(__bfloat16_as_ushort)
CALL(__short_as_bfloat16)
CALL(__ushort_as_bfloat16)
CALL(__lowhigh2highlow)

// @param which of a.low, a.high, b.low, b.high the results are.
template <typename R, typename Function, typename... A>
void check_move(
    const char* name,
    Function function,
    const std::vector<int>& which,
    const std::vector<A>&... in) {
  const auto found = bits_as<U16>(run<R>(function, in...));
  const std::vector<std::vector<U16>> from = {bits_as<U16>(in)...};
  const std::size_t count = std::get<0>(std::forward_as_tuple(in...)).size();
  const std::size_t width = from[0].size() / count;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t part = 0; part < which.size(); ++part) {
      const auto source = static_cast<std::size_t>(which[part]);
      expect_equal(
          name,
          static_cast<long>(i),
          found[i * which.size() + part],
          from[source / 2][i * width + (width == 1 ? 0 : source % 2)]);
    }
  }
}

template <typename F>
std::vector<U16> move_numbers(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<U16> numbers(64);
  for (U16& number : numbers) {
    number = static_cast<U16>(random());
  }
  return numbers;
}

// ---- Shuffles, memory, atomics ----

constexpr int kShuffles = 4;
constexpr int kLoads = 6;
constexpr int kStores = 4;

template <typename T>
__global__ void use_shuffles(const T* in, T* out) {
  const unsigned lane = threadIdx.x;
  T* mine = out + lane * kShuffles;
  mine[0] = __shfl_sync(~0u, in[lane], 5);
  mine[1] = __shfl_xor_sync(~0u, in[lane], 3);
  mine[2] = __shfl_up_sync(~0u, in[lane], 2);
  mine[3] = __shfl_down_sync(~0u, in[lane], 7, 16);
}

template <typename T>
__global__ void use_memory(const T* in, T* loaded, T* stored) {
  const unsigned i = threadIdx.x;
  loaded += i * kLoads;
  loaded[0] = __ldg(in + i);
  loaded[1] = __ldcg(in + i);
  loaded[2] = __ldca(in + i);
  loaded[3] = __ldcs(in + i);
  loaded[4] = __ldlu(in + i);
  loaded[5] = __ldcv(in + i);
  stored += i * kStores;
  __stwb(stored, in[i]);
  __stcg(stored + 1, in[i]);
  __stcs(stored + 2, in[i]);
  __stwt(stored + 3, in[i]);
}

template <typename T>
__global__ void use_atomics(T* sum, T one) {
  atomicAdd(sum, one);
}

template <typename T>
void check_memory() {
  constexpr std::size_t kWords = sizeof(T) / 2;
  std::vector<U16> in = move_numbers<void>(11);
  in.resize(32 * kWords);
  const T* numbers = to_device(bits_as<T>(in));
  T* shuffled = to_device(std::vector<T>(32 * kShuffles));
  T* loaded = to_device(std::vector<T>(32 * kLoads));
  T* stored = to_device(std::vector<T>(32 * kStores));
  use_shuffles<<<1, 32>>>(numbers, shuffled);
  use_memory<<<1, 32>>>(numbers, loaded, stored);
  CHECK_CUDA(cudaGetLastError());
  const auto moved = bits_as<U16>(to_host(shuffled, 32 * kShuffles));
  const auto read = bits_as<U16>(to_host(loaded, 32 * kLoads));
  const auto written = bits_as<U16>(to_host(stored, 32 * kStores));
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::size_t from[kShuffles] = {
        5,
        lane ^ 3,
        lane < 2 ? lane : lane - 2,
        lane % 16 < 9 ? lane + 7 : lane};
    for (std::size_t word = 0; word < kWords; ++word) {
      const auto expect_all = [&](const char* name,
                                  const std::vector<U16>& found,
                                  std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
          expect_equal(
              name,
              static_cast<long>(i),
              found[(lane * count + i) * kWords + word],
              in[(count == kShuffles && &found == &moved ? from[i] : lane) *
                     kWords +
                 word]);
        }
      };
      expect_all("shuffle", moved, kShuffles);
      expect_all("load", read, kLoads);
      expect_all("store", written, kStores);
    }
  }
}

template <typename F>
void check_atomics() {
  using T = typename F::T;
  using T2 = typename F::T2;
  const std::vector<U16> ones(2, encode<F>(1));
  T* sum = to_device(bits_as<T>(std::vector<U16>(2)));
  T2* sums = to_device(bits_as<T2>(std::vector<U16>(2)));
  use_atomics<<<2, 64>>>(sum, bits_as<T>(ones)[0]);
  use_atomics<<<2, 64>>>(sums, bits_as<T2>(ones)[0]);
  CHECK_CUDA(cudaGetLastError());
  const auto found = bits_as<U16>(to_host(sum, 2));
  const auto pair = bits_as<U16>(to_host(sums, 1));
  expect<F>("atomicAdd", 0, 0, found[0], encode<F>(128));
  expect<F>("atomicAdd beside", 0, 0, found[1], 0);
  expect<F>("atomicAdd of two", 0, 0, pair[0], encode<F>(128));
  expect<F>("atomicAdd of two", 1, 0, pair[1], encode<F>(128));
}

// ---- Complex numbers ----

CALL(__hcmadd)

template <typename F>
void check_complex() {
  using T2 = typename F::T2;
  std::vector<std::vector<U16>> in = samples<F>(3);
  const auto found = bits_as<U16>(run<T2>(
      call___hcmadd(),
      bits_as<T2>(in[0]),
      bits_as<T2>(in[1]),
      bits_as<T2>(in[2])));
  const auto fused = [](Real a, Real b, Real c) {
    return decode<F>(encode<F>(add(a * b, c)));
  };
  for (std::size_t i = 0; i + 1 < in[0].size(); i += 2) {
    const auto part = [&](int operand, int which) {
      return decode<F>(in[operand][i + which]);
    };
    const Real real = fused(
        -part(0, 1), part(1, 1), fused(part(0, 0), part(1, 0), part(2, 0)));
    const Real imaginary = fused(
        part(0, 1), part(1, 0), fused(part(0, 0), part(1, 1), part(2, 1)));
    expect<F>("__hcmadd", i, in[0][i], found[i], encode<F>(real));
    expect<F>("__hcmadd", i + 1, in[0][i], found[i + 1], encode<F>(imaginary));
  }
}

template <typename F>
void check_format() {
#define CHECK_UNARY(one, two, host, most) \
  check_unary<F>(                         \
      #one,                               \
      call_##one(),                       \
      call_##two(),                       \
      [](Real x) -> Real {                \
        using namespace std;              \
        return host;                      \
      },                                  \
      most);
  UNARY(CHECK_UNARY)
#define CHECK_BINARY(one, two, host, most)         \
  check_binary<F>(                                 \
      #one,                                        \
      call_##one(),                                \
      call_##two(),                                \
      [](Real a, Real b) -> Real { return host; }, \
      most);
  BINARY(CHECK_BINARY)
#define CHECK_TERNARY(one, two, host, most)                \
  check_ternary<F>(                                        \
      #one,                                                \
      call_##one(),                                        \
      call_##two(),                                        \
      [](Real a, Real b, Real c) -> Real { return host; }, \
      most);
  TERNARY(CHECK_TERNARY)
#define CHECK_COMPARISON(one, two, both, mask, host) \
  check_comparison<F>(                               \
      #one,                                          \
      call_##one(),                                  \
      call_##two(),                                  \
      call_##both(),                                 \
      call_##mask(),                                 \
      [](Real a, Real b) -> bool { return host; });
  COMPARISONS(CHECK_COMPARISON)
  check_kinds<F>();
  check_complex<F>();
  check_memory<typename F::T>();
  check_memory<typename F::T2>();
  check_atomics<F>();
}

int main() {
  check_format<Fp16>();
  check_format<Bf16>();

#define CHECK_INTEGERS(to, from, type, mode)                    \
  check_to_integer<Format, type>(#to, call_##to(), Mode::mode); \
  check_from_integer<Format, type>(#from, call_##from(), Mode::mode);
  {
    using Format = Fp16;
    HALF_INTEGERS(CHECK_INTEGERS)
  }
  {
    using Format = Bf16;
    BRAIN_INTEGERS(CHECK_INTEGERS)
  }
  check_to_integer<Fp16, signed char>(
      "__half2char_rz", call___half2char_rz(), Mode::kZero);
  check_to_integer<Fp16, unsigned char>(
      "__half2uchar_rz", call___half2uchar_rz(), Mode::kZero);
  check_to_integer<Bf16, signed char>(
      "__bfloat162char_rz", call___bfloat162char_rz(), Mode::kZero);
  check_to_integer<Bf16, unsigned char>(
      "__bfloat162uchar_rz", call___bfloat162uchar_rz(), Mode::kZero);

#define CHECK_FROM(format, number, name, mode) \
  check_from<format, number>(#name, call_##name(), Mode::mode);
  CHECK_FROM(Fp16, float, __float2half, kNearest)
  CHECK_FROM(Fp16, float, __float2half_rn, kNearest)
  CHECK_FROM(Fp16, float, __float2half_rz, kZero)
  CHECK_FROM(Fp16, float, __float2half_rd, kDown)
  CHECK_FROM(Fp16, float, __float2half_ru, kUp)
  CHECK_FROM(Fp16, double, __double2half, kNearest)
  CHECK_FROM(Bf16, float, __float2bfloat16, kNearest)
  CHECK_FROM(Bf16, float, __float2bfloat16_rn, kNearest)
  CHECK_FROM(Bf16, float, __float2bfloat16_rz, kZero)
  CHECK_FROM(Bf16, float, __float2bfloat16_rd, kDown)
  CHECK_FROM(Bf16, float, __float2bfloat16_ru, kUp)
  CHECK_FROM(Bf16, double, __double2bfloat16, kNearest)
  check_pairs_from<Fp16>(
      call___float2half2_rn(),
      call___floats2half2_rn(),
      call___float22half2_rn());
  check_pairs_from<Bf16>(
      call___float2bfloat162_rn(),
      call___floats2bfloat162_rn(),
      call___float22bfloat162_rn());
  check_to_float<Fp16>(call___half2float(), call___half22float2());
  check_to_float<Bf16>(call___bfloat162float(), call___bfloat1622float2());

#define LIST(...) __VA_ARGS__
#define CHECK_MOVE(result, name, which, ...) \
  check_move<result>(                        \
      #name, call_##name(), std::vector<int>{LIST which}, __VA_ARGS__);
  const auto first = move_numbers<void>(1), second = move_numbers<void>(2);
  {
    const auto a = bits_as<__half>(first), b = bits_as<__half>(second);
    const auto a2 = bits_as<__half2>(first), b2 = bits_as<__half2>(second);
    const auto shorts = bits_as<short>(first);
    CHECK_MOVE(__half2, make_half2, (0, 2), a, b)
    CHECK_MOVE(__half2, __halves2half2, (0, 2), a, b)
    CHECK_MOVE(__half2, __half2half2, (0, 0), a)
    CHECK_MOVE(__half, __low2half, (0), a2)
    CHECK_MOVE(__half, __high2half, (1), a2)
    CHECK_MOVE(__half2, __low2half2, (0, 0), a2)
    CHECK_MOVE(__half2, __high2half2, (1, 1), a2)
    CHECK_MOVE(__half2, __lows2half2, (0, 2), a2, b2)
    CHECK_MOVE(__half2, __highs2half2, (1, 3), a2, b2)
    CHECK_MOVE(__half2, __lowhigh2highlow, (1, 0), a2)
    CHECK_MOVE(short, __half_as_short, (0), a)
    CHECK_MOVE(U16, __half_as_ushort, (0), a)
    CHECK_MOVE(__half, __short_as_half, (0), shorts)
    CHECK_MOVE(__half, __ushort_as_half, (0), first)
  }
  {
    using T = __nv_bfloat16;
    using T2 = __nv_bfloat162;
    const auto a = bits_as<T>(first), b = bits_as<T>(second);
    const auto a2 = bits_as<T2>(first), b2 = bits_as<T2>(second);
    const auto shorts = bits_as<short>(first);
    CHECK_MOVE(T2, make_bfloat162, (0, 2), a, b)
    CHECK_MOVE(T2, __halves2bfloat162, (0, 2), a, b)
    CHECK_MOVE(T2, __bfloat162bfloat162, (0, 0), a)
    CHECK_MOVE(T, __low2bfloat16, (0), a2)
    CHECK_MOVE(T, __high2bfloat16, (1), a2)
    CHECK_MOVE(T2, __low2bfloat162, (0, 0), a2)
    CHECK_MOVE(T2, __high2bfloat162, (1, 1), a2)
    CHECK_MOVE(T2, __lows2bfloat162, (0, 2), a2, b2)
    CHECK_MOVE(T2, __highs2bfloat162, (1, 3), a2, b2)
    CHECK_MOVE(T2, __lowhigh2highlow, (1, 0), a2)
    CHECK_MOVE(short, __bfloat16_as_short, (0), a)
    CHECK_MOVE(U16, __bfloat16_as_ushort, (0), a)
    CHECK_MOVE(T, __short_as_bfloat16, (0), shorts)
    CHECK_MOVE(T, __ushort_as_bfloat16, (0), first)
  }
}

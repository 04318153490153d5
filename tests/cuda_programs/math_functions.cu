// Mathematical functions of both precisions against the host's, in units in the
// last place, and integer intrinsics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tests/cuda_programs/check.h"

constexpr int kSamples = 512;

// name, what the host says, samples from ... to, the most ulps in double and in
// float: those of the CUDA programming guide, and what the host is off by.
#define FUNCTIONS(use)                                                        \
  use(exp, exp(x), -80, 80, 2, 3) use(exp2, exp2(x), -100, 100, 2, 3) use(    \
      exp10, pow(10.0L, x), -30, 30, 2, 3) use(expm1, expm1(x), -5, 5, 2, 2)  \
      use(log, log(x), 1e-5, 1e5, 2, 2) use(log2, log2(x), 1e-5, 1e5, 2, 2)   \
          use(log10, log10(x), 1e-5, 1e5, 2, 3) use(                          \
              log1p,                                                          \
              log1p(x),                                                       \
              -0.9,                                                           \
              100,                                                            \
              2,                                                              \
              2) use(sqrt, sqrt(x), 0, 1e6, 0, 0)                             \
              use(rsqrt, 1 / sqrt(x), 1e-3, 1e6, 2, 3) use(                   \
                  cbrt,                                                       \
                  cbrt(x),                                                    \
                  -1e3,                                                       \
                  1e3,                                                        \
                  2,                                                          \
                  2) use(rcbrt, 1 / cbrt(x), 1e-3, 1e3, 2, 2)                 \
                  use(sin, sin(x), -1e5, 1e5, 3, 3) use(                      \
                      cos, cos(x), -1e5, 1e5, 3, 3)                           \
                      use(tan, tan(x), -1e3, 1e3, 3, 5) use(                  \
                          sinpi,                                              \
                          sin(3.14159265358979323846264338327950288L * x),    \
                          -0.9,                                               \
                          0.9,                                                \
                          3,                                                  \
                          3) use(asin, asin(x), -1, 1, 3, 4)                  \
                          use(acos, acos(x), -1, 1, 3, 4) use(                \
                              atan, atan(x), -50, 50, 3, 3)                   \
                              use(sinh, sinh(x), -20, 20, 3, 4) use(          \
                                  cosh, cosh(x), -20, 20, 3, 3)               \
                                  use(tanh, tanh(x), -5, 5, 3, 3) use(        \
                                      asinh, asinh(x), -1e3, 1e3, 4, 4)       \
                                      use(acosh, acosh(x), 1, 1e3, 4, 5) use( \
                                          atanh, atanh(x), -0.99, 0.99, 4, 4) \
                                          use(erf, erf(x), -4, 4, 3, 3)       \
                                              use(erfc, erfc(x), -3, 8, 6, 5) \
                                                  use(lgamma,                 \
                                                      lgamma(x),              \
                                                      3,                      \
                                                      100,                    \
                                                      5,                      \
                                                      7)                      \
                                                      use(tgamma,             \
                                                          tgamma(x),          \
                                                          0.1,                \
                                                          30,                 \
                                                          11,                 \
                                                          12)

#define DEVICE(name, host, from, to, ulps, float_ulps) \
  struct name##_on_device {                            \
    __device__ double operator()(double x) const {     \
      return name(x);                                  \
    }                                                  \
    __device__ float operator()(float x) const {       \
      return name##f(x);                               \
    }                                                  \
  };
FUNCTIONS(DEVICE)

template <typename Function, typename T>
__global__ void apply(Function function, const T* x, T* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = function(x[i]);
}

// Distance in units in the last place of T.
template <typename T>
double ulps_between(T found, long double right) {
  const T near = static_cast<T>(right);
  if (found == near || (std::isnan(found) && std::isnan(near))) {
    return 0;
  }
  const T magnitude = std::fabs(near);
  const T ulp =
      std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return static_cast<double>(
      std::fabs(static_cast<long double>(found) - right) / ulp);
}

template <typename T, typename Function, typename Host>
void check_function(
    const char* name,
    Function function,
    Host host,
    double from,
    double to,
    double most) {
  std::vector<T> x(kSamples);
  for (int i = 0; i < kSamples; ++i) {
    x[i] = static_cast<T>(from + (to - from) * (i + 0.37) / kSamples);
  }
  T* y = to_device(std::vector<T>(kSamples));
  apply<<<kSamples / 128, 128>>>(function, to_device(x), y);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<T> found = to_host(y, kSamples);
  for (int i = 0; i < kSamples; ++i) {
    const double off =
        ulps_between(found[i], host(static_cast<long double>(x[i])));
    // Half an ulp more for the rounding of what the host says.
    if (!(off <= most + 0.5)) {
      std::printf(
          "%s(%.17g): found %.17g, %g ulps of %zu bytes off\n",
          name,
          static_cast<double>(x[i]),
          static_cast<double>(found[i]),
          off,
          sizeof(T));
      std::exit(1);
    }
  }
}

struct Integers {
  int dot;
  unsigned unsigned_dot;
  unsigned permuted;
  unsigned funnel;
  unsigned clamped;
  unsigned reversed;
  int zeros;
  int wide_zeros;
  int first;
  int ones;
  long long high;
  unsigned long long unsigned_high;
  unsigned average;
  unsigned difference;
  unsigned bytes;
  unsigned long long wide_reversed;
  int saturated;
};

__global__ void use_integers(
    int a,
    unsigned b,
    long long c,
    unsigned long long d,
    float e,
    Integers* results) {
  results->dot = __dp4a(a, static_cast<int>(b), 7);
  results->unsigned_dot = __dp4a(static_cast<unsigned>(a), b, 9u);
  results->permuted = __byte_perm(a, b, 0x6172);
  results->funnel = __funnelshift_l(a, b, 37);
  results->clamped = __funnelshift_rc(a, b, 40);
  results->reversed = __brev(b);
  results->zeros = __clz(a);
  results->wide_zeros = __clzll(c);
  results->first = __ffs(b);
  results->ones = __popcll(d);
  results->high = __mul64hi(c, static_cast<long long>(d));
  results->unsigned_high = __umul64hi(static_cast<unsigned long long>(c), d);
  results->average = __uhadd(static_cast<unsigned>(a), b);
  results->difference = __usad(a, b, 5);
  results->bytes = __vabsdiffu4(static_cast<unsigned>(a), b);
  results->wide_reversed = __brevll(d);
  results->saturated = __float2int_rn(e);
}

// Pairs of 16-bit numbers.
__global__ void use_pairs(const float* in, float* out) {
  const half2 a = __floats2half2_rn(in[0], in[1]);
  const half2 b = __floats2half2_rn(in[2], in[3]);
  const float2 fused = __half22float2(__hfma2(a, b, a));
  out[0] = fused.x;
  out[1] = fused.y;
  const float2 relu = __half22float2(__hfma2_relu(a, __hneg2(b), a));
  out[2] = relu.x;
  out[3] = __half2float(hexp2(__low2half(a)));
  out[4] = __hgt(__high2half(a), __high2half(b)) ? 1 : 0;
  const __nv_bfloat162 c = __floats2bfloat162_rn(in[0], in[1]);
  const __nv_bfloat162 d = __floats2bfloat162_rn(in[2], in[3]);
  out[5] = __low2float(__hadd2(c, d));
  out[6] = __high2float(__hmul2(c, d));
  out[7] = __bfloat162float(__hmax(__low2bfloat16(c), __low2bfloat16(d)));
  out[8] = __half2float(hrsqrt(__float2half(16.0f)));
  out[9] = __half2float(__float2half_rz(2049.0f));
}

int main() {
#define CHECK(name, host, from, to, ulps, float_ulps) \
  check_function<double>(                             \
      #name,                                          \
      name##_on_device(),                             \
      [](long double x) -> long double {              \
        using namespace std;                          \
        return host;                                  \
      },                                              \
      from,                                           \
      to,                                             \
      ulps);                                          \
  check_function<float>(                              \
      #name "f",                                      \
      name##_on_device(),                             \
      [](long double x) -> long double {              \
        using namespace std;                          \
        return host;                                  \
      },                                              \
      from,                                           \
      to,                                             \
      float_ulps);
  FUNCTIONS(CHECK)

  const int a = 0x12f4a67b;
  const unsigned b = 0x8c3d5e91;
  const long long c = -0x123456789abcdefll;
  const unsigned long long d = 0xfedcba9876543210ull;
  Integers* results = to_device(std::vector<Integers>(1));
  use_integers<<<1, 1>>>(a, b, c, d, 3e9f, results);
  CHECK_CUDA(cudaGetLastError());
  const Integers r = to_host(results, 1)[0];
  int dot = 7;
  unsigned unsigned_dot = 9;
  unsigned bytes = 0;
  unsigned reversed = 0;
  unsigned long long wide_reversed = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned left = static_cast<unsigned>(a) >> (8 * i) & 0xff;
    const unsigned right = b >> (8 * i) & 0xff;
    dot += static_cast<std::int8_t>(left) * static_cast<std::int8_t>(right);
    unsigned_dot += left * right;
    bytes |= (left > right ? left - right : right - left) << (8 * i);
  }
  for (int i = 0; i < 64; ++i) {
    reversed |= i < 32 ? (b >> i & 1) << (31 - i) : 0;
    wide_reversed |= (d >> i & 1) << (63 - i);
  }
  expect_equal("dp4a", 0, r.dot, dot);
  expect_equal("dp4a unsigned", 0, r.unsigned_dot, unsigned_dot);
  // Bytes 2, 7, 1 and 6 of b:a.
  expect_equal("byte_perm", 0, r.permuted, 0x3da68cf4u);
  expect_equal(
      "funnelshift_l", 0, r.funnel, b << 5 | static_cast<unsigned>(a) >> 27);
  expect_equal("funnelshift_rc", 0, r.clamped, b);
  expect_equal("brev", 0, r.reversed, reversed);
  expect_equal("clz", 0, r.zeros, __builtin_clz(a));
  expect_equal("clzll", 0, r.wide_zeros, 0);
  expect_equal("ffs", 0, r.first, __builtin_ffs(static_cast<int>(b)));
  expect_equal("popcll", 0, r.ones, __builtin_popcountll(d));
  expect_equal(
      "mul64hi",
      0,
      r.high,
      static_cast<long long>(
          static_cast<__int128>(c) * static_cast<long long>(d) >> 64));
  expect_equal(
      "umul64hi",
      0,
      r.unsigned_high,
      static_cast<unsigned long long>(
          static_cast<unsigned __int128>(static_cast<unsigned long long>(c)) *
              d >>
          64));
  expect_equal(
      "uhadd",
      0,
      r.average,
      static_cast<unsigned>((static_cast<std::uint64_t>(a) + b) / 2));
  expect_equal("usad", 0, r.difference, b - static_cast<unsigned>(a) + 5);
  expect_equal("vabsdiffu4", 0, r.bytes, bytes);
  expect_equal("brevll", 0, r.wide_reversed, wide_reversed);
  expect_equal("saturated", 0, r.saturated, 0x7fffffff);

  const std::vector<float> in{1.5f, -2.25f, 3.0f, 0.5f};
  float* out = to_device(std::vector<float>(10));
  use_pairs<<<1, 1>>>(to_device(in), out);
  CHECK_CUDA(cudaGetLastError());
  const std::vector<float> right{
      6.0f,
      -3.375f,
      0.0f,
      2.828125f,
      0.0f,
      4.5f,
      -1.125f,
      3.0f,
      0.25f,
      2048.0f};
  const std::vector<float> found = to_host(out, right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    expect_equal("pairs", static_cast<long>(i), found[i], right[i]);
  }
}

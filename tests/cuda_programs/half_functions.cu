// Functions of cuda_fp16.h and cuda_bf16.h that compute, compare, and move
// between lanes and memory. half_functions_list_test.py sees to it that, with
// half_conversions.cu, none is left out.
#include "tests/cuda_programs/half_formats.h"

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
  std::vector<U16> in = move_numbers(11);
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
}

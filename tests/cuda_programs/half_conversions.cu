// Functions of cuda_fp16.h and cuda_bf16.h that convert numbers, take pairs
// apart and put them together.
#include <tuple>

#include "tests/cuda_programs/half_formats.h"

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

int main() {
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
  const auto first = move_numbers(1), second = move_numbers(2);
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

#include "cudasim/engine/testing/exact_arithmetic.h"

#include <cmath>
#include <cstring>

#include "third_party/mpfr/mpfr.h"

namespace cudasim::engine::testing {
namespace {

/// The numbers of a format: bits of mantissa with the hidden one, and exponents
/// of the smallest and the largest, for mantissas from 0.5 to 1.
struct Format {
  long precision;
  long smallest;
  long largest;
};
constexpr Format kHalf{11, -23, 16};
constexpr Format kBrain{8, -132, 128};
constexpr Format kSingle{24, -148, 128};
constexpr Format kDouble{53, -1073, 1024};

const Format& format_of(Sixteen format) {
  return format == Sixteen::kHalf ? kHalf : kBrain;
}

class Number {
 public:
  explicit Number(long precision) {
    mpfr_init2(&number_, precision);
  }
  ~Number() {
    mpfr_clear(&number_);
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;

  mpfr_number* get() {
    return &number_;
  }

 private:
  mpfr_number number_{};
};

mpfr_rounding mode_of(Rounding rounding) {
  return rounding == Rounding::kNearest ? kMpfrToNearest
      : rounding == Rounding::kZero     ? kMpfrToZero
      : rounding == Rounding::kDown     ? kMpfrDown
                                        : kMpfrUp;
}

/// What `operate(result, mode)` computes, as a number of a format.
template <typename F>
double operated(const Format& format, Rounding rounding, F operate) {
  const mpfr_rounding mode = mode_of(rounding);
  Number result(format.precision);
  int ternary = operate(result.get(), mode);
  mpfr_set_emin(format.smallest);
  mpfr_set_emax(format.largest);
  ternary = mpfr_check_range(result.get(), ternary, mode);
  mpfr_subnormalize(result.get(), ternary, mode);
  const double value = mpfr_get_d(result.get(), mode);
  // As wide as any operand of any format asks for.
  mpfr_set_emin(-100000);
  mpfr_set_emax(100000);
  return value;
}

double computed(
    const Format& format,
    Operation operation,
    Rounding rounding,
    double a,
    double b,
    double c) {
  Number x(kDouble.precision);
  Number y(kDouble.precision);
  Number z(kDouble.precision);
  mpfr_set_d(x.get(), a, kMpfrToNearest);
  mpfr_set_d(y.get(), b, kMpfrToNearest);
  mpfr_set_d(z.get(), c, kMpfrToNearest);
  const auto operate = [&](mpfr_number* result, mpfr_rounding mode) {
    switch (operation) {
      case Operation::kAdd:
        return mpfr_add(result, x.get(), y.get(), mode);
      case Operation::kSubtract:
        return mpfr_sub(result, x.get(), y.get(), mode);
      case Operation::kMultiply:
        return mpfr_mul(result, x.get(), y.get(), mode);
      case Operation::kDivide:
        return mpfr_div(result, x.get(), y.get(), mode);
      case Operation::kMultiplyAdd:
        return mpfr_fma(result, x.get(), y.get(), z.get(), mode);
      case Operation::kSquareRoot:
        return mpfr_sqrt(result, x.get(), mode);
    }
    return 0;
  };
  return operated(format, rounding, operate);
}

double set(const Format& format, Rounding rounding, long double value) {
  return operated(
      format, rounding, [&](mpfr_number* result, mpfr_rounding mode) {
        return mpfr_set_ld(result, value, mode);
      });
}

/// The bits of a number that the format has.
std::uint16_t bits_of(Sixteen format, double value) {
  if (std::isnan(value)) {
    return 0x7fff;
  }
  std::uint16_t bits = 0;
  if (format == Sixteen::kHalf) {
    const auto half = static_cast<_Float16>(value);
    std::memcpy(&bits, &half, sizeof(bits));
  } else {
    const auto single = static_cast<float>(value);
    std::uint32_t wide = 0;
    std::memcpy(&wide, &single, sizeof(wide));
    bits = static_cast<std::uint16_t>(wide >> 16);
  }
  return bits;
}

} // namespace

float compute(
    Operation operation,
    Rounding rounding,
    float a,
    float b,
    float c) {
  return static_cast<float>(computed(kSingle, operation, rounding, a, b, c));
}

double compute(
    Operation operation,
    Rounding rounding,
    double a,
    double b,
    double c) {
  return computed(kDouble, operation, rounding, a, b, c);
}

std::uint16_t compute(
    Sixteen format,
    Operation operation,
    std::uint16_t a,
    std::uint16_t b,
    std::uint16_t c) {
  return bits_of(
      format,
      computed(
          format_of(format),
          operation,
          Rounding::kNearest,
          decode(format, a),
          decode(format, b),
          decode(format, c)));
}

template <>
float rounded<float>(long double value, Rounding rounding) {
  return static_cast<float>(set(kSingle, rounding, value));
}
template <>
double rounded<double>(long double value, Rounding rounding) {
  return set(kDouble, rounding, value);
}

double decode(Sixteen format, std::uint16_t bits) {
  if (format == Sixteen::kHalf) {
    _Float16 half = 0;
    std::memcpy(&half, &bits, sizeof(half));
    return static_cast<double>(half);
  }
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float single = 0;
  std::memcpy(&single, &wide, sizeof(single));
  return single;
}

std::uint16_t encode(Sixteen format, long double value, Rounding rounding) {
  return bits_of(format, set(format_of(format), rounding, value));
}

std::uint16_t flushed(Sixteen format, std::uint16_t bits) {
  const double value = decode(format, bits);
  const double smallest =
      std::ldexp(1.0, format == Sixteen::kHalf ? -14 : -126);
  return std::fabs(value) < smallest ? bits & 0x8000 : bits;
}
float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                : value;
}
double flushed(double value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, value)
                                                : value;
}

} // namespace cudasim::engine::testing

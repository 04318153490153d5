#include "runtime/libraries/dnn/compute/pointwise.h"

#include <algorithm>
#include <cmath>

#include "runtime/libraries/dnn/status.h"

namespace accelerator::dnn {
namespace {

template <typename T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <typename T>
T softplus(T x, T beta) {
  const T scaled = beta * x;
  // log(1 + e^x) without an overflow.
  return (std::max(scaled, T{}) + std::log1p(std::exp(-std::fabs(scaled)))) /
      beta;
}

constexpr double kHalfSqrt = 0.70710678118654752440; // sqrt(1/2)
constexpr double kSqrtTwoByPi = 0.79788456080286535588; // sqrt(2/pi)
constexpr double kSqrtOneByTwoPi = 0.39894228040143267794; // sqrt(1/(2 pi))
constexpr double kCubic = 0.044715; // of GELU's approximation

template <typename T>
T gelu(T x) {
  return T(0.5) * x * (1 + std::erf(x * T(kHalfSqrt)));
}
template <typename T>
T gelu_slope(T x) {
  return T(0.5) * (1 + std::erf(x * T(kHalfSqrt))) +
      x * T(kSqrtOneByTwoPi) * std::exp(T(-0.5) * x * x);
}
template <typename T>
T gelu_tanh(T x) {
  return T(0.5) * x *
      (1 + std::tanh(T(kSqrtTwoByPi) * (x + T(kCubic) * x * x * x)));
}
template <typename T>
T gelu_tanh_slope(T x) {
  const T inner = std::tanh(T(kSqrtTwoByPi) * (x + T(kCubic) * x * x * x));
  return T(0.5) * (1 + inner) +
      T(0.5) * x * (1 - inner * inner) * T(kSqrtTwoByPi) *
      (1 + 3 * T(kCubic) * x * x);
}

/// Of a number's magnitude that the type may not have.
template <typename T>
T limited(double value) {
  return static_cast<T>(std::clamp(
      value,
      static_cast<double>(std::numeric_limits<T>::lowest()),
      static_cast<double>(std::numeric_limits<T>::max())));
}

/// Activations, and nothing else that has settings.
template <typename T>
struct Settings {
  explicit Settings(const Pointwise& function)
      : low(limited<T>(function.lower_clip)),
        high(limited<T>(function.upper_clip)),
        slope(limited<T>(function.lower_slope)),
        elu(limited<T>(function.elu_alpha)),
        softplus(limited<T>(function.softplus_beta)),
        swish(limited<T>(function.swish_beta)) {}
  T low, high, slope, elu, softplus, swish;
};

template <typename T, typename Function>
Array<T> map(const Dims& dims, const Array<T>& x, Function function) {
  if (x.dims() != dims) {
    return combine(dims, x, x, [=](T value, T) { return function(value); });
  }
  Array<T> result(dims);
  T* to = result.writable();
  const T* from = x.data();
  const std::int64_t size = x.size();
  for (std::int64_t i = 0; i < size; ++i) {
    to[i] = function(from[i]);
  }
  return result;
}

template <typename T>
Array<T> of_one(
    const Pointwise& function,
    const Dims& dims,
    const Array<T>& x) {
  const Settings<T> s(function);
  switch (function.mode) {
    case CUDNN_POINTWISE_ABS:
      return map(dims, x, [](T v) { return std::fabs(v); });
    case CUDNN_POINTWISE_CEIL:
      return map(dims, x, [](T v) { return std::ceil(v); });
    case CUDNN_POINTWISE_COS:
      return map(dims, x, [](T v) { return std::cos(v); });
    case CUDNN_POINTWISE_EXP:
      return map(dims, x, [](T v) { return std::exp(v); });
    case CUDNN_POINTWISE_FLOOR:
      return map(dims, x, [](T v) { return std::floor(v); });
    case CUDNN_POINTWISE_LOG:
      return map(dims, x, [](T v) { return std::log(v); });
    case CUDNN_POINTWISE_NEG:
      return map(dims, x, [](T v) { return -v; });
    case CUDNN_POINTWISE_RSQRT:
      return map(dims, x, [](T v) { return 1 / std::sqrt(v); });
    case CUDNN_POINTWISE_SIN:
      return map(dims, x, [](T v) { return std::sin(v); });
    case CUDNN_POINTWISE_SQRT:
      return map(dims, x, [](T v) { return std::sqrt(v); });
    case CUDNN_POINTWISE_TAN:
      return map(dims, x, [](T v) { return std::tan(v); });
    case CUDNN_POINTWISE_ERF:
      return map(dims, x, [](T v) { return std::erf(v); });
    case CUDNN_POINTWISE_IDENTITY:
      return map(dims, x, [](T v) { return v; });
    case CUDNN_POINTWISE_RECIPROCAL:
      return map(dims, x, [](T v) { return 1 / v; });
    case CUDNN_POINTWISE_LOGICAL_NOT:
      return map(dims, x, [](T v) { return T(v == 0); });
    case CUDNN_POINTWISE_RELU_FWD:
      // A NaN is kept.
      return map(dims, x, [s](T v) {
        return v < s.low ? s.low + s.slope * (v - s.low)
            : v > s.high ? s.high
                         : v;
      });
    case CUDNN_POINTWISE_TANH_FWD:
      return map(dims, x, [](T v) { return std::tanh(v); });
    case CUDNN_POINTWISE_SIGMOID_FWD:
      return map(dims, x, [](T v) { return sigmoid(v); });
    case CUDNN_POINTWISE_ELU_FWD:
      return map(
          dims, x, [s](T v) { return v < 0 ? s.elu * std::expm1(v) : v; });
    case CUDNN_POINTWISE_GELU_FWD:
      return map(dims, x, [](T v) { return gelu(v); });
    case CUDNN_POINTWISE_SOFTPLUS_FWD:
      return map(dims, x, [s](T v) { return softplus(v, s.softplus); });
    case CUDNN_POINTWISE_SWISH_FWD:
      return map(dims, x, [s](T v) { return v * sigmoid(s.swish * v); });
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
      return map(dims, x, [](T v) { return gelu_tanh(v); });
    case CUDNN_POINTWISE_GEN_INDEX: {
      Array<T> result(dims);
      T* to = result.writable();
      const std::int64_t stride = packed_strides(dims)[function.axis];
      for (std::int64_t i = 0; i < result.size(); ++i) {
        to[i] = static_cast<T>(i / stride % dims[function.axis]);
      }
      return result;
    }
    default:
      break;
  }
  throw Refusal(CUDNN_STATUS_NOT_SUPPORTED, "this pointwise mode is unknown");
}

/// Gradients are those of `a`, at the place `b`.
template <typename T>
Array<T> of_two(
    const Pointwise& function,
    const Dims& dims,
    const Array<T>& x,
    const Array<T>& y) {
  const Settings<T> s(function);
  const auto with = [&](auto body) { return combine(dims, x, y, body); };
  switch (function.mode) {
    case CUDNN_POINTWISE_ADD:
      return with([](T a, T b) { return a + b; });
    case CUDNN_POINTWISE_ADD_SQUARE:
      return with([](T a, T b) { return a + b * b; });
    case CUDNN_POINTWISE_DIV:
      return with([](T a, T b) { return a / b; });
    case CUDNN_POINTWISE_MAX:
      return with([](T a, T b) { return a > b || std::isnan(a) ? a : b; });
    case CUDNN_POINTWISE_MIN:
      return with([](T a, T b) { return a < b || std::isnan(a) ? a : b; });
    case CUDNN_POINTWISE_MOD:
      return with([](T a, T b) { return std::fmod(a, b); });
    case CUDNN_POINTWISE_FLOOR_MOD:
      return with([](T a, T b) { return a - std::floor(a / b) * b; });
    case CUDNN_POINTWISE_MUL:
      return with([](T a, T b) { return a * b; });
    case CUDNN_POINTWISE_POW:
      return with([](T a, T b) { return std::pow(a, b); });
    case CUDNN_POINTWISE_SUB:
      return with([](T a, T b) { return a - b; });
    case CUDNN_POINTWISE_ATAN2:
      return with([](T a, T b) { return std::atan2(a, b); });
    case CUDNN_POINTWISE_CMP_EQ:
      return with([](T a, T b) { return T(a == b); });
    case CUDNN_POINTWISE_CMP_NEQ:
      return with([](T a, T b) { return T(a != b); });
    case CUDNN_POINTWISE_CMP_GT:
      return with([](T a, T b) { return T(a > b); });
    case CUDNN_POINTWISE_CMP_GE:
      return with([](T a, T b) { return T(a >= b); });
    case CUDNN_POINTWISE_CMP_LT:
      return with([](T a, T b) { return T(a < b); });
    case CUDNN_POINTWISE_CMP_LE:
      return with([](T a, T b) { return T(a <= b); });
    case CUDNN_POINTWISE_LOGICAL_AND:
      return with([](T a, T b) { return T(a != 0 && b != 0); });
    case CUDNN_POINTWISE_LOGICAL_OR:
      return with([](T a, T b) { return T(a != 0 || b != 0); });
    case CUDNN_POINTWISE_RELU_BWD:
      return with([s](T dy, T v) {
        return v > s.low && v < s.high ? dy : v <= s.low ? s.slope * dy : T{};
      });
    case CUDNN_POINTWISE_TANH_BWD:
      return with([](T dy, T v) {
        const T result = std::tanh(v);
        return dy * (1 - result * result);
      });
    case CUDNN_POINTWISE_SIGMOID_BWD:
      return with([](T dy, T v) {
        const T result = sigmoid(v);
        return dy * result * (1 - result);
      });
    case CUDNN_POINTWISE_ELU_BWD:
      return with(
          [s](T dy, T v) { return v < 0 ? dy * s.elu * std::exp(v) : dy; });
    case CUDNN_POINTWISE_GELU_BWD:
      return with([](T dy, T v) { return dy * gelu_slope(v); });
    case CUDNN_POINTWISE_SOFTPLUS_BWD:
      return with([s](T dy, T v) { return dy * sigmoid(s.softplus * v); });
    case CUDNN_POINTWISE_SWISH_BWD:
      return with([s](T dy, T v) {
        const T part = sigmoid(s.swish * v);
        return dy * (part + s.swish * v * part * (1 - part));
      });
    case CUDNN_POINTWISE_GELU_APPROX_TANH_BWD:
      return with([](T dy, T v) { return dy * gelu_tanh_slope(v); });
    default:
      break;
  }
  throw Refusal(CUDNN_STATUS_NOT_SUPPORTED, "this pointwise mode is unknown");
}

} // namespace

Dims repeating_strides(const Dims& from, const Dims& to) {
  const Dims packed = packed_strides(from);
  Dims strides(to.size());
  const std::size_t missing = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    strides[missing + i] = from[i] == 1 ? 0 : packed[i];
  }
  return strides;
}

int operands_of(cudnnPointwiseMode_t mode) {
  switch (mode) {
    case CUDNN_POINTWISE_BINARY_SELECT:
      return 3;
    case CUDNN_POINTWISE_ADD:
    case CUDNN_POINTWISE_ADD_SQUARE:
    case CUDNN_POINTWISE_DIV:
    case CUDNN_POINTWISE_MAX:
    case CUDNN_POINTWISE_MIN:
    case CUDNN_POINTWISE_MOD:
    case CUDNN_POINTWISE_FLOOR_MOD:
    case CUDNN_POINTWISE_MUL:
    case CUDNN_POINTWISE_POW:
    case CUDNN_POINTWISE_SUB:
    case CUDNN_POINTWISE_ATAN2:
    case CUDNN_POINTWISE_LOGICAL_AND:
    case CUDNN_POINTWISE_LOGICAL_OR:
      return 2;
    case CUDNN_POINTWISE_ABS:
    case CUDNN_POINTWISE_CEIL:
    case CUDNN_POINTWISE_COS:
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_FLOOR:
    case CUDNN_POINTWISE_LOG:
    case CUDNN_POINTWISE_NEG:
    case CUDNN_POINTWISE_RSQRT:
    case CUDNN_POINTWISE_SIN:
    case CUDNN_POINTWISE_SQRT:
    case CUDNN_POINTWISE_TAN:
    case CUDNN_POINTWISE_ERF:
    case CUDNN_POINTWISE_IDENTITY:
    case CUDNN_POINTWISE_RECIPROCAL:
    case CUDNN_POINTWISE_LOGICAL_NOT:
    case CUDNN_POINTWISE_GEN_INDEX:
      return 1;
    default:
      return mode >= CUDNN_POINTWISE_RELU_FWD &&
              mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_FWD
          ? 1
          : is_backward(mode) ||
              (mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE)
          ? 2
          : 0;
  }
}

bool is_backward(cudnnPointwiseMode_t mode) {
  return mode >= CUDNN_POINTWISE_RELU_BWD &&
      mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD;
}

template <typename T>
Array<T> pointwise(
    const Pointwise& function,
    const Dims& dims,
    const Array<T>& x,
    const Array<T>* b,
    const Array<T>* t) {
  if (t != nullptr) {
    const Array<T> which =
        combine(dims, *t, *t, [](T value, T) { return value; });
    const Array<T> other =
        combine(dims, *b, *b, [](T value, T) { return value; });
    Array<T> result = combine(dims, x, x, [](T value, T) { return value; });
    T* to = result.writable();
    for (std::int64_t i = 0; i < result.size(); ++i) {
      if (which[i] == 0) {
        to[i] = other[i];
      }
    }
    return result;
  }
  return b == nullptr ? of_one(function, dims, x)
                      : of_two(function, dims, x, *b);
}

template Array<float> pointwise(
    const Pointwise&,
    const Dims&,
    const Array<float>&,
    const Array<float>*,
    const Array<float>*);
template Array<double> pointwise(
    const Pointwise&,
    const Dims&,
    const Array<double>&,
    const Array<double>*,
    const Array<double>*);

} // namespace accelerator::dnn

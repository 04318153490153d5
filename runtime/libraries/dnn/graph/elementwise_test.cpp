// Pointwise functions, reductions, and what moves elements.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "runtime/libraries/dnn/testing/graph.h"

namespace accelerator::dnn::testing {
namespace {

constexpr auto kX = CUDNN_ATTR_OPERATION_POINTWISE_XDESC;
constexpr auto kB = CUDNN_ATTR_OPERATION_POINTWISE_BDESC;
constexpr auto kT = CUDNN_ATTR_OPERATION_POINTWISE_TDESC;
constexpr auto kY = CUDNN_ATTR_OPERATION_POINTWISE_YDESC;
constexpr auto kDy = CUDNN_ATTR_OPERATION_POINTWISE_DYDESC;
constexpr auto kDx = CUDNN_ATTR_OPERATION_POINTWISE_DXDESC;

class GraphElementwise : public HandleTest {
 protected:
  /// One operation on arrays of these dimensions, of random numbers.
  std::vector<float> run_unary(
      cudnnPointwiseMode_t mode,
      const std::vector<float>& x,
      const std::vector<std::pair<cudnnBackendAttributeName_t, double>>&
          settings = {}) {
    const Dims dims{static_cast<std::int64_t>(x.size()), 1};
    const Array<float> from(x), to(std::vector<float>(x.size(), 9));
    run({pointwise(
            mode, {{kX, tensor(1, dims)}, {kY, tensor(2, dims)}}, settings)},
        {{1, from.get()}, {2, to.get()}});
    return to.values();
  }
  std::vector<float> run_backward(
      cudnnPointwiseMode_t mode,
      const std::vector<float>& x,
      const std::vector<std::pair<cudnnBackendAttributeName_t, double>>&
          settings = {}) {
    const Dims dims{static_cast<std::int64_t>(x.size()), 1};
    const Array<float> from(x), dy(std::vector<float>(x.size(), 2));
    const Array<float> to(std::vector<float>(x.size(), 9));
    run({pointwise(
            mode,
            {{kX, tensor(1, dims)},
             {kDy, tensor(2, dims)},
             {kDx, tensor(3, dims)}},
            settings)},
        {{1, from.get()}, {2, dy.get()}, {3, to.get()}});
    return to.values();
  }
};

using Function = std::function<double(double)>;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

TEST_F(GraphElementwise, FunctionsOfOneNumber) {
  const std::vector<float> x{-3, -1.5, -0.25, 0.5, 1, 2.75};
  const std::vector<float> positive{0.125, 0.5, 1, 2.75, 9, 100};
  const std::vector<std::pair<cudnnPointwiseMode_t, Function>> any{
      {CUDNN_POINTWISE_ABS, [](double v) { return std::fabs(v); }},
      {CUDNN_POINTWISE_CEIL, [](double v) { return std::ceil(v); }},
      {CUDNN_POINTWISE_COS, [](double v) { return std::cos(v); }},
      {CUDNN_POINTWISE_EXP, [](double v) { return std::exp(v); }},
      {CUDNN_POINTWISE_FLOOR, [](double v) { return std::floor(v); }},
      {CUDNN_POINTWISE_NEG, [](double v) { return -v; }},
      {CUDNN_POINTWISE_SIN, [](double v) { return std::sin(v); }},
      {CUDNN_POINTWISE_TAN, [](double v) { return std::tan(v); }},
      {CUDNN_POINTWISE_ERF, [](double v) { return std::erf(v); }},
      {CUDNN_POINTWISE_IDENTITY, [](double v) { return v; }},
      {CUDNN_POINTWISE_RECIPROCAL, [](double v) { return 1 / v; }},
      {CUDNN_POINTWISE_LOGICAL_NOT, [](double) { return 0.0; }},
      {CUDNN_POINTWISE_RELU_FWD, [](double v) { return std::max(v, 0.0); }},
      {CUDNN_POINTWISE_TANH_FWD, [](double v) { return std::tanh(v); }},
      {CUDNN_POINTWISE_SIGMOID_FWD, sigmoid},
      {CUDNN_POINTWISE_ELU_FWD,
       [](double v) { return v < 0 ? std::exp(v) - 1 : v; }},
      {CUDNN_POINTWISE_GELU_FWD,
       [](double v) { return v / 2 * std::erfc(-v / std::sqrt(2.0)); }},
      {CUDNN_POINTWISE_SOFTPLUS_FWD,
       [](double v) { return std::log(1 + std::exp(v)); }},
      {CUDNN_POINTWISE_SWISH_FWD, [](double v) { return v * sigmoid(v); }},
      {CUDNN_POINTWISE_GELU_APPROX_TANH_FWD,
       [](double v) {
         // 0.5 (1 + tanh z) is the logistic function of 2 z.
         return v *
             sigmoid(
                    2 * std::sqrt(2 / 3.14159265358979) *
                    (v + 0.044715 * v * v * v));
       }},
  };
  const std::vector<std::pair<cudnnPointwiseMode_t, Function>> of_positive{
      {CUDNN_POINTWISE_LOG, [](double v) { return std::log(v); }},
      {CUDNN_POINTWISE_RSQRT, [](double v) { return std::pow(v, -0.5); }},
      {CUDNN_POINTWISE_SQRT, [](double v) { return std::sqrt(v); }},
  };
  const auto check = [&](const auto& functions, const auto& values) {
    for (const auto& [mode, function] : functions) {
      std::vector<double> wanted(values.begin(), values.end());
      std::transform(wanted.begin(), wanted.end(), wanted.begin(), function);
      SCOPED_TRACE(mode);
      expect_near(run_unary(mode, values), wanted, 2e-5);
    }
  };
  check(any, x);
  check(of_positive, positive);
}

TEST_F(GraphElementwise, ActivationsHaveSettings) {
  const std::vector<float> x{-4, -1, 0.5, 3};
  EXPECT_EQ(
      run_unary(
          CUDNN_POINTWISE_RELU_FWD,
          x,
          {{CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, -2},
           {CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, 1},
           {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.5}}),
      (std::vector<float>{-3, -1, 0.5, 1}));
  expect_near(
      run_unary(
          CUDNN_POINTWISE_ELU_FWD, x, {{CUDNN_ATTR_POINTWISE_ELU_ALPHA, 2}}),
      {2 * (std::exp(-4.0) - 1), 2 * (std::exp(-1.0) - 1), 0.5, 3},
      1e-5);
  expect_near(
      run_unary(
          CUDNN_POINTWISE_SOFTPLUS_FWD,
          x,
          {{CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 2}}),
      {std::log(1 + std::exp(-8.0)) / 2,
       std::log(1 + std::exp(-2.0)) / 2,
       std::log(1 + std::exp(1.0)) / 2,
       std::log(1 + std::exp(6.0)) / 2},
      1e-5);
  expect_near(
      run_unary(
          CUDNN_POINTWISE_SWISH_FWD, x, {{CUDNN_ATTR_POINTWISE_SWISH_BETA, 2}}),
      {-4 * sigmoid(-8), -sigmoid(-2), 0.5 * sigmoid(1), 3 * sigmoid(6)},
      1e-5);
}

// A gradient is what the function itself changes by.
TEST_F(GraphElementwise, GradientsAreThoseOfTheFunctions) {
  const std::vector<float> x{-3, -1.5, -0.25, 0.5, 1, 2.75};
  constexpr float kStep = 1.0F / 64;
  for (int i = 0;
       i <= CUDNN_POINTWISE_GELU_APPROX_TANH_FWD - CUDNN_POINTWISE_RELU_FWD;
       ++i) {
    const auto forward =
        static_cast<cudnnPointwiseMode_t>(CUDNN_POINTWISE_RELU_FWD + i);
    const auto backward =
        static_cast<cudnnPointwiseMode_t>(CUDNN_POINTWISE_RELU_BWD + i);
    SCOPED_TRACE(forward);
    std::vector<float> above = x, below = x;
    for (std::size_t j = 0; j < x.size(); ++j) {
      above[j] += kStep;
      below[j] -= kStep;
    }
    const auto high = run_unary(forward, above);
    const auto low = run_unary(forward, below);
    std::vector<double> wanted;
    for (std::size_t j = 0; j < x.size(); ++j) {
      wanted.push_back(2 * (high[j] - low[j]) / (2.0 * kStep));
    }
    expect_near(run_backward(backward, x), wanted, 1e-3);
  }
}

TEST_F(GraphElementwise, FunctionsOfTwoNumbersRepeatTheSmaller) {
  const std::vector<float> x{-3, 2, 7, 0, 1, -1};
  const std::vector<float> b{2, 0, -1};
  const std::vector<
      std::pair<cudnnPointwiseMode_t, std::function<double(double, double)>>>
      functions{
          {CUDNN_POINTWISE_ADD, [](double a, double c) { return a + c; }},
          {CUDNN_POINTWISE_ADD_SQUARE,
           [](double a, double c) { return a + c * c; }},
          {CUDNN_POINTWISE_SUB, [](double a, double c) { return a - c; }},
          {CUDNN_POINTWISE_MUL, [](double a, double c) { return a * c; }},
          {CUDNN_POINTWISE_MAX,
           [](double a, double c) { return std::max(a, c); }},
          {CUDNN_POINTWISE_MIN,
           [](double a, double c) { return std::min(a, c); }},
          {CUDNN_POINTWISE_ATAN2,
           [](double a, double c) { return std::atan2(a, c); }},
          {CUDNN_POINTWISE_CMP_EQ, [](double a, double c) { return a == c; }},
          {CUDNN_POINTWISE_CMP_NEQ, [](double a, double c) { return a != c; }},
          {CUDNN_POINTWISE_CMP_GT, [](double a, double c) { return a > c; }},
          {CUDNN_POINTWISE_CMP_GE, [](double a, double c) { return a >= c; }},
          {CUDNN_POINTWISE_CMP_LT, [](double a, double c) { return a < c; }},
          {CUDNN_POINTWISE_CMP_LE, [](double a, double c) { return a <= c; }},
          {CUDNN_POINTWISE_LOGICAL_AND,
           [](double a, double c) { return a != 0 && c != 0; }},
          {CUDNN_POINTWISE_LOGICAL_OR,
           [](double a, double c) { return a != 0 || c != 0; }},
      };
  for (const auto& [mode, function] : functions) {
    SCOPED_TRACE(mode);
    const Array<float> dx(x), db(b), dy(std::vector<float>(6, 9));
    run({pointwise(
            mode,
            {{kX, tensor(1, {2, 3})},
             {kB, tensor(2, {1, 3})},
             {kY, tensor(3, {2, 3})}})},
        {{1, dx.get()}, {2, db.get()}, {3, dy.get()}});
    std::vector<double> wanted;
    for (std::size_t i = 0; i < 6; ++i) {
      wanted.push_back(function(x[i], b[i % 3]));
    }
    expect_near(dy.values(), wanted, 1e-6);
  }
}

TEST_F(GraphElementwise, QuotientsAndRemaindersHaveSigns) {
  const std::vector<float> x{-7, 7, -7, 7}, b{2, -2, -2, 2};
  const auto check = [&](cudnnPointwiseMode_t mode,
                         const std::vector<float>& wanted) {
    const Array<float> dx(x), db(b), dy(std::vector<float>(4, 9));
    run({pointwise(
            mode,
            {{kX, tensor(1, {4, 1})},
             {kB, tensor(2, {4, 1})},
             {kY, tensor(3, {4, 1})}})},
        {{1, dx.get()}, {2, db.get()}, {3, dy.get()}});
    EXPECT_EQ(dy.values(), wanted);
  };
  check(CUDNN_POINTWISE_DIV, {-3.5, -3.5, 3.5, 3.5});
  check(CUDNN_POINTWISE_MOD, {-1, 1, -1, 1});
  check(CUDNN_POINTWISE_FLOOR_MOD, {1, -1, -1, 1});
}

TEST_F(GraphElementwise, SelectsByBits) {
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  const Array<float> x(std::vector<float>{1, kNan, 3, 4});
  const Array<float> b({-1, -2, kNan, -4}), y({0, 0, 0, 0});
  const Array<unsigned char> t(std::vector<unsigned char>{0b0101});
  run({pointwise(
          CUDNN_POINTWISE_BINARY_SELECT,
          {{kX, tensor(1, {4, 1})},
           {kB, tensor(2, {4, 1})},
           {kT, tensor(3, {4, 1}, {1, 1}, CUDNN_DATA_BOOLEAN)},
           {kY, tensor(4, {4, 1})}})},
      {{1, x.get()}, {2, b.get()}, {3, t.get()}, {4, y.get()}});
  EXPECT_EQ(y.values(), (std::vector<float>{1, -2, 3, -4}));
}

TEST_F(GraphElementwise, RoundsToIntegersAndSaturates) {
  const Array<float> x(std::vector<float>{1.5, 2.5, -300, 300, -0.4F});
  const Array<std::int8_t> y(std::vector<std::int8_t>(5, 9));
  run({pointwise(
          CUDNN_POINTWISE_IDENTITY,
          {{kX, tensor(1, {5, 1})},
           {kY, tensor(2, {5, 1}, {1, 1}, CUDNN_DATA_INT8)}})},
      {{1, x.get()}, {2, y.get()}});
  EXPECT_EQ(y.values(), (std::vector<std::int8_t>{2, 2, -128, 127, 0}));
}

TEST_F(GraphElementwise, Reductions) {
  const std::vector<float> x{1, -2, 3, 0, 5, -6, 7, 8, 2, 4, -1, 1};
  struct Case {
    cudnnReduceTensorOp_t operation;
    std::vector<double> wanted; // of each of {2, 3, 2} in the second dimension
  };
  const std::vector<Case> cases{
      {CUDNN_REDUCE_TENSOR_ADD, {9, -8, 8, 13}},
      {CUDNN_REDUCE_TENSOR_MUL, {15, 0, -14, 32}},
      {CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS, {15, 12, -14, 32}},
      {CUDNN_REDUCE_TENSOR_MIN, {1, -6, -1, 1}},
      {CUDNN_REDUCE_TENSOR_MAX, {5, 0, 7, 8}},
      {CUDNN_REDUCE_TENSOR_AMAX, {5, 6, 7, 8}},
      {CUDNN_REDUCE_TENSOR_AVG, {3, -8.0 / 3, 8.0 / 3, 13.0 / 3}},
      {CUDNN_REDUCE_TENSOR_NORM1, {9, 8, 10, 13}},
      {CUDNN_REDUCE_TENSOR_NORM2,
       {std::sqrt(35.0), std::sqrt(40.0), std::sqrt(54.0), 9}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.operation);
    const Array<float> from(x), to(std::vector<float>(4, 9));
    Descriptor how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    how.choice(
           CUDNN_ATTR_REDUCTION_OPERATOR,
           CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
           one.operation)
        .choice(
            CUDNN_ATTR_REDUCTION_COMP_TYPE,
            CUDNN_TYPE_DATA_TYPE,
            CUDNN_DATA_FLOAT)
        .done();
    Descriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.child(CUDNN_ATTR_OPERATION_REDUCTION_DESC, {how})
        .child(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, {tensor(1, {2, 3, 2})})
        .child(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, {tensor(2, {2, 1, 2})})
        .done();
    run({operation}, {{1, from.get()}, {2, to.get()}});
    expect_near(to.values(), one.wanted, 1e-5);
  }
}

TEST_F(GraphElementwise, MovesElements) {
  const Array<float> x(std::vector<float>{0, 1, 2, 3, 4, 5});
  const auto moved = [&](Descriptor operation, const Dims& dims) {
    const Array<float> y(std::vector<float>(packed(dims)[0] * dims[0], 9));
    run({operation.done()}, {{1, x.get()}, {2, y.get()}});
    return y.values();
  };
  EXPECT_EQ(
      moved(
          Descriptor(CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR)
              .child(CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC, {tensor(1, {2, 3})})
              .child(CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC, {tensor(2, {3, 2})})
              .integers(CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION, {1, 0}),
          {3, 2}),
      (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(
      moved(
          Descriptor(CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR)
              .child(CUDNN_ATTR_OPERATION_SLICE_XDESC, {tensor(1, {2, 3})})
              .child(CUDNN_ATTR_OPERATION_SLICE_YDESC, {tensor(2, {1, 2})})
              .integers(CUDNN_ATTR_OPERATION_SLICE_START_INDICES, {1, 0})
              .integers(CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES, {2, 3})
              .integers(CUDNN_ATTR_OPERATION_SLICE_STRIDES, {1, 2}),
          {1, 2}),
      (std::vector<float>{3, 5}));
  EXPECT_EQ(
      moved(
          Descriptor(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR)
              .child(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, {tensor(1, {2, 3})})
              .child(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, {tensor(2, {6, 1})}),
          {6, 1}),
      (std::vector<float>{0, 1, 2, 3, 4, 5}));
  // A view of the same dimensions can be turned: frontends transpose so.
  const Array<float> square(std::vector<float>{0, 1, 2, 3});
  const Array<float> turned({9, 9, 9, 9});
  Descriptor view(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  view.child(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, {tensor(1, {2, 2})})
      .child(
          CUDNN_ATTR_OPERATION_RESHAPE_YDESC,
          {tensor(2, {2, 2}, {1, 2}, CUDNN_DATA_FLOAT, true)});
  run({view.done(),
       pointwise(
           CUDNN_POINTWISE_IDENTITY,
           {{kX, tensor(2, {2, 2}, {1, 2}, CUDNN_DATA_FLOAT, true)},
            {kY, tensor(3, {2, 2})}})},
      {{1, square.get()}, {3, turned.get()}});
  EXPECT_EQ(turned.values(), (std::vector<float>{0, 2, 1, 3}));
  EXPECT_EQ(
      moved(
          Descriptor(CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR)
              .child(
                  CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS,
                  {tensor(1, {2, 3}), tensor(1, {2, 3})})
              .child(
                  CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC, {tensor(2, {2, 6})})
              .integers(CUDNN_ATTR_OPERATION_CONCAT_AXIS, {1}),
          {2, 6}),
      (std::vector<float>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
}

// The same numbers for the same seed and offset, as many as are likely.
TEST_F(GraphElementwise, DrawsBits) {
  constexpr int kCount = 10000;
  const auto draw = [&](std::int64_t seed) {
    const Array<float> y(std::vector<float>(kCount, 9));
    Descriptor how(CUDNN_BACKEND_RNG_DESCRIPTOR);
    how.number(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.25).done();
    Descriptor operation(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR);
    operation.child(CUDNN_ATTR_OPERATION_RNG_DESC, {how})
        .child(CUDNN_ATTR_OPERATION_RNG_YDESC, {tensor(1, {kCount, 1})})
        .integers(CUDNN_ATTR_OPERATION_RNG_SEED, {seed})
        .done();
    run({operation}, {{1, y.get()}});
    return y.values();
  };
  const std::vector<float> first = draw(1);
  EXPECT_EQ(first, draw(1));
  EXPECT_NE(first, draw(2));
  const auto ones = std::count(first.begin(), first.end(), 1.0F);
  EXPECT_EQ(ones + std::count(first.begin(), first.end(), 0.0F), kCount);
  // Five standard deviations.
  EXPECT_NEAR(ones, kCount / 4.0, 220);
}

} // namespace
} // namespace accelerator::dnn::testing

// Activations, softmax, pooling, reductions, dropout and functions of whole
// tensors of the older API.
#include <algorithm>
#include <cmath>
#include <functional>

#include "runtime/libraries/dnn/testing/older.h"

namespace accelerator::dnn::testing {
namespace {

class OlderOperations : public HandleTest {};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// Each with its gradient, which is what the function changes by.
TEST_F(OlderOperations, Activations) {
  const std::vector<float> x{-3, -1.5, -0.25, 0.5, 1, 2.75, 5, -7};
  const std::vector<
      std::pair<cudnnActivationMode_t, std::function<double(double)>>>
      functions{
          {CUDNN_ACTIVATION_SIGMOID, sigmoid},
          {CUDNN_ACTIVATION_RELU, [](double v) { return std::max(v, 0.0); }},
          {CUDNN_ACTIVATION_TANH, [](double v) { return std::tanh(v); }},
          {CUDNN_ACTIVATION_CLIPPED_RELU,
           [](double v) { return std::clamp(v, 0.0, 2.0); }},
          {CUDNN_ACTIVATION_ELU,
           [](double v) { return v < 0 ? 2 * (std::exp(v) - 1) : v; }},
          {CUDNN_ACTIVATION_IDENTITY, [](double v) { return v; }},
          {CUDNN_ACTIVATION_SWISH, [](double v) { return v * sigmoid(v); }},
      };
  const OlderTensor tensor({2, 4, 1, 1});
  for (const auto& [mode, function] : functions) {
    SCOPED_TRACE(mode);
    const Activation activation;
    ASSERT_EQ(
        cudnnSetActivationDescriptor(activation, mode, CUDNN_PROPAGATE_NAN, 2),
        CUDNN_STATUS_SUCCESS);
    const Array<float> dev_x(x), dev_y(x), dev_dx(x);
    const Array<float> dev_dy(std::vector<float>(8, 3));
    EXPECT_EQ(
        cudnnActivationForward(
            handle,
            activation,
            &kOne,
            tensor,
            dev_x.get(),
            &kZero,
            tensor,
            dev_y.get()),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(
        cudnnActivationBackward(
            handle,
            activation,
            &kOne,
            tensor,
            dev_y.get(),
            tensor,
            dev_dy.get(),
            tensor,
            dev_x.get(),
            &kZero,
            tensor,
            dev_dx.get()),
        CUDNN_STATUS_SUCCESS);
    std::vector<double> wanted, slopes;
    constexpr double kStep = 1e-5;
    for (const float value : x) {
      wanted.push_back(function(value));
      slopes.push_back(
          3 * (function(value + kStep) - function(value - kStep)) /
          (2 * kStep));
    }
    expect_near(dev_y.values(), wanted, 1e-5);
    expect_near(dev_dx.values(), slopes, 1e-4);
  }
}

TEST_F(OlderOperations, Softmax) {
  const Dims dims{2, 3, 2, 2};
  const auto x = random_floats(24, 1), dy = random_floats(24, 2);
  const OlderTensor tensor(dims);
  for (const auto mode :
       {CUDNN_SOFTMAX_MODE_INSTANCE, CUDNN_SOFTMAX_MODE_CHANNEL}) {
    for (const auto algorithm : {CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG}) {
      const auto group = [&](std::size_t i) {
        return mode == CUDNN_SOFTMAX_MODE_INSTANCE ? i / 12
                                                   : i / 12 * 4 + i % 4;
      };
      std::vector<double> sums(8), y(24), dots(8), wanted(24);
      for (std::size_t i = 0; i < 24; ++i) {
        sums[group(i)] += std::exp(x[i]);
      }
      for (std::size_t i = 0; i < 24; ++i) {
        const double share = std::exp(x[i]) / sums[group(i)];
        const bool is_log = algorithm == CUDNN_SOFTMAX_LOG;
        y[i] = is_log ? std::log(share) : share;
        dots[group(i)] += is_log ? dy[i] : dy[i] * share;
        wanted[i] = share;
      }
      for (std::size_t i = 0; i < 24; ++i) {
        wanted[i] = algorithm == CUDNN_SOFTMAX_LOG
            ? dy[i] - wanted[i] * dots[group(i)]
            : wanted[i] * (dy[i] - dots[group(i)]);
      }
      const Array<float> dev_x(x), dev_y(x), dev_dy(dy), dev_dx(x);
      EXPECT_EQ(
          cudnnSoftmaxForward(
              handle,
              algorithm,
              mode,
              &kOne,
              tensor,
              dev_x.get(),
              &kZero,
              tensor,
              dev_y.get()),
          CUDNN_STATUS_SUCCESS);
      EXPECT_EQ(
          cudnnSoftmaxBackward(
              handle,
              algorithm,
              mode,
              &kOne,
              tensor,
              dev_y.get(),
              tensor,
              dev_dy.get(),
              &kZero,
              tensor,
              dev_dx.get()),
          CUDNN_STATUS_SUCCESS);
      expect_near(dev_y.values(), y, 1e-5);
      expect_near(dev_dx.values(), wanted, 1e-5);
    }
  }
}

TEST_F(OlderOperations, Pooling) {
  const OlderTensor x({1, 1, 3, 4}), y({1, 1, 2, 2});
  const PoolingHow how;
  const std::vector<float> values{1, 5, 2, 0, 7, 3, 4, 8, 6, 9, -1, -2};
  const auto check = [&](cudnnPoolingMode_t mode,
                         const std::vector<double>& wanted,
                         const std::vector<double>& slopes) {
    ASSERT_EQ(
        cudnnSetPooling2dDescriptor(
            how, mode, CUDNN_PROPAGATE_NAN, 2, 2, 1, 0, 2, 2),
        CUDNN_STATUS_SUCCESS);
    int n = 0, c = 0, h = 0, w = 0;
    EXPECT_EQ(
        cudnnGetPooling2dForwardOutputDim(how, x, &n, &c, &h, &w),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ((Dims{n, c, h, w}), (Dims{1, 1, 2, 2}));
    const Array<float> dev_x(values), dev_dx(values);
    const Array<float> dev_y({9, 9, 9, 9}), dev_dy({4, 8, 16, 32});
    EXPECT_EQ(
        cudnnPoolingForward(
            handle, how, &kOne, x, dev_x.get(), &kZero, y, dev_y.get()),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(
        cudnnPoolingBackward(
            handle,
            how,
            &kOne,
            y,
            dev_y.get(),
            y,
            dev_dy.get(),
            x,
            dev_x.get(),
            &kZero,
            x,
            dev_dx.get()),
        CUDNN_STATUS_SUCCESS);
    expect_near(dev_y.values(), wanted, 1e-6);
    expect_near(dev_dx.values(), slopes, 1e-6);
  };
  check(
      CUDNN_POOLING_MAX, {5, 2, 9, 8}, {0, 4, 8, 0, 0, 0, 0, 32, 0, 16, 0, 0});
  check(
      CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
      {1.5, 0.5, 6.25, 2.25},
      {1, 1, 2, 2, 4, 4, 8, 8, 4, 4, 8, 8});
  check(
      CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
      {3, 1, 6.25, 2.25},
      {2, 2, 4, 4, 4, 4, 8, 8, 4, 4, 8, 8});
}

TEST_F(OlderOperations, ReducesWithIndices) {
  const OlderTensor a({2, 3}), c({2, 1});
  const ReduceHow how;
  ASSERT_EQ(
      cudnnSetReduceTensorDescriptor(
          how,
          CUDNN_REDUCE_TENSOR_MAX,
          CUDNN_DATA_FLOAT,
          CUDNN_PROPAGATE_NAN,
          CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
          CUDNN_32BIT_INDICES),
      CUDNN_STATUS_SUCCESS);
  std::size_t size = 0;
  EXPECT_EQ(
      cudnnGetReductionIndicesSize(handle, how, a, c, &size),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(size, 8U);
  const Array<float> x(std::vector<float>{1, 5, 2, 7, 3, 7}), y({1, 1});
  const Array<std::int32_t> indices(std::vector<std::int32_t>{9, 9});
  const float alpha = 2, beta = 3;
  EXPECT_EQ(
      cudnnReduceTensor(
          handle,
          how,
          indices.get(),
          8,
          nullptr,
          0,
          &alpha,
          a,
          x.get(),
          &beta,
          c,
          y.get()),
      CUDNN_STATUS_SUCCESS);
  expect_near(y.values(), {13, 17}, 1e-6);
  EXPECT_EQ(indices.values(), (std::vector<std::int32_t>{1, 0}));
}

TEST_F(OlderOperations, WholeTensors) {
  const OlderTensor tensor({1, 2, 1, 2}), channels({1, 2, 1, 1});
  const Array<float> a(std::vector<float>{10, 20});
  const Array<float> c(std::vector<float>{1, 2, 3, 4});
  const float alpha = 2, beta = 3, value = 7;
  EXPECT_EQ(
      cudnnAddTensor(handle, &alpha, channels, a.get(), &beta, tensor, c.get()),
      CUDNN_STATUS_SUCCESS);
  expect_near(c.values(), {23, 26, 49, 52}, 1e-5);
  EXPECT_EQ(
      cudnnScaleTensor(handle, tensor, c.get(), &alpha), CUDNN_STATUS_SUCCESS);
  expect_near(c.values(), {46, 52, 98, 104}, 1e-5);
  EXPECT_EQ(
      cudnnSetTensor(handle, tensor, c.get(), &value), CUDNN_STATUS_SUCCESS);
  expect_near(c.values(), {7, 7, 7, 7}, 0);
  const OpTensorHow how;
  ASSERT_EQ(
      cudnnSetOpTensorDescriptor(
          how, CUDNN_OP_TENSOR_MUL, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN),
      CUDNN_STATUS_SUCCESS);
  const Array<float> b(std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(
      cudnnOpTensor(
          handle,
          how,
          &alpha,
          tensor,
          b.get(),
          &kOne,
          channels,
          a.get(),
          &kOne,
          tensor,
          c.get()),
      CUDNN_STATUS_SUCCESS);
  expect_near(c.values(), {27, 47, 127, 167}, 1e-4);
  // From one layout to another.
  const TensorBase last;
  ASSERT_EQ(
      cudnnSetTensor4dDescriptor(
          last, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 2, 1, 2),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(
      cudnnTransformTensor(
          handle, &kOne, tensor, b.get(), &kZero, last, c.get()),
      CUDNN_STATUS_SUCCESS);
  expect_near(c.values(), {1, 3, 2, 4}, 0);
}

TEST_F(OlderOperations, DropsTheSameInTheGradient) {
  constexpr int kCount = 1000;
  const OlderTensor tensor({1, kCount, 1, 1});
  const DropoutHow how;
  std::size_t states_size = 0, reserve_size = 0;
  ASSERT_EQ(
      cudnnDropoutGetStatesSize(handle, &states_size), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(
      cudnnDropoutGetReserveSpaceSize(tensor, &reserve_size),
      CUDNN_STATUS_SUCCESS);
  const Array<char> states((std::vector<char>(states_size)));
  const Array<char> reserve((std::vector<char>(reserve_size)));
  ASSERT_EQ(
      cudnnSetDropoutDescriptor(
          how, handle, 0.25, states.get(), states_size, 1),
      CUDNN_STATUS_SUCCESS);
  const Array<float> x(std::vector<float>(kCount, 3)), y(x.values());
  const auto draw = [&] {
    EXPECT_EQ(
        cudnnDropoutForward(
            handle,
            how,
            tensor,
            x.get(),
            tensor,
            y.get(),
            reserve.get(),
            reserve_size),
        CUDNN_STATUS_SUCCESS);
    return y.values();
  };
  const std::vector<float> first = draw();
  EXPECT_NE(first, draw()); // other ones each time
  const std::vector<float> second = y.values();
  const auto kept = std::count(second.begin(), second.end(), 4.0F);
  EXPECT_EQ(kept + std::count(second.begin(), second.end(), 0.0F), kCount);
  EXPECT_NEAR(kept, 750, 70);
  EXPECT_EQ(
      cudnnDropoutBackward(
          handle,
          how,
          tensor,
          x.get(),
          tensor,
          y.get(),
          reserve.get(),
          reserve_size),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(y.values(), second);
}

} // namespace
} // namespace accelerator::dnn::testing

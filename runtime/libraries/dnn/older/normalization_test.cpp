// Batch normalization of the older API.
#include <cmath>

#include "runtime/libraries/dnn/testing/older.h"

namespace accelerator::dnn::testing {
namespace {

class OlderNormalization : public HandleTest {};

// Of one channel with x = 1, 2, 3, 6: the mean is 3, the variance 3.5.
TEST_F(OlderNormalization, BatchNormalization) {
  const OlderTensor tensor({4, 1, 1, 1});
  const OlderTensor parameters({1, 1, 1, 1});
  const Array<float> x(std::vector<float>{1, 2, 3, 6}), y({0, 0, 0, 0});
  const Array<float> scale(std::vector<float>{2}), bias({1});
  const Array<float> mean(std::vector<float>{10}), variance({20});
  const Array<float> saved_mean(std::vector<float>{0}), saved_inverse({0});
  const double inverse = 1 / std::sqrt(3.5 + 0.5);
  EXPECT_EQ(
      cudnnBatchNormalizationForwardTraining(
          handle,
          CUDNN_BATCHNORM_SPATIAL,
          &kOne,
          &kZero,
          tensor,
          x.get(),
          tensor,
          y.get(),
          parameters,
          scale.get(),
          bias.get(),
          0.25,
          mean.get(),
          variance.get(),
          0.5,
          saved_mean.get(),
          saved_inverse.get()),
      CUDNN_STATUS_SUCCESS)
      << Descriptor::said();
  const auto normal = [&](double value) { return (value - 3) * inverse; };
  expect_near(
      y.values(),
      {1 + 2 * normal(1), 1 + 2 * normal(2), 1, 1 + 2 * normal(6)},
      1e-5);
  expect_near(mean.values(), {0.75 * 10 + 0.25 * 3}, 1e-5);
  // The running variance is that of a sample: 14 / 3.
  expect_near(variance.values(), {0.75 * 20 + 0.25 * 14 / 3}, 1e-5);
  expect_near(saved_mean.values(), {3}, 1e-6);
  expect_near(saved_inverse.values(), {inverse}, 1e-6);

  EXPECT_EQ(
      cudnnBatchNormalizationForwardInference(
          handle,
          CUDNN_BATCHNORM_SPATIAL,
          &kOne,
          &kZero,
          tensor,
          x.get(),
          tensor,
          y.get(),
          parameters,
          scale.get(),
          bias.get(),
          saved_mean.get(),
          scale.get(),
          0.25),
      CUDNN_STATUS_SUCCESS);
  const double other = 1 / std::sqrt(2.25);
  expect_near(
      y.values(), {1 - 4 * other, 1 - 2 * other, 1, 1 + 6 * other}, 1e-5);

  const std::vector<float> gradient{1, -1, 2, 0.5};
  const Array<float> dy(gradient), dx(gradient);
  const Array<float> dscale(std::vector<float>{0}), dbias({0});
  EXPECT_EQ(
      cudnnBatchNormalizationBackward(
          handle,
          CUDNN_BATCHNORM_SPATIAL,
          &kOne,
          &kZero,
          &kOne,
          &kZero,
          tensor,
          x.get(),
          tensor,
          dy.get(),
          tensor,
          dx.get(),
          parameters,
          scale.get(),
          dscale.get(),
          dbias.get(),
          0.5,
          saved_mean.get(),
          saved_inverse.get()),
      CUDNN_STATUS_SUCCESS);
  const auto loss = [&](std::vector<double> values) {
    double middle = 0, spread = 0, sum = 0;
    for (const double value : values) {
      middle += value / 4;
    }
    for (const double value : values) {
      spread += (value - middle) * (value - middle) / 4;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      sum += gradient[i] * 2 * (values[i] - middle) / std::sqrt(spread + 0.5);
    }
    return sum;
  };
  std::vector<double> wanted;
  double factor = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<double> above{1, 2, 3, 6}, below = above;
    factor += gradient[i] * normal(above[i]);
    above[i] += 1e-4;
    below[i] -= 1e-4;
    wanted.push_back((loss(above) - loss(below)) / 2e-4);
  }
  expect_near(dx.values(), wanted, 1e-4);
  expect_near(dscale.values(), {factor}, 1e-5);
  expect_near(dbias.values(), {2.5}, 1e-5);
}

TEST_F(OlderNormalization, BatchNormalizationWithASummandAndAnActivation) {
  const OlderTensor tensor({4, 1, 1, 1});
  const OlderTensor parameters({1, 1, 1, 1});
  const Activation relu;
  ASSERT_EQ(
      cudnnSetActivationDescriptor(
          relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0),
      CUDNN_STATUS_SUCCESS);
  // Normalized with epsilon 0: -1, -1, 1, 1.
  const Array<float> x(std::vector<float>{-1, -1, 1, 1}), y({9, 9, 9, 9});
  const Array<float> z(std::vector<float>{3, 0, -3, 0.5});
  const Array<float> scale(std::vector<float>{1}), bias({0});
  const Array<float> mean(std::vector<float>{0}), inverse({0});
  const auto operations = CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION;
  EXPECT_EQ(
      cudnnBatchNormalizationForwardTrainingEx(
          handle,
          CUDNN_BATCHNORM_SPATIAL,
          operations,
          &kOne,
          &kZero,
          tensor,
          x.get(),
          tensor,
          z.get(),
          tensor,
          y.get(),
          parameters,
          scale.get(),
          bias.get(),
          1,
          nullptr,
          nullptr,
          0,
          mean.get(),
          inverse.get(),
          relu,
          nullptr,
          0,
          nullptr,
          0),
      CUDNN_STATUS_SUCCESS)
      << Descriptor::said();
  expect_near(y.values(), {2, 0, 0, 1.5}, 1e-6);
  const Array<float> dy(std::vector<float>{1, 2, 4, 8});
  const Array<float> dx(dy.values()), dz(dy.values());
  const Array<float> dscale(std::vector<float>{0}), dbias({0});
  EXPECT_EQ(
      cudnnBatchNormalizationBackwardEx(
          handle,
          CUDNN_BATCHNORM_SPATIAL,
          operations,
          &kOne,
          &kZero,
          &kOne,
          &kZero,
          tensor,
          x.get(),
          tensor,
          y.get(),
          tensor,
          dy.get(),
          tensor,
          dz.get(),
          tensor,
          dx.get(),
          parameters,
          scale.get(),
          bias.get(),
          dscale.get(),
          dbias.get(),
          0,
          mean.get(),
          inverse.get(),
          relu,
          nullptr,
          0,
          nullptr,
          0),
      CUDNN_STATUS_SUCCESS)
      << Descriptor::said();
  // What passes the activation is 1, 0, 0, 8.
  expect_near(dz.values(), {1, 0, 0, 8}, 1e-6);
  expect_near(dbias.values(), {9}, 1e-6);
  expect_near(dscale.values(), {7}, 1e-6);
  expect_near(dx.values(), {0.5, -0.5, -4, 4}, 1e-5);
}

} // namespace
} // namespace accelerator::dnn::testing

// Convolutions of the older API.
#include <algorithm>

#include "runtime/libraries/dnn/testing/convolution.h"
#include "runtime/libraries/dnn/testing/older.h"

namespace accelerator::dnn::testing {
namespace {

class OlderConvolution : public HandleTest {
 protected:
  static void set(
      const Plain& plain,
      const Filter& w,
      const ConvolutionHow& how) {
    const Dims dims = plain.w_dims();
    ASSERT_EQ(
        cudnnSetFilter4dDescriptor(
            w,
            CUDNN_DATA_FLOAT,
            CUDNN_TENSOR_NCHW,
            static_cast<int>(dims[0]),
            static_cast<int>(dims[1]),
            static_cast<int>(dims[2]),
            static_cast<int>(dims[3])),
        CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(
        cudnnSetConvolution2dDescriptor(
            how,
            static_cast<int>(plain.padding[0]),
            static_cast<int>(plain.padding[1]),
            static_cast<int>(plain.stride[0]),
            static_cast<int>(plain.stride[1]),
            static_cast<int>(plain.dilation[0]),
            static_cast<int>(plain.dilation[1]),
            plain.flipped ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION,
            CUDNN_DATA_FLOAT),
        CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(
        cudnnSetConvolutionGroupCount(how, static_cast<int>(plain.groups)),
        CUDNN_STATUS_SUCCESS);
  }
};

TEST_F(OlderConvolution, ForwardAndGradients) {
  for (const Plain& plain : convolutions()) {
    const OlderTensor x(plain.x_dims()), y(plain.y_dims());
    const Filter w;
    const ConvolutionHow how;
    set(plain, w, how);
    int n = 0, c = 0, h = 0, width = 0;
    EXPECT_EQ(
        cudnnGetConvolution2dForwardOutputDim(how, x, w, &n, &c, &h, &width),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ((Dims{n, c, h, width}), plain.y_dims());
    cudnnConvolutionFwdAlgoPerf_t best{};
    int count = 0;
    EXPECT_EQ(
        cudnnGetConvolutionForwardAlgorithm_v7(
            handle, x, w, how, y, 1, &count, &best),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(best.status, CUDNN_STATUS_SUCCESS);
    const auto image = random_floats(plain.x_size(), 1);
    const auto filter = random_floats(plain.w_size(), 2);
    const auto gradient = random_floats(plain.y_size(), 3);
    const Array<float> dev_x(image), dev_w(filter), dev_dy(gradient);
    const Array<float> dev_y(gradient), dev_dx(image), dev_dw(filter);
    const float alpha = 2, beta = 0.5;
    EXPECT_EQ(
        cudnnConvolutionForward(
            handle,
            &alpha,
            x,
            dev_x.get(),
            w,
            dev_w.get(),
            how,
            best.algo,
            nullptr,
            0,
            &beta,
            y,
            dev_y.get()),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(
        cudnnConvolutionBackwardData(
            handle,
            &alpha,
            w,
            dev_w.get(),
            y,
            dev_dy.get(),
            how,
            CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
            nullptr,
            0,
            &beta,
            x,
            dev_dx.get()),
        CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(
        cudnnConvolutionBackwardFilter(
            handle,
            &alpha,
            x,
            dev_x.get(),
            y,
            dev_dy.get(),
            how,
            CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
            nullptr,
            0,
            &beta,
            w,
            dev_dw.get()),
        CUDNN_STATUS_SUCCESS);
    const auto blended = [&](std::vector<double> made,
                             const std::vector<float>& old) {
      for (std::size_t i = 0; i < made.size(); ++i) {
        made[i] = 2 * made[i] + 0.5 * old[i];
      }
      return made;
    };
    expect_near(
        dev_y.values(), blended(plain.forward(image, filter), gradient), 2e-3);
    expect_near(
        dev_dx.values(),
        blended(plain.backward_data(gradient, filter), image),
        2e-3);
    expect_near(
        dev_dw.values(),
        blended(plain.backward_filter(image, gradient), filter),
        4e-3);
  }
}

TEST_F(OlderConvolution, WithBiasSummandAndActivation) {
  const Plain plain{2, 3, 5, 5, 4, 3, 3, 1, {1, 1}, {1, 1}, {1, 1}};
  const OlderTensor x(plain.x_dims()), y(plain.y_dims()), b({1, 4, 1, 1});
  const Filter w;
  const ConvolutionHow how;
  set(plain, w, how);
  const Activation relu;
  ASSERT_EQ(
      cudnnSetActivationDescriptor(
          relu, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0),
      CUDNN_STATUS_SUCCESS);
  const auto image = random_floats(plain.x_size(), 1);
  const auto filter = random_floats(plain.w_size(), 2);
  const auto bias = random_floats(4, 3);
  const auto summand = random_floats(plain.y_size(), 4);
  const Array<float> dev_x(image), dev_w(filter), dev_b(bias), dev_z(summand);
  const Array<float> dev_y(std::vector<float>(plain.y_size(), 9));
  const float alpha1 = 2, alpha2 = 0.5;
  EXPECT_EQ(
      cudnnConvolutionBiasActivationForward(
          handle,
          &alpha1,
          x,
          dev_x.get(),
          w,
          dev_w.get(),
          how,
          CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
          nullptr,
          0,
          &alpha2,
          y,
          dev_z.get(),
          b,
          dev_b.get(),
          relu,
          y,
          dev_y.get()),
      CUDNN_STATUS_SUCCESS);
  std::vector<double> wanted = plain.forward(image, filter);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = std::max(
        0.0,
        2 * wanted[i] + 0.5 * summand[i] +
            bias[i / (plain.p() * plain.q()) % 4]);
  }
  expect_near(dev_y.values(), wanted, 1e-4);
  // The gradient of a bias.
  EXPECT_EQ(
      cudnnConvolutionBackwardBias(
          handle, &kOne, y, dev_z.get(), &kZero, b, dev_b.get()),
      CUDNN_STATUS_SUCCESS);
  std::vector<double> sums(4);
  for (std::size_t i = 0; i < summand.size(); ++i) {
    sums[i / (plain.p() * plain.q()) % 4] += summand[i];
  }
  expect_near(dev_b.values(), sums, 1e-4);
}

TEST_F(OlderConvolution, RefusesTensorsThatDoNotFit) {
  const Plain plain{2, 3, 7, 6, 4, 3, 3};
  const OlderTensor x(plain.x_dims()), wrong({2, 4, 5, 5});
  const Filter w;
  const ConvolutionHow how;
  set(plain, w, how);
  const Array<float> memory(std::vector<float>(1000));
  EXPECT_EQ(
      cudnnConvolutionForward(
          handle,
          &kOne,
          x,
          memory.get(),
          w,
          memory.get(),
          how,
          CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
          nullptr,
          0,
          &kZero,
          wrong,
          memory.get()),
      CUDNN_STATUS_BAD_PARAM);
  ASSERT_EQ(cudnnSetConvolutionGroupCount(how, 3), CUDNN_STATUS_SUCCESS);
  int sizes[4] = {};
  EXPECT_EQ(
      cudnnGetConvolutionNdForwardOutputDim(how, x, w, 4, sizes),
      CUDNN_STATUS_BAD_PARAM);
}

} // namespace
} // namespace accelerator::dnn::testing

// Convolutions of the graph API, alone and with what follows them.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

#include "runtime/libraries/dnn/testing/convolution.h"
#include "runtime/libraries/dnn/testing/graph.h"

namespace accelerator::dnn::testing {
namespace {

class GraphConvolution : public HandleTest {};

Descriptor how_of(const Plain& plain, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
  const auto both = [](const std::array<std::int64_t, 2>& values) {
    return Dims{values[0], values[1]};
  };
  Descriptor how(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  how.choice(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, type)
      .choice(
          CUDNN_ATTR_CONVOLUTION_CONV_MODE,
          CUDNN_TYPE_CONVOLUTION_MODE,
          plain.flipped ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION)
      .integers(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2})
      .integers(CUDNN_ATTR_CONVOLUTION_DILATIONS, both(plain.dilation))
      .integers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, both(plain.stride))
      .integers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, both(plain.padding))
      .integers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, both(plain.padding));
  return how.done();
}

Descriptor forward(
    const Plain& plain,
    const Descriptor& x,
    const Descriptor& w,
    const Descriptor& y,
    double alpha = 1,
    double beta = 0) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, alpha)
      .number(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, beta)
      .child(
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {how_of(plain)})
      .child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {x})
      .child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {w})
      .child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {y});
  return operation.done();
}

TEST_F(GraphConvolution, Forward) {
  for (const Plain& plain : convolutions()) {
    const auto x = random_floats(plain.x_size(), 1);
    const auto w = random_floats(plain.w_size(), 2);
    const Array<float> dx(x), dw(w);
    const Array<float> dy(std::vector<float>(plain.y_size(), 7));
    run({forward(
            plain,
            tensor(1, plain.x_dims()),
            tensor(2, plain.w_dims()),
            tensor(3, plain.y_dims()))},
        {{1, dx.get()}, {2, dw.get()}, {3, dy.get()}});
    expect_near(dy.values(), plain.forward(x, w), 1e-3);
  }
}

TEST_F(GraphConvolution, BackwardData) {
  for (const Plain& plain : convolutions()) {
    const auto dy = random_floats(plain.y_size(), 1);
    const auto w = random_floats(plain.w_size(), 2);
    const Array<float> gradient(dy), filter(w);
    const Array<float> result(std::vector<float>(plain.x_size(), 7));
    Descriptor operation(
        CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
    operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1)
        .number(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0)
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            {how_of(plain)})
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
            {tensor(1, plain.y_dims())})
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            {tensor(2, plain.w_dims())})
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            {tensor(3, plain.x_dims())});
    run({operation.done()},
        {{1, gradient.get()}, {2, filter.get()}, {3, result.get()}});
    expect_near(result.values(), plain.backward_data(dy, w), 1e-3);
  }
}

TEST_F(GraphConvolution, BackwardFilter) {
  for (const Plain& plain : convolutions()) {
    const auto x = random_floats(plain.x_size(), 1);
    const auto dy = random_floats(plain.y_size(), 2);
    const Array<float> image(x), gradient(dy);
    const Array<float> result(std::vector<float>(plain.w_size(), 7));
    Descriptor operation(
        CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
    operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1)
        .number(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0)
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            {how_of(plain)})
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
            {tensor(1, plain.x_dims())})
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
            {tensor(2, plain.y_dims())})
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
            {tensor(3, plain.w_dims())});
    run({operation.done()},
        {{1, image.get()}, {2, gradient.get()}, {3, result.get()}});
    expect_near(result.values(), plain.backward_filter(x, dy), 2e-3);
  }
}

TEST_F(GraphConvolution, ReadsChannelsInnermostAndScales) {
  const Plain plain{2, 3, 7, 6, 4, 3, 3, 1, {1, 1}, {1, 1}, {1, 1}};
  const auto x = random_floats(plain.x_size(), 1);
  const auto w = random_floats(plain.w_size(), 2);
  const auto y = random_floats(plain.y_size(), 3);
  const auto last = [](const std::vector<float>& values, const Dims& dims) {
    std::vector<float> result(values.size());
    const Dims from = packed(dims), to = channels_last(dims);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t place = 0;
      for (std::size_t d = 0; d < 4; ++d) {
        place += static_cast<std::int64_t>(i) / from[d] % dims[d] * to[d];
      }
      result[place] = values[i];
    }
    return result;
  };
  const Array<float> dx(last(x, plain.x_dims()));
  const Array<float> dw(last(w, plain.w_dims()));
  const Array<float> dy(last(y, plain.y_dims()));
  const auto turned = [](std::int64_t uid, const Dims& dims) {
    return tensor(uid, dims, channels_last(dims));
  };
  run({forward(
          plain,
          turned(1, plain.x_dims()),
          turned(2, plain.w_dims()),
          turned(3, plain.y_dims()),
          2,
          0.5)},
      {{1, dx.get()}, {2, dw.get()}, {3, dy.get()}});
  std::vector<double> wanted = plain.forward(x, w);
  std::vector<float> expected(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    expected[i] = static_cast<float>(2 * wanted[i] + 0.5 * y[i]);
  }
  expected = last(expected, plain.y_dims());
  expect_near(
      dy.values(), std::vector<double>(expected.begin(), expected.end()), 1e-3);
}

// As XLA has it: the filter's results, a bias for each channel, and an
// activation, in one graph; and the same while a stream is captured.
TEST_F(GraphConvolution, IsFusedWithABiasAndAnActivation) {
  const Plain plain{2, 3, 5, 5, 4, 3, 3, 1, {1, 1}, {1, 1}, {1, 1}};
  const auto x = random_floats(plain.x_size(), 1);
  const auto w = random_floats(plain.w_size(), 2);
  const auto bias = random_floats(plain.k, 3);
  const Array<float> dx(x), dw(w), db(bias);
  const Array<float> dy(std::vector<float>(plain.y_size(), 7));
  const Descriptor raw = tensor(4, plain.y_dims(), true);
  const Descriptor sum = tensor(5, plain.y_dims(), true);
  // Not in the order in which they are computed.
  const std::vector<Descriptor> operations{
      pointwise(
          CUDNN_POINTWISE_RELU_FWD,
          {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, sum},
           {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensor(6, plain.y_dims())}}),
      pointwise(
          CUDNN_POINTWISE_ADD,
          {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, raw},
           {CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
            tensor(3, {1, plain.k, 1, 1})},
           {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, sum}}),
      forward(
          plain, tensor(1, plain.x_dims()), tensor(2, plain.w_dims()), raw)};
  std::vector<double> wanted = plain.forward(x, w);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t channel = i / (plain.p() * plain.q()) % plain.k;
    wanted[i] = std::max(0.0, wanted[i] + bias[channel]);
  }
  const Bindings bindings{
      {1, dx.get()}, {2, dw.get()}, {3, db.get()}, {6, dy.get()}};
  run(operations, bindings);
  expect_near(dy.values(), wanted, 1e-4);

  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudnnSetStream(handle, stream), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(
      cudaMemset(dy.get(), 0, wanted.size() * sizeof(float)), cudaSuccess);
  ASSERT_EQ(
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  run(operations, bindings);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(dy.values(), std::vector<float>(wanted.size(), 0.0F));
  cudaGraphExec_t instance = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&instance, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(instance, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  expect_near(dy.values(), wanted, 1e-4);
  EXPECT_EQ(cudaGraphExecDestroy(instance), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(GraphConvolution, RoundsToHalfOnce) {
  const Plain plain{1, 8, 4, 4, 2, 3, 3};
  auto x = random_floats(plain.x_size(), 1);
  auto w = random_floats(plain.w_size(), 2);
  const auto halves = [](std::vector<float>& values) {
    std::vector<__half> result;
    for (float& value : values) {
      result.push_back(__float2half(value));
      value = __half2float(result.back());
    }
    return result;
  };
  const Array<__half> dx(halves(x)), dw(halves(w));
  const Array<__half> dy(std::vector<__half>(plain.y_size()));
  const auto half = [](std::int64_t uid, const Dims& dims) {
    return tensor(uid, dims, packed(dims), CUDNN_DATA_HALF);
  };
  run({forward(
          plain,
          half(1, plain.x_dims()),
          half(2, plain.w_dims()),
          half(3, plain.y_dims()))},
      {{1, dx.get()}, {2, dw.get()}, {3, dy.get()}});
  const std::vector<double> wanted = plain.forward(x, w);
  const std::vector<__half> values = dy.values();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(
        __half2float(values[i]), wanted[i], std::fabs(wanted[i]) / 2000 + 1e-5);
  }
}

TEST_F(GraphConvolution, RefusesTensorsThatDoNotFit) {
  const Plain plain{2, 3, 7, 6, 4, 3, 3};
  const auto status = [&](const Dims& x, const Dims& w, const Dims& y) {
    Descriptor operation(
        CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1)
        .number(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0)
        .child(
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {how_of(plain)})
        .child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {tensor(1, x)})
        .child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {tensor(2, w)})
        .child(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {tensor(3, y)});
    return cudnnBackendFinalize(operation.get());
  };
  EXPECT_EQ(
      status(plain.x_dims(), plain.w_dims(), plain.y_dims()),
      CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(
      status(plain.x_dims(), plain.w_dims(), {2, 4, 5, 5}),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      status(plain.x_dims(), {4, 2, 3, 3}, plain.y_dims()),
      CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(
      status(plain.x_dims(), {5, 3, 3, 3}, plain.y_dims()),
      CUDNN_STATUS_BAD_PARAM);
}

} // namespace
} // namespace accelerator::dnn::testing

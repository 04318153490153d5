// Normalization of the graph API, compared with its definition.
#include <cmath>

#include "runtime/libraries/dnn/testing/graph.h"

namespace accelerator::dnn::testing {
namespace {

class GraphNormalization : public HandleTest {};

constexpr double kEpsilon = 0.125;

/// One mode on x of {3, 4, 2, 2}: which elements share statistics, and which
/// ones have a scale together.
struct Mode {
  cudnnBackendNormMode_t mode;
  Dims statistics;
  Dims parameters;
};

const Dims kDims{3, 4, 2, 2};

const std::vector<Mode> kModes{
    {CUDNN_LAYER_NORM, {3, 1, 1, 1}, {1, 4, 2, 2}},
    {CUDNN_RMS_NORM, {3, 1, 1, 1}, {1, 4, 2, 2}},
    {CUDNN_INSTANCE_NORM, {3, 4, 1, 1}, {1, 4, 1, 1}},
    {CUDNN_BATCH_NORM, {1, 4, 1, 1}, {1, 4, 1, 1}},
};

std::int64_t size_of(const Dims& dims) {
  return packed(dims)[0] * dims[0];
}

/// Which element of smaller dimensions belongs to one of x.
std::int64_t place(std::int64_t element, const Dims& dims) {
  const Dims from = packed(kDims), to = packed(dims);
  std::int64_t result = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    result += dims[i] == 1 ? 0 : element / from[i] % kDims[i] * to[i];
  }
  return result;
}

/// The definition, in double precision.
struct Definition {
  std::vector<double> mean, inverse, variance, normal, y;

  Definition(
      const Mode& mode,
      const std::vector<double>& x,
      const std::vector<float>& scale,
      const std::vector<float>& bias)
      : mean(size_of(mode.statistics)),
        inverse(mean.size()),
        variance(mean.size()),
        normal(x.size()),
        y(x.size()) {
    const double count =
        static_cast<double>(x.size()) / static_cast<double>(mean.size());
    if (mode.mode != CUDNN_RMS_NORM) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        mean[place(i, mode.statistics)] += x[i] / count;
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double away = x[i] - mean[place(i, mode.statistics)];
      variance[place(i, mode.statistics)] += away * away / count;
    }
    for (std::size_t i = 0; i < mean.size(); ++i) {
      inverse[i] = 1 / std::sqrt(variance[i] + kEpsilon);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int64_t at = place(i, mode.statistics);
      const std::int64_t with = place(i, mode.parameters);
      normal[i] = (x[i] - mean[at]) * inverse[at];
      y[i] = normal[i] * scale[with] + bias[with];
    }
  }
};

Descriptor by_value(std::int64_t uid) {
  Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.integers(CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid})
      .integers(CUDNN_ATTR_TENSOR_DIMENSIONS, {1, 1, 1, 1})
      .integers(CUDNN_ATTR_TENSOR_STRIDES, {1, 1, 1, 1})
      .integers(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {4})
      .flag(CUDNN_ATTR_TENSOR_IS_BY_VALUE);
  return made.done();
}

TEST_F(GraphNormalization, ForwardInTraining) {
  const auto x = random_floats(size_of(kDims), 1);
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.mode);
    const auto scale = random_floats(size_of(mode.parameters), 2);
    const auto bias = random_floats(size_of(mode.parameters), 3);
    const std::int64_t statistics = size_of(mode.statistics);
    const Array<float> dx(x), ds(scale), db(bias), dy(x);
    const Array<float> mean(std::vector<float>(statistics, 9));
    const Array<float> inverse(std::vector<float>(statistics, 9));
    float epsilon = kEpsilon;
    Descriptor operation(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    operation
        .choice(
            CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, mode.mode)
        .choice(
            CUDNN_ATTR_OPERATION_NORM_FWD_PHASE,
            CUDNN_TYPE_NORM_FWD_PHASE,
            CUDNN_NORM_FWD_TRAINING)
        .child(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, {tensor(1, kDims)})
        .child(
            CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC,
            {tensor(2, mode.parameters)})
        .child(
            CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC,
            {tensor(3, mode.parameters)})
        .child(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, {by_value(4)})
        .child(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, {tensor(5, kDims)})
        .child(
            CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC,
            {tensor(7, mode.statistics)});
    Bindings bindings{
        {1, dx.get()},
        {2, ds.get()},
        {3, db.get()},
        {4, &epsilon},
        {5, dy.get()},
        {7, inverse.get()}};
    if (mode.mode != CUDNN_RMS_NORM) {
      operation.child(
          CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC,
          {tensor(6, mode.statistics)});
      bindings.push_back({6, mean.get()});
    }
    run({operation.done()}, bindings);
    const Definition wanted(
        mode, std::vector<double>(x.begin(), x.end()), scale, bias);
    expect_near(dy.values(), wanted.y, 1e-5);
    expect_near(inverse.values(), wanted.inverse, 1e-5);
    if (mode.mode != CUDNN_RMS_NORM) {
      expect_near(mean.values(), wanted.mean, 1e-5);
    }
  }
}

// A gradient is what the sum of dy y changes by.
TEST_F(GraphNormalization, Backward) {
  const auto x = random_floats(size_of(kDims), 1);
  const auto dy = random_floats(size_of(kDims), 4);
  for (const Mode& mode : kModes) {
    SCOPED_TRACE(mode.mode);
    const auto scale = random_floats(size_of(mode.parameters), 2);
    const std::vector<float> bias(scale.size());
    const std::vector<double> wide(x.begin(), x.end());
    const Definition forward(mode, wide, scale, bias);
    const std::vector<float> saved_mean(
        forward.mean.begin(), forward.mean.end());
    const std::vector<float> saved_inverse(
        forward.inverse.begin(), forward.inverse.end());
    const Array<float> given(x), gradient(dy), factor(scale);
    const Array<float> mean(saved_mean), inverse(saved_inverse);
    const Array<float> dx(x), dscale(scale), dbias(scale);
    Descriptor operation(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR);
    operation
        .choice(
            CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, mode.mode)
        .child(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, {tensor(1, kDims)})
        .child(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, {tensor(2, kDims)})
        .child(
            CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC,
            {tensor(3, mode.parameters)})
        .child(
            CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC,
            {tensor(5, mode.statistics)})
        .child(
            CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC,
            {tensor(6, mode.parameters)})
        .child(
            CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC,
            {tensor(7, mode.parameters)})
        .child(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, {tensor(8, kDims)});
    Bindings bindings{
        {1, given.get()},
        {2, gradient.get()},
        {3, factor.get()},
        {5, inverse.get()},
        {6, dscale.get()},
        {7, dbias.get()},
        {8, dx.get()}};
    if (mode.mode != CUDNN_RMS_NORM) {
      operation.child(
          CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC,
          {tensor(4, mode.statistics)});
      bindings.push_back({4, mean.get()});
    }
    run({operation.done()}, bindings);
    std::vector<double> wanted_scale(scale.size()), wanted_bias(scale.size());
    std::vector<double> wanted(x.size());
    const auto loss = [&](const std::vector<double>& at) {
      const Definition moved(mode, at, scale, bias);
      double sum = 0;
      for (std::size_t j = 0; j < at.size(); ++j) {
        sum += dy[j] * moved.y[j];
      }
      return sum;
    };
    constexpr double kStep = 1e-4;
    for (std::size_t i = 0; i < x.size(); ++i) {
      wanted_scale[place(i, mode.parameters)] += dy[i] * forward.normal[i];
      wanted_bias[place(i, mode.parameters)] += dy[i];
      std::vector<double> above = wide, below = wide;
      above[i] += kStep;
      below[i] -= kStep;
      wanted[i] = (loss(above) - loss(below)) / (2 * kStep);
    }
    expect_near(dscale.values(), wanted_scale, 1e-4);
    expect_near(dbias.values(), wanted_bias, 1e-4);
    expect_near(dx.values(), wanted, 1e-4);
  }
}

} // namespace
} // namespace accelerator::dnn::testing

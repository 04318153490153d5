// Convolutions of the graph API.
#include "runtime/libraries/dnn/compute/convolution.h"
#include "runtime/libraries/dnn/compute/pointwise.h"
#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {
namespace {

Convolution shape_of(
    const State& convolution,
    const Dims& x,
    const Dims& w,
    const Dims& y) {
  return Convolution::of(
      x,
      w,
      y,
      convolution.integers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
      convolution.integers(CUDNN_ATTR_CONVOLUTION_DILATIONS),
      convolution.integers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
      convolution.integers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
      convolution.get<int>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) ==
          CUDNN_CONVOLUTION);
}

/// alpha result + beta what was there.
template <typename T>
void blend(
    Run<T>& run,
    std::int64_t uid,
    Array<T> result,
    double alpha,
    double beta) {
  if (alpha != 1) {
    T* values = result.writable();
    for (std::int64_t i = 0; i < result.size(); ++i) {
      values[i] *= static_cast<T>(alpha);
    }
  }
  if (beta != 0) {
    const T factor = static_cast<T>(beta);
    result = combine(
        result.dims(), result, run.before(uid), [factor](T made, T old) {
          return made + factor * old;
        });
  }
  run.out(uid, std::move(result));
}

} // namespace

bool add_convolution(Builder& builder, const State& operation) {
  const auto description = [&](cudnnBackendAttributeName_t name) {
    const State& state =
        operation.child(name, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    builder.computes_in(
        state.get<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE));
    return &state;
  };
  switch (operation.kind) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR: {
      const State* how =
          description(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
      const auto x =
          builder.tensor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
      const auto w =
          builder.tensor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
      const auto y =
          builder.tensor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
      const Dims dims = builder.dims(y);
      const Convolution shape =
          shape_of(*how, builder.dims(x), builder.dims(w), dims);
      const double alpha =
          operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1);
      const double beta =
          operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0);
      builder.add({x, w}, {y}, [=](auto& run) {
        blend(run, y, convolve(shape, run.in(x), run.in(w), dims), alpha, beta);
      });
      return true;
    }
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR: {
      const State* how =
          description(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
      const auto dy = builder.tensor(
          operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
      const auto w = builder.tensor(
          operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
      const auto dx = builder.tensor(
          operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
      const Dims dims = builder.dims(dx);
      const Convolution shape =
          shape_of(*how, dims, builder.dims(w), builder.dims(dy));
      const double alpha =
          operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1);
      const double beta =
          operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0);
      builder.add({dy, w}, {dx}, [=](auto& run) {
        blend(
            run,
            dx,
            convolve_backward_data(shape, run.in(dy), run.in(w), dims),
            alpha,
            beta);
      });
      return true;
    }
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: {
      const State* how =
          description(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
      const auto x = builder.tensor(
          operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
      const auto dy = builder.tensor(
          operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
      const auto dw = builder.tensor(
          operation, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
      const Dims dims = builder.dims(dw);
      const Convolution shape =
          shape_of(*how, builder.dims(x), dims, builder.dims(dy));
      const double alpha = operation.number(
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1);
      const double beta =
          operation.number(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0);
      builder.add({x, dy}, {dw}, [=](auto& run) {
        blend(
            run,
            dw,
            convolve_backward_filter(shape, run.in(x), run.in(dy), dims),
            alpha,
            beta);
      });
      return true;
    }
    default:
      return false;
  }
}

} // namespace accelerator::dnn

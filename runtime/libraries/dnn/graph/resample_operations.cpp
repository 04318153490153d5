// Pooling of the graph API.
#include "runtime/libraries/dnn/compute/pointwise.h"
#include "runtime/libraries/dnn/compute/pooling.h"
#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {
namespace {

Pooling shape_of(const State& how, const Dims& x, const Dims& y) {
  const auto kind = [&] {
    switch (how.get<cudnnResampleMode_t>(CUDNN_ATTR_RESAMPLE_MODE)) {
      case CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING:
        return Pooling::Kind::kAverageWithPadding;
      case CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING:
        return Pooling::Kind::kAverageWithoutPadding;
      case CUDNN_RESAMPLE_MAXPOOL:
        return Pooling::Kind::kMaximum;
      default:
        throw Refusal(
            CUDNN_STATUS_NOT_SUPPORTED,
            "resampling other than by pooling is not supported");
    }
  }();
  const Dims window = how.integers(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS);
  const Dims strides = how.integers(CUDNN_ATTR_RESAMPLE_STRIDES);
  const Dims before = how.integers(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS);
  const Dims after = how.integers(CUDNN_ATTR_RESAMPLE_POST_PADDINGS);
  const Pooling shape = Pooling::of(kind, x, y, window, strides, before);
  const auto padding =
      how.get<cudnnPaddingMode_t>(CUDNN_ATTR_RESAMPLE_PADDING_MODE);
  bool is_padded = false;
  for (std::size_t i = 0; i < window.size(); ++i) {
    is_padded = is_padded || before[i] != 0 || after[i] != 0;
    require_valid(
        y[i + 2] ==
            1 + (x[i + 2] + before[i] + after[i] - window[i]) / strides[i],
        "y is not of the size that the windows give");
  }
  require_supported(
      !is_padded ||
          padding ==
              (kind == Pooling::Kind::kMaximum ? CUDNN_NEG_INF_PAD
                                               : CUDNN_ZERO_PAD),
      "a maximum's padding is minus infinity, an average's is zero");
  return shape;
}

} // namespace

bool add_resampling(Builder& builder, const State& operation) {
  switch (operation.kind) {
    case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR: {
      const State& how = operation.child(
          CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC,
          CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
      builder.computes_in(how.get<cudnnDataType_t>(
          CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_DATA_FLOAT));
      require_supported(
          operation.number(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, 1) == 1 &&
              operation.number(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA, 0) == 0,
          "scaled resampling is not supported");
      const auto x =
          builder.tensor(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC);
      const auto y =
          builder.tensor(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC);
      const auto places = builder.optional(
          operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC);
      const Dims dims = builder.dims(y);
      const Pooling shape = shape_of(how, builder.dims(x), dims);
      require_valid(
          places < 0 || builder.dims(places) == dims,
          "indices are not of y's size");
      require_supported(
          places < 0 || shape.kind == Pooling::Kind::kMaximum,
          "only maxima have indices");
      builder.add({x}, {y, places}, [=](auto& run) {
        const auto& values = run.in(x);
        std::decay_t<decltype(values)> chosen;
        run.out(y, pool(shape, values, dims, &chosen));
        if (places >= 0) {
          run.out(places, std::move(chosen));
        }
      });
      return true;
    }
    case CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR: {
      const State& how = operation.child(
          CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC,
          CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
      builder.computes_in(how.get<cudnnDataType_t>(
          CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_DATA_FLOAT));
      require_supported(
          operation.number(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, 1) == 1 &&
              operation.number(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA, 0) == 0,
          "scaled resampling is not supported");
      const auto dy =
          builder.tensor(operation, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC);
      const auto dx =
          builder.tensor(operation, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC);
      const auto places = builder.optional(
          operation, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC);
      const auto x =
          builder.optional(operation, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC);
      const Dims dims = builder.dims(dx);
      const Dims outputs = builder.dims(dy);
      const Pooling shape = shape_of(how, dims, outputs);
      const bool is_maximum = shape.kind == Pooling::Kind::kMaximum;
      require_valid(
          !is_maximum || (places >= 0 && builder.dims(places) == outputs) ||
              (x >= 0 && builder.dims(x) == dims),
          "the gradient of maxima needs x or their indices");
      builder.add({dy, places, x}, {dx}, [=](auto& run) {
        const auto& gradient = run.in(dy);
        std::decay_t<decltype(gradient)> chosen;
        const auto* where = run.optional(places);
        if (is_maximum && where == nullptr) {
          pool(shape, run.in(x), outputs, &chosen);
          where = &chosen;
        }
        run.out(dx, pool_backward(shape, gradient, where, dims));
      });
      return true;
    }
    default:
      return false;
  }
}

} // namespace accelerator::dnn

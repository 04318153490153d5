// Normalization of the graph API, whole and in parts.
#include "runtime/libraries/dnn/compute/normalization.h"

#include <algorithm>

#include "runtime/libraries/dnn/compute/pointwise.h"
#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {
namespace {

/// The dimensions of means and deviations: 1 where they are over all of x.
/// @param scale of the parameters; empty where there are none.
Dims shared_dims(
    cudnnBackendNormMode_t mode,
    const Dims& x,
    const Dims& scale,
    const Dims* given) {
  if (given != nullptr && given->size() == x.size()) {
    return *given;
  }
  Dims dims(x.size(), 1);
  switch (mode) {
    case CUDNN_INSTANCE_NORM:
      dims[0] = x[0];
      dims[1] = x[1];
      return dims;
    case CUDNN_BATCH_NORM:
      dims[1] = x[1];
      return dims;
    case CUDNN_LAYER_NORM:
    case CUDNN_RMS_NORM:
      // Where parameters differ, elements are normalized together.
      require_supported(
          scale.size() == x.size(),
          "a layer's normalization needs a scale of as many dimensions");
      for (std::size_t i = 0; i < x.size(); ++i) {
        dims[i] = scale[i] == 1 ? x[i] : 1;
      }
      return dims;
    case CUDNN_ADA_LAYER_NORM:
      require_supported(
          scale.size() == x.size(),
          "a layer's normalization needs a scale of as many dimensions");
      dims[0] = x[0];
      for (std::size_t i = 1; i < x.size(); ++i) {
        dims[i] = scale[i] == 1 ? x[i] : 1;
      }
      return dims;
    default:
      throw Refusal(
          CUDNN_STATUS_NOT_SUPPORTED,
          "this mode of normalization is not supported");
  }
}

bool can_share(const Dims& shared, const Dims& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (shared.size() != x.size() || (shared[i] != 1 && shared[i] != x[i])) {
      return false;
    }
  }
  return true;
}

/// old + factor (new - old).
template <typename T>
Array<T> moved(const Array<T>& old, const Array<T>& made, double factor) {
  return combine(old.dims(), old, made, [factor](T a, T b) {
    return static_cast<T>((1 - factor) * a + factor * b);
  });
}

/// The unbiased variance of `count` elements.
template <typename T>
Array<T> unbiased(const Array<T>& variance, std::int64_t count) {
  const double factor = count > 1
      ? static_cast<double>(count) / static_cast<double>(count - 1)
      : 1;
  return combine(variance.dims(), variance, variance, [factor](T value, T) {
    return static_cast<T>(value * factor);
  });
}

void add_forward(Builder& builder, const State& operation) {
  const auto mode =
      operation.get<cudnnBackendNormMode_t>(CUDNN_ATTR_OPERATION_NORM_FWD_MODE);
  const bool training =
      operation.get<int>(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE) ==
      CUDNN_NORM_FWD_TRAINING;
  require_supported(
      !operation.has(CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS),
      "normalization over several devices is not supported");
  const auto find = [&](cudnnBackendAttributeName_t name) {
    return builder.optional(operation, name);
  };
  const auto x = find(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC);
  const auto y = find(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC);
  const auto mean = find(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC);
  const auto inverse = find(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC);
  const auto scale = find(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC);
  const auto bias = find(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC);
  const auto epsilon = find(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC);
  const auto factor = find(CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC);
  const auto old_mean =
      find(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC);
  const auto old_variance =
      find(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC);
  const auto new_mean =
      find(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC);
  const auto new_variance =
      find(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC);
  const Dims dims = builder.dims(x);
  require_valid(builder.dims(y) == dims, "y is not of x's size");
  const Dims shared = shared_dims(
      mode,
      dims,
      scale < 0 ? Dims() : builder.dims(scale),
      inverse < 0 ? nullptr : &builder.dims(inverse));
  require_valid(
      can_share(shared, dims) &&
          (mean < 0 || count_of(builder.dims(mean)) == count_of(shared)),
      "the statistics do not fit x");
  for (const std::int64_t parameter : {scale, bias}) {
    require_valid(
        parameter < 0 || can_share(builder.dims(parameter), dims),
        "the scale or the bias does not fit x");
  }
  const bool centred = mode != CUDNN_RMS_NORM;
  const std::int64_t count =
      count_of(dims) / std::max<std::int64_t>(1, count_of(shared));
  if (!training && inverse >= 0 && mean >= 0) {
    builder.add({x, mean, inverse, scale, bias}, {y}, [=](auto& run) {
      const auto& values = run.in(x);
      using T = std::decay_t<decltype(values[0])>;
      const Statistics<T> statistics{run.in(mean), run.in(inverse)};
      run.out(
          y,
          normalize(
              values, statistics, run.optional(scale), run.optional(bias)));
    });
    return;
  }
  require_valid(epsilon >= 0, "the normalization has no epsilon");
  const bool moves = training && (new_mean >= 0 || new_variance >= 0);
  require_valid(
      !moves || factor >= 0, "running statistics have no averaging factor");
  require_valid(
      !moves ||
          ((new_mean < 0 || old_mean >= 0) &&
           (new_variance < 0 || old_variance >= 0)),
      "running statistics have nothing to begin with");
  builder.add(
      {x, scale, bias, epsilon, factor, old_mean, old_variance},
      {y,
       training ? mean : -1,
       training ? inverse : -1,
       moves ? new_mean : -1,
       moves ? new_variance : -1},
      [=](auto& run) {
        const auto& values = run.in(x);
        using T = std::decay_t<decltype(values[0])>;
        Array<T> variance;
        const Statistics<T> statistics = statistics_of(
            values, shared, centred, run.number(epsilon), &variance);
        run.out(
            y,
            normalize(
                values, statistics, run.optional(scale), run.optional(bias)));
        if (moves) {
          const double part = run.number(factor);
          if (new_mean >= 0) {
            run.out(new_mean, moved(run.in(old_mean), *statistics.mean, part));
          }
          if (new_variance >= 0) {
            run.out(
                new_variance,
                moved(run.in(old_variance), unbiased(variance, count), part));
          }
        }
        if (training) {
          if (statistics.mean) {
            run.out(mean, *statistics.mean);
          }
          run.out(inverse, statistics.inverse);
        }
      });
}

void add_backward(Builder& builder, const State& operation) {
  const auto mode =
      operation.get<cudnnBackendNormMode_t>(CUDNN_ATTR_OPERATION_NORM_BWD_MODE);
  require_supported(
      !operation.has(CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS),
      "normalization over several devices is not supported");
  const auto find = [&](cudnnBackendAttributeName_t name) {
    return builder.optional(operation, name);
  };
  const auto x = find(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC);
  const auto dy = find(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC);
  const auto dx = find(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC);
  const auto mean = find(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC);
  const auto inverse = find(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC);
  const auto scale = find(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC);
  const auto epsilon = find(CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC);
  const auto dscale = find(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC);
  const auto dbias = find(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC);
  const Dims dims = builder.dims(x);
  require_valid(
      builder.dims(dy) == dims && builder.dims(dx) == dims,
      "x, dy and dx differ in size");
  const Dims parameters = builder.dims(scale);
  const Dims shared = shared_dims(
      mode, dims, parameters, inverse < 0 ? nullptr : &builder.dims(inverse));
  require_valid(
      can_share(shared, dims) && can_share(parameters, dims),
      "the statistics or the scale do not fit x");
  for (const std::int64_t gradient : {dscale, dbias}) {
    require_valid(
        gradient < 0 || builder.dims(gradient) == parameters,
        "the gradient of a parameter is not of its size");
  }
  require_valid(
      inverse >= 0 || epsilon >= 0,
      "the normalization has neither statistics nor epsilon");
  const bool centred = mode != CUDNN_RMS_NORM;
  require_valid(
      inverse < 0 || mean >= 0 || !centred,
      "the inverse variance comes without the mean");
  builder.add(
      {x, dy, mean, inverse, scale, epsilon},
      {dx, dscale, dbias},
      [=](auto& run) {
        const auto& values = run.in(x);
        using T = std::decay_t<decltype(values[0])>;
        Statistics<T> statistics;
        if (inverse >= 0) {
          statistics.inverse = run.in(inverse);
          if (centred) {
            statistics.mean = run.in(mean);
          }
        } else {
          statistics =
              statistics_of<T>(values, shared, centred, run.number(epsilon));
        }
        NormalizationGradients<T> gradients = normalize_backward(
            values, run.in(dy), statistics, run.optional(scale), parameters);
        run.out(dx, std::move(gradients.dx));
        run.out(dscale, std::move(gradients.dscale));
        run.out(dbias, std::move(gradients.dbias));
      });
}

/// What a batch's normalization is made of, out of sums over the batch.
void add_finalize(Builder& builder, const State& operation) {
  builder.computes_in(operation.get<cudnnDataType_t>(
      CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC));
  require_supported(
      operation.get<int>(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE) ==
          CUDNN_BN_FINALIZE_STATISTICS_TRAINING,
      "statistics are finalized for training only");
  const auto find = [&](cudnnBackendAttributeName_t name) {
    return builder.optional(operation, name);
  };
  const auto sum = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC);
  const auto squares = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC);
  const auto scale = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC);
  const auto bias = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC);
  const auto old_mean =
      find(CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC);
  const auto old_variance =
      find(CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC);
  const auto new_mean =
      find(CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC);
  const auto new_variance =
      find(CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC);
  const auto mean = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC);
  const auto inverse =
      find(CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC);
  const auto eq_scale = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC);
  const auto eq_bias = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC);
  const auto count = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC);
  const auto epsilon = find(CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC);
  const auto factor =
      find(CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC);
  require_valid(
      sum >= 0 && squares >= 0 && count >= 0,
      "statistics are finalized without sums or their count");
  require_valid(
      (new_mean < 0 || (old_mean >= 0 && factor >= 0)) &&
          (new_variance < 0 || (old_variance >= 0 && factor >= 0)),
      "running statistics have nothing to begin with, or no factor");
  const Dims dims = builder.dims(sum);
  for (const std::int64_t other :
       {squares,
        scale,
        bias,
        old_mean,
        old_variance,
        new_mean,
        new_variance,
        mean,
        inverse,
        eq_scale,
        eq_bias}) {
    require_valid(
        other < 0 || builder.dims(other) == dims,
        "tensors of finalized statistics differ in size");
  }
  builder.add(
      {sum,
       squares,
       scale,
       bias,
       old_mean,
       old_variance,
       count,
       epsilon,
       factor},
      {new_mean, new_variance, mean, inverse, eq_scale, eq_bias},
      [=](auto& run) {
        using T = std::decay_t<decltype(run.in(sum)[0])>;
        const double elements = run.number(count);
        const auto average = [elements](T a, T) {
          return static_cast<T>(a / elements);
        };
        const Array<T> middle =
            combine(dims, run.in(sum), run.in(sum), average);
        const Array<T> square =
            combine(dims, run.in(squares), run.in(squares), average);
        const Array<T> variance =
            combine(dims, square, middle, [](T s, T m) { return s - m * m; });
        const Array<T> deviation =
            inverse_deviation(variance, run.number(epsilon));
        const auto times = [](T a, T b) { return a * b; };
        Array<T> factors = combine(dims, run.in(scale), deviation, times);
        run.out(
            eq_bias,
            combine(
                dims,
                run.in(bias),
                combine(dims, middle, factors, times),
                [](T a, T b) { return a - b; }));
        run.out(eq_scale, std::move(factors));
        if (new_mean >= 0) {
          run.out(
              new_mean, moved(run.in(old_mean), middle, run.number(factor)));
        }
        if (new_variance >= 0) {
          run.out(
              new_variance,
              moved(
                  run.in(old_variance),
                  unbiased(variance, static_cast<std::int64_t>(elements)),
                  run.number(factor)));
        }
        run.out(mean, middle);
        run.out(inverse, deviation);
      });
}

/// The gradients of a batch's scale and bias, and the factors by which dx is
/// made of dy and x: dx = a dy + b x + c.
void add_weights_backward(Builder& builder, const State& operation) {
  builder.computes_in(operation.get<cudnnDataType_t>(
      CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC));
  const auto find = [&](cudnnBackendAttributeName_t name) {
    return builder.tensor(operation, name);
  };
  const auto mean = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC);
  const auto inverse = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC);
  const auto scale = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC);
  const auto x = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC);
  const auto dy = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC);
  const auto dscale = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC);
  const auto dbias = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC);
  const auto eq_dy = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC);
  const auto eq_x = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC);
  const auto eq_bias = find(CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS);
  const Dims dims = builder.dims(x);
  const Dims shared = builder.dims(mean);
  require_valid(
      can_share(shared, dims) && builder.dims(dy) == dims,
      "the tensors of a batch normalization's gradient do not fit");
  for (const std::int64_t other :
       {inverse, scale, dscale, dbias, eq_dy, eq_x, eq_bias}) {
    require_valid(
        builder.dims(other) == shared,
        "the tensors of a batch normalization's gradient do not fit");
  }
  const double count = static_cast<double>(count_of(dims)) /
      static_cast<double>(std::max<std::int64_t>(1, count_of(shared)));
  builder.add(
      {mean, inverse, scale, x, dy},
      {dscale, dbias, eq_dy, eq_x, eq_bias},
      [=](auto& run) {
        const auto& values = run.in(x);
        using T = std::decay_t<decltype(values[0])>;
        const Statistics<T> statistics{run.in(mean), run.in(inverse)};
        NormalizationGradients<T> gradients = normalize_backward(
            values, run.in(dy), statistics, run.optional(scale), shared);
        Array<T> a(shared), b(shared), c(shared);
        for (std::int64_t i = 0; i < a.size(); ++i) {
          const double deviation = run.in(inverse)[i];
          const double factor = run.in(scale)[i] * deviation;
          const double slope =
              -factor * deviation * gradients.dscale[i] / count;
          a.writable()[i] = static_cast<T>(factor);
          b.writable()[i] = static_cast<T>(slope);
          c.writable()[i] = static_cast<T>(
              -factor * gradients.dbias[i] / count - slope * run.in(mean)[i]);
        }
        run.out(dscale, std::move(gradients.dscale));
        run.out(dbias, std::move(gradients.dbias));
        run.out(eq_dy, std::move(a));
        run.out(eq_x, std::move(b));
        run.out(eq_bias, std::move(c));
      });
}

} // namespace

bool add_normalization(Builder& builder, const State& operation) {
  switch (operation.kind) {
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
      add_forward(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:
      add_backward(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR:
      add_finalize(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR:
      add_weights_backward(builder, operation);
      return true;
    default:
      return false;
  }
}

} // namespace accelerator::dnn

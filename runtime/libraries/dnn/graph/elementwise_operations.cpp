// Pointwise functions and reductions of the graph API.
#include "runtime/libraries/dnn/compute/pointwise.h"
#include "runtime/libraries/dnn/compute/reduction.h"
#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {
namespace {

Pointwise function_of(const State& state) {
  Pointwise function;
  function.mode = state.get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  function.lower_clip =
      state.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, function.lower_clip);
  function.upper_clip =
      state.number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, function.upper_clip);
  function.lower_slope = state.number(
      CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, function.lower_slope);
  function.elu_alpha =
      state.number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, function.elu_alpha);
  function.softplus_beta =
      state.number(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, function.softplus_beta);
  function.swish_beta =
      state.number(CUDNN_ATTR_POINTWISE_SWISH_BETA, function.swish_beta);
  function.axis =
      state.get<std::int64_t>(CUDNN_ATTR_POINTWISE_AXIS, function.axis);
  return function;
}

/// Whether an operand can be repeated to be as large as the result.
bool can_repeat(const Dims& from, const Dims& to) {
  if (from.size() > to.size()) {
    return false;
  }
  const std::size_t missing = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[missing + i]) {
      return false;
    }
  }
  return true;
}

template <typename T>
const Array<T>* scaled(const Array<T>* x, double factor, Array<T>& place) {
  if (x == nullptr || factor == 1) {
    return x;
  }
  place = combine(x->dims(), *x, *x, [factor](T value, T) {
    return value * static_cast<T>(factor);
  });
  return &place;
}

void add_pointwise(Builder& builder, const State& operation) {
  const State& how = operation.child(
      CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
      CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  const Pointwise function = function_of(how);
  const int operands = operands_of(function.mode);
  require_supported(operands > 0, "this pointwise mode is unknown");
  builder.computes_in(how.get<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC));
  const bool backward = is_backward(function.mode);
  // The gradient of an activation is made at its input, or else its output.
  const auto at =
      operation.has(CUDNN_ATTR_OPERATION_POINTWISE_XDESC) || !backward
      ? CUDNN_ATTR_OPERATION_POINTWISE_XDESC
      : CUDNN_ATTR_OPERATION_POINTWISE_YDESC;
  require_supported(
      at == CUDNN_ATTR_OPERATION_POINTWISE_XDESC ||
          function.mode == CUDNN_POINTWISE_RELU_BWD,
      "the gradient of an activation by its output is not supported");
  const auto x = backward
      ? builder.tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC)
      : builder.tensor(operation, at);
  const auto b = backward ? builder.tensor(operation, at)
      : operands >= 2
      ? builder.tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC)
      : -1;
  const auto t = operands == 3
      ? builder.tensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC)
      : -1;
  const auto y = builder.tensor(
      operation,
      backward ? CUDNN_ATTR_OPERATION_POINTWISE_DXDESC
               : CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  const Dims dims = builder.dims(y);
  for (const std::int64_t operand : {x, b, t}) {
    require_valid(
        operand < 0 || can_repeat(builder.dims(operand), dims),
        "the operands of a pointwise function do not fit its result");
  }
  require_valid(
      function.mode != CUDNN_POINTWISE_GEN_INDEX ||
          (function.axis >= 0 &&
           function.axis < static_cast<std::int64_t>(dims.size())),
      "the axis of an index is none of the tensor's");
  const double alpha =
      operation.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1);
  const double beta =
      operation.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1);
  builder.add({x, b, t}, {y}, [=](auto& run) {
    std::decay_t<decltype(run.in(x))> first;
    auto second = first;
    const auto* other = run.optional(b);
    const auto* one = scaled(&run.in(x), backward ? 1 : alpha, first);
    other = scaled(other, backward ? 1 : beta, second);
    run.out(y, pointwise(function, dims, *one, other, run.optional(t)));
  });
}

void add_reduction(Builder& builder, const State& operation) {
  const State& how = operation.child(
      CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  const auto reduction =
      how.get<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
  require_supported(
      reduction >= CUDNN_REDUCE_TENSOR_ADD &&
          reduction <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS,
      "this reduction is unknown");
  builder.computes_in(how.get<cudnnDataType_t>(CUDNN_ATTR_REDUCTION_COMP_TYPE));
  const auto x =
      builder.tensor(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
  const auto y =
      builder.tensor(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
  const Dims from = builder.dims(x);
  const Dims dims = builder.dims(y);
  bool fits = from.size() == dims.size();
  for (std::size_t i = 0; fits && i < dims.size(); ++i) {
    fits = dims[i] > 0 && from[i] % dims[i] == 0;
  }
  require_valid(fits, "the tensors of a reduction do not fit each other");
  builder.add({x}, {y}, [=](auto& run) {
    run.out(y, reduce(reduction, run.in(x), dims));
  });
}

/// Sums and sums of squares for each channel.
void add_statistics(Builder& builder, const State& operation) {
  builder.computes_in(
      operation.get<cudnnDataType_t>(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC));
  const auto x = builder.tensor(operation, CUDNN_ATTR_OPERATION_GENSTATS_XDESC);
  const auto sum =
      builder.tensor(operation, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC);
  const auto squares =
      builder.tensor(operation, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC);
  const Dims from = builder.dims(x);
  const Dims dims = builder.dims(sum);
  Dims wanted(from.size(), 1);
  require_valid(from.size() >= 2, "statistics are for each channel");
  wanted[1] = from[1];
  require_valid(
      dims == wanted && builder.dims(squares) == wanted,
      "statistics have one element for each channel");
  builder.add({x}, {sum, squares}, [=](auto& run) {
    const auto& values = run.in(x);
    auto squared =
        combine(from, values, values, [](auto a, auto b) { return a * b; });
    run.out(squares, reduce(CUDNN_REDUCE_TENSOR_ADD, squared, dims));
    run.out(sum, reduce(CUDNN_REDUCE_TENSOR_ADD, values, dims));
  });
}

} // namespace

bool add_elementwise(Builder& builder, const State& operation) {
  switch (operation.kind) {
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      add_pointwise(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      add_reduction(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
      add_statistics(builder, operation);
      return true;
    default:
      return false;
  }
}

} // namespace accelerator::dnn

// Operations of the graph API that move elements and compute nothing.
#include <algorithm>

#include "runtime/libraries/dnn/graph/operations.h"

namespace accelerator::dnn {
namespace {

/// An array made of another one's elements.
/// @param strides of the other one, for each dimension of this.
template <typename T>
Array<T> picked(
    const Array<T>& from,
    const Dims& dims,
    const Dims& strides,
    std::int64_t first) {
  Array<T> result(dims);
  T* to = result.writable();
  const std::int64_t length = dims.empty() ? 1 : dims.back();
  const std::int64_t step = dims.empty() ? 1 : strides.back();
  for_each_row(dims, strides, [&](std::int64_t offset, std::int64_t row) {
    for (std::int64_t i = 0; i < length; ++i) {
      to[row * length + i] = from[first + offset + i * step];
    }
  });
  return result;
}

void add_reshape(Builder& builder, const State& operation) {
  const auto x = builder.tensor(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
  const auto y = builder.tensor(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
  const Dims from = builder.dims(x);
  const Dims dims = builder.dims(y);
  require_valid(
      count_of(from) == count_of(dims), "a reshape changes the element count");
  // Without a mode elements keep their place in memory: strides say how they
  // are turned.
  const bool is_logical =
      operation.get<int>(CUDNN_ATTR_OPERATION_RESHAPE_MODE) ==
      CUDNN_RESHAPE_LOGICAL;
  const Layout source = builder.layout(x);
  const Layout target = builder.layout(y);
  const bool keeps_order = is_logical ||
      (from == dims && source.strides == target.strides) ||
      (source.is_packed() && target.is_packed());
  require_supported(
      keeps_order ||
          (source.span() == count_of(from) && target.span() == count_of(dims)),
      "a view of a tensor with gaps is not supported");
  builder.add({x}, {y}, [=](auto& run) {
    const auto& values = run.in(x);
    using T = std::decay_t<decltype(values[0])>;
    if (keeps_order) {
      run.out(y, Array<T>(from, values.data()).reshaped(dims));
      return;
    }
    // As it would lie in memory.
    std::vector<T> memory(static_cast<std::size_t>(source.span()));
    const Dims packed = packed_strides(from);
    for (std::int64_t i = 0; i < values.size(); ++i) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < from.size(); ++d) {
        offset += i / packed[d] % from[d] * source.strides[d];
      }
      memory[static_cast<std::size_t>(offset)] = values[i];
    }
    const Array<T> flat({source.span()}, memory.data());
    run.out(y, picked(flat, dims, target.strides, 0));
  });
}

void add_transpose(Builder& builder, const State& operation) {
  const auto x =
      builder.tensor(operation, CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC);
  const auto y =
      builder.tensor(operation, CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC);
  const Dims from = builder.dims(x);
  const Dims dims = builder.dims(y);
  const Dims order =
      operation.integers(CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION);
  require_valid(
      order.size() == from.size() && dims.size() == from.size(),
      "a transpose names each dimension");
  const Dims packed = packed_strides(from);
  Dims strides(dims.size());
  std::vector<bool> named(dims.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    require_valid(
        order[i] >= 0 && order[i] < static_cast<std::int64_t>(order.size()) &&
            !named[order[i]] && dims[i] == from[order[i]],
        "a transpose's dimensions do not fit");
    named[order[i]] = true;
    strides[i] = packed[order[i]];
  }
  builder.add({x}, {y}, [=](auto& run) {
    run.out(y, picked(run.in(x), dims, strides, 0));
  });
}

void add_slice(Builder& builder, const State& operation) {
  const auto x = builder.tensor(operation, CUDNN_ATTR_OPERATION_SLICE_XDESC);
  const auto y = builder.tensor(operation, CUDNN_ATTR_OPERATION_SLICE_YDESC);
  const Dims from = builder.dims(x);
  const Dims dims = builder.dims(y);
  const Dims begin =
      operation.integers(CUDNN_ATTR_OPERATION_SLICE_START_INDICES);
  const Dims end = operation.integers(CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES);
  const Dims steps = operation.integers(CUDNN_ATTR_OPERATION_SLICE_STRIDES);
  require_valid(
      begin.size() == from.size() && end.size() == from.size() &&
          steps.size() == from.size() && dims.size() == from.size(),
      "a slice has limits for each dimension");
  Dims strides = packed_strides(from);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    require_valid(
        begin[i] >= 0 && begin[i] <= end[i] && end[i] <= from[i] &&
            steps[i] > 0 &&
            dims[i] == (end[i] - begin[i] + steps[i] - 1) / steps[i],
        "a slice's limits do not fit its tensors");
    first += begin[i] * strides[i];
    strides[i] *= steps[i];
  }
  builder.add({x}, {y}, [=](auto& run) {
    run.out(y, picked(run.in(x), dims, strides, first));
  });
}

void add_concatenation(Builder& builder, const State& operation) {
  const auto y =
      builder.tensor(operation, CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC);
  const auto axis = static_cast<std::size_t>(
      operation.get<std::int64_t>(CUDNN_ATTR_OPERATION_CONCAT_AXIS));
  const auto inputs =
      builder.tensors(operation, CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS);
  const Dims dims = builder.dims(y);
  require_valid(axis < dims.size(), "there is no such axis");
  std::int64_t total = 0;
  for (const std::int64_t input : inputs) {
    Dims other = builder.dims(input);
    require_valid(other.size() == dims.size(), "the ranks differ");
    total += other[axis];
    other[axis] = dims[axis];
    require_valid(other == dims, "tensors that are put together do not fit");
  }
  require_valid(
      total == dims[axis], "tensors that are put together do not fit");
  // What lies in place already is read and written as the others are.
  builder.add(inputs, {y}, [=](auto& run) {
    using T = std::decay_t<decltype(run.in(y)[0])>;
    Array<T> result(dims);
    T* to = result.writable();
    const std::int64_t inner = packed_strides(dims)[axis];
    const std::int64_t outer =
        result.size() / std::max<std::int64_t>(1, inner * dims[axis]);
    std::int64_t done = 0;
    for (const std::int64_t input : inputs) {
      const Array<T>& values = run.in(input);
      const std::int64_t length = values.dims()[axis] * inner;
      for (std::int64_t i = 0; i < outer; ++i) {
        std::copy_n(
            values.data() + i * length,
            length,
            to + i * inner * dims[axis] + done);
      }
      done += length;
    }
    run.out(y, std::move(result));
  });
}

} // namespace

bool add_movement(Builder& builder, const State& operation) {
  switch (operation.kind) {
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      add_reshape(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR:
      add_transpose(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR:
      add_slice(builder, operation);
      return true;
    case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR:
      add_concatenation(builder, operation);
      return true;
    default:
      return false;
  }
}

} // namespace accelerator::dnn

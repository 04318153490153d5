#include "runtime/libraries/dnn/compute/convolution.h"

#include <algorithm>
#include <vector>

#include "runtime/libraries/dnn/compute/columns.h"
#include "runtime/libraries/dnn/compute/products.h"
#include "runtime/libraries/dnn/status.h"

namespace accelerator::dnn {
namespace {

/// Copies outputs of a group between where they lie, image by image, and a
/// matrix with a row for each channel.
template <typename T, typename Copy>
void for_each_output_row(
    const Convolution& shape,
    const Block& block,
    T* y, // of the group
    Copy copy) {
  const std::int64_t size = volume(shape.y);
  for (std::int64_t i = 0; i < block.images; ++i) {
    for (std::int64_t k = 0; k < shape.outputs; ++k) {
      copy(
          y + ((block.image + i) * shape.groups * shape.outputs + k) * size,
          k * block.count + i * size,
          size);
    }
  }
}

/// The filter as it is used.
template <typename T>
Array<T> turned(const Convolution& shape, const Array<T>& w) {
  if (!shape.flipped) {
    return Array<T>(w.dims(), w.data());
  }
  Array<T> result(w.dims());
  const std::int64_t taps = volume(shape.w);
  T* to = result.writable();
  for (std::int64_t i = 0; i < w.size(); ++i) {
    to[i / taps * taps + taps - 1 - i % taps] = w[i];
  }
  return result;
}

/// Where each group and image has one channel in, products would be of one row:
/// taps are added one by one.
bool is_depthwise(const Convolution& shape) {
  return shape.inputs == 1 && shape.outputs <= 4;
}

/// Calls `body(output channel, y, x, w)` for each filter and image of such a
/// convolution, with the places of the first elements.
template <typename Body>
void for_each_plane(const Convolution& shape, Body body) {
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    for (std::int64_t k = 0; k < shape.groups * shape.outputs; ++k) {
      const std::int64_t group = k / shape.outputs;
      body(
          (n * shape.groups * shape.outputs + k) * volume(shape.y),
          (n * shape.groups + group) * volume(shape.x),
          k * volume(shape.w));
    }
  }
}

} // namespace

std::int64_t convolved_size(
    std::int64_t x,
    std::int64_t w,
    std::int64_t stride,
    std::int64_t dilation,
    std::int64_t paddings) {
  const std::int64_t room = x + paddings - ((w - 1) * dilation + 1);
  return room < 0 ? 0 : room / stride + 1;
}

Convolution Convolution::of(
    const Dims& x,
    const Dims& w,
    const Dims& y,
    const Dims& strides,
    const Dims& dilations,
    const Dims& before,
    const Dims& after,
    bool flipped) {
  const std::size_t spatial = strides.size();
  require_supported(
      spatial >= 1 && spatial <= kSpatial,
      "a convolution has one to three spatial dimensions");
  require_valid(
      x.size() == spatial + 2 && w.size() == spatial + 2 &&
          y.size() == spatial + 2 && dilations.size() == spatial &&
          before.size() == spatial && after.size() == spatial,
      "a convolution's tensors have two dimensions beside the spatial ones");
  Convolution shape;
  require_valid(
      w[1] > 0 && x[1] % w[1] == 0 && x[1] > 0,
      "the channels of x are no multiple of the filter's");
  shape.batch = x[0];
  shape.groups = x[1] / w[1];
  require_valid(
      w[0] % shape.groups == 0 && y[0] == x[0] && y[1] == w[0],
      "the channels of x, w and y do not fit each other");
  shape.inputs = w[1];
  shape.outputs = w[0] / shape.groups;
  shape.flipped = flipped;
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::size_t at = kSpatial - spatial + i;
    require_valid(
        strides[i] > 0 && dilations[i] > 0,
        "strides and dilations are positive");
    require_valid(
        y[i + 2] ==
            convolved_size(
                x[i + 2],
                w[i + 2],
                strides[i],
                dilations[i],
                before[i] + after[i]),
        "y is not of the size that the convolution gives");
    shape.x[at] = x[i + 2];
    shape.w[at] = w[i + 2];
    shape.y[at] = y[i + 2];
    shape.stride[at] = strides[i];
    shape.dilation[at] = dilations[i];
    shape.padding[at] = before[i];
  }
  return shape;
}

template <typename T>
Array<T> convolve(
    const Convolution& shape,
    const Array<T>& x,
    const Array<T>& w,
    const Dims& y) {
  Array<T> result(y);
  T* to = result.writable();
  const Array<T> filter = turned(shape, w);
  if (result.size() == 0) {
    return result;
  }
  if (is_depthwise(shape)) {
    const Block whole{0, 1, 0, volume(shape.y)};
    for_each_plane(
        shape, [&](std::int64_t y_at, std::int64_t x_at, std::int64_t w_at) {
          for_each_run(
              shape,
              whole,
              [&](std::int64_t tap,
                  std::int64_t column,
                  std::int64_t,
                  std::int64_t offset,
                  std::int64_t count,
                  std::int64_t step) {
                const T factor = filter[w_at + tap];
                const T* from = x.data() + x_at + offset;
                T* out = to + y_at + column;
                for (std::int64_t i = 0; i < count; ++i) {
                  out[i] += factor * from[i * step];
                }
              });
        });
    return result;
  }
  const std::int64_t taps = shape.inputs * volume(shape.w);
  const std::int64_t x_size = volume(shape.x);
  const std::int64_t y_size = volume(shape.y);
  std::vector<T> matrix;
  std::vector<T> product;
  for_each_block(shape, [&](const Block& block) {
    const auto runs = runs_of(shape, block);
    for (std::int64_t g = 0; g < shape.groups; ++g) {
      const T* from =
          x.data() + (block.image * shape.groups + g) * shape.inputs * x_size;
      const T* factors = filter.data() + g * shape.outputs * taps;
      const bool is_direct = is_pointwise(shape) && block.images == 1;
      if (!is_direct) {
        gather(shape, block, runs, from, matrix);
      }
      const T* columns = is_direct ? from + block.first : matrix.data();
      const std::int64_t pitch = is_direct ? x_size : block.count;
      T* out = to + g * shape.outputs * y_size;
      if (block.images == 1) {
        multiply(
            false,
            false,
            shape.outputs,
            block.count,
            taps,
            factors,
            taps,
            columns,
            pitch,
            T{},
            out + block.image * shape.groups * shape.outputs * y_size +
                block.first,
            y_size);
        continue;
      }
      product.resize(static_cast<std::size_t>(shape.outputs * block.count));
      multiply(
          false,
          false,
          shape.outputs,
          block.count,
          taps,
          factors,
          taps,
          columns,
          pitch,
          T{},
          product.data(),
          block.count);
      for_each_output_row(
          shape, block, out, [&](T* row, std::int64_t at, std::int64_t count) {
            std::copy_n(product.data() + at, count, row);
          });
    }
  });
  return result;
}

template <typename T>
Array<T> convolve_backward_data(
    const Convolution& shape,
    const Array<T>& dy,
    const Array<T>& w,
    const Dims& dx) {
  Array<T> result(dx);
  T* to = result.writable();
  const Array<T> filter = turned(shape, w);
  if (result.size() == 0 || dy.size() == 0) {
    return result;
  }
  if (is_depthwise(shape)) {
    const Block whole{0, 1, 0, volume(shape.y)};
    for_each_plane(
        shape, [&](std::int64_t y_at, std::int64_t x_at, std::int64_t w_at) {
          for_each_run(
              shape,
              whole,
              [&](std::int64_t tap,
                  std::int64_t column,
                  std::int64_t,
                  std::int64_t offset,
                  std::int64_t count,
                  std::int64_t step) {
                const T factor = filter[w_at + tap];
                const T* from = dy.data() + y_at + column;
                T* out = to + x_at + offset;
                for (std::int64_t i = 0; i < count; ++i) {
                  out[i * step] += factor * from[i];
                }
              });
        });
    return result;
  }
  const std::int64_t taps = shape.inputs * volume(shape.w);
  const std::int64_t x_size = volume(shape.x);
  const std::int64_t y_size = volume(shape.y);
  std::vector<T> matrix;
  std::vector<T> gradients;
  for_each_block(shape, [&](const Block& block) {
    const auto runs = runs_of(shape, block);
    for (std::int64_t g = 0; g < shape.groups; ++g) {
      const T* all = dy.data() + g * shape.outputs * y_size;
      const T* from = all +
          block.image * shape.groups * shape.outputs * y_size + block.first;
      std::int64_t pitch = y_size;
      if (block.images > 1) {
        gradients.resize(static_cast<std::size_t>(shape.outputs * block.count));
        for_each_output_row(
            shape,
            block,
            all,
            [&](const T* row, std::int64_t at, std::int64_t count) {
              std::copy_n(row, count, gradients.data() + at);
            });
        from = gradients.data();
        pitch = block.count;
      }
      T* out = to + (block.image * shape.groups + g) * shape.inputs * x_size;
      const bool is_direct = is_pointwise(shape) && block.images == 1;
      if (!is_direct) {
        matrix.resize(static_cast<std::size_t>(taps * block.count));
      }
      multiply(
          true,
          false,
          taps,
          block.count,
          shape.outputs,
          filter.data() + g * shape.outputs * taps,
          taps,
          from,
          pitch,
          T{},
          is_direct ? out + block.first : matrix.data(),
          is_direct ? x_size : block.count);
      if (!is_direct) {
        scatter(shape, block, runs, matrix, out);
      }
    }
  });
  return result;
}

template <typename T>
Array<T> convolve_backward_filter(
    const Convolution& shape,
    const Array<T>& x,
    const Array<T>& dy,
    const Dims& dw) {
  Array<T> result(dw);
  T* to = result.writable();
  if (result.size() == 0 || dy.size() == 0) {
    return result;
  }
  const std::int64_t taps = shape.inputs * volume(shape.w);
  const std::int64_t x_size = volume(shape.x);
  const std::int64_t y_size = volume(shape.y);
  if (is_depthwise(shape)) {
    const Block whole{0, 1, 0, volume(shape.y)};
    for_each_plane(
        shape, [&](std::int64_t y_at, std::int64_t x_at, std::int64_t w_at) {
          for_each_run(
              shape,
              whole,
              [&](std::int64_t tap,
                  std::int64_t column,
                  std::int64_t,
                  std::int64_t offset,
                  std::int64_t count,
                  std::int64_t step) {
                const T* inputs = x.data() + x_at + offset;
                const T* gradients = dy.data() + y_at + column;
                T sum{};
                for (std::int64_t i = 0; i < count; ++i) {
                  sum += inputs[i * step] * gradients[i];
                }
                to[w_at + tap] += sum;
              });
        });
  } else {
    std::vector<T> matrix;
    std::vector<T> gradients;
    for_each_block(shape, [&](const Block& block) {
      const auto runs = runs_of(shape, block);
      for (std::int64_t g = 0; g < shape.groups; ++g) {
        const T* all = dy.data() + g * shape.outputs * y_size;
        const T* from = all +
            block.image * shape.groups * shape.outputs * y_size + block.first;
        std::int64_t pitch = y_size;
        if (block.images > 1) {
          gradients.resize(
              static_cast<std::size_t>(shape.outputs * block.count));
          for_each_output_row(
              shape,
              block,
              all,
              [&](const T* row, std::int64_t at, std::int64_t count) {
                std::copy_n(row, count, gradients.data() + at);
              });
          from = gradients.data();
          pitch = block.count;
        }
        const T* inputs =
            x.data() + (block.image * shape.groups + g) * shape.inputs * x_size;
        const bool is_direct = is_pointwise(shape) && block.images == 1;
        if (!is_direct) {
          gather(shape, block, runs, inputs, matrix);
        }
        multiply(
            false,
            true,
            shape.outputs,
            taps,
            block.count,
            from,
            pitch,
            is_direct ? inputs + block.first : matrix.data(),
            is_direct ? x_size : block.count,
            T{1},
            to + g * shape.outputs * taps,
            taps);
      }
    });
  }
  if (shape.flipped) {
    Array<T> back = turned(shape, result);
    return back;
  }
  return result;
}

#define ACCEL_CONVOLUTIONS(T)                                             \
  template Array<T> convolve(                                             \
      const Convolution&, const Array<T>&, const Array<T>&, const Dims&); \
  template Array<T> convolve_backward_data(                               \
      const Convolution&, const Array<T>&, const Array<T>&, const Dims&); \
  template Array<T> convolve_backward_filter(                             \
      const Convolution&, const Array<T>&, const Array<T>&, const Dims&);
ACCEL_CONVOLUTIONS(float)
ACCEL_CONVOLUTIONS(double)
#undef ACCEL_CONVOLUTIONS

} // namespace accelerator::dnn

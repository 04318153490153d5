#include "runtime/libraries/dnn/compute/convolution.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/libraries/dnn/compute/products.h"
#include "runtime/libraries/dnn/status.h"

namespace accelerator::dnn {
namespace {

using Spatial = Convolution::Spatial;

std::int64_t volume(const Spatial& size) {
  return size[0] * size[1] * size[2];
}

/// Elements of the matrix that a product is made with at a time.
constexpr std::int64_t kColumnElements = std::int64_t{1} << 18;
/// Images smaller than this are put together.
constexpr std::int64_t kFewColumns = 256;

/// The columns of outputs, images after each other, that one product makes.
struct Block {
  std::int64_t image; // the first one
  std::int64_t images; // whole ones, where there are several
  std::int64_t first; // output of the image
  std::int64_t count; // columns altogether
};

template <typename Body>
void for_each_block(const Convolution& shape, Body body) {
  const std::int64_t outputs = volume(shape.y);
  const std::int64_t taps = shape.inputs * volume(shape.w);
  const std::int64_t most = std::max<std::int64_t>(
      1, kColumnElements / std::max<std::int64_t>(1, taps));
  if (outputs < kFewColumns && most > outputs) {
    const std::int64_t images = most / outputs;
    for (std::int64_t n = 0; n < shape.batch; n += images) {
      const std::int64_t some = std::min(images, shape.batch - n);
      body(Block{n, some, 0, some * outputs});
    }
    return;
  }
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    for (std::int64_t first = 0; first < outputs; first += most) {
      body(Block{n, 1, first, std::min(most, outputs - first)});
    }
  }
}

/// Whether each output has one input in each channel, at its own place.
bool is_pointwise(const Convolution& shape) {
  return volume(shape.w) == 1 && shape.x == shape.y &&
      shape.stride == Spatial{1, 1, 1} && shape.padding == Spatial{};
}

/// Calls `body(row, column, x, count, step)` for runs of outputs along the last
/// dimension that one tap of a filter serves: the row and column of the matrix,
/// where their inputs begin in the channel, how many there are, and how far
/// apart. Outputs whose input is padding are left out.
template <typename Body>
void for_each_run(const Convolution& shape, const Block& block, Body body) {
  const Spatial& w = shape.w;
  const Spatial& y = shape.y;
  const std::int64_t outputs = volume(y);
  std::int64_t tap = 0;
  for (std::int64_t r0 = 0; r0 < w[0]; ++r0) {
    for (std::int64_t r1 = 0; r1 < w[1]; ++r1) {
      for (std::int64_t r2 = 0; r2 < w[2]; ++r2, ++tap) {
        const std::int64_t shift = r2 * shape.dilation[2] - shape.padding[2];
        // Outputs whose input is not before the first, or behind the last one.
        const std::int64_t step = shape.stride[2];
        const std::int64_t low =
            shift >= 0 ? 0 : std::min(y[2], (-shift + step - 1) / step);
        const std::int64_t behind = shape.x[2] - shift;
        const std::int64_t high =
            behind <= 0 ? 0 : std::min(y[2], (behind + step - 1) / step);
        std::int64_t done = 0; // columns
        while (done < block.count) {
          const std::int64_t image = (block.first + done) / outputs;
          const std::int64_t place = (block.first + done) % outputs;
          const std::int64_t p2 = place % y[2];
          const std::int64_t p1 = place / y[2] % y[1];
          const std::int64_t p0 = place / y[2] / y[1];
          const std::int64_t length = std::min(y[2] - p2, block.count - done);
          const std::int64_t x0 =
              p0 * shape.stride[0] + r0 * shape.dilation[0] - shape.padding[0];
          const std::int64_t x1 =
              p1 * shape.stride[1] + r1 * shape.dilation[1] - shape.padding[1];
          const std::int64_t begin = std::max(low, p2);
          const std::int64_t end = std::min(high, p2 + length);
          if (x0 >= 0 && x0 < shape.x[0] && x1 >= 0 && x1 < shape.x[1] &&
              begin < end) {
            body(
                tap,
                done + begin - p2,
                image,
                (x0 * shape.x[1] + x1) * shape.x[2] + begin * step + shift,
                end - begin,
                step);
          }
          done += length;
        }
      }
    }
  }
}

/// A run as for_each_run() tells it.
struct Listed {
  std::int64_t column;
  std::int64_t image;
  std::int64_t offset;
  std::int64_t count;
};

/// The runs of each tap. They are the same for each channel and group.
std::vector<std::vector<Listed>> runs_of(
    const Convolution& shape,
    const Block& block) {
  std::vector<std::vector<Listed>> runs(
      static_cast<std::size_t>(volume(shape.w)));
  for_each_run(
      shape,
      block,
      [&](std::int64_t tap,
          std::int64_t column,
          std::int64_t image,
          std::int64_t offset,
          std::int64_t count,
          std::int64_t) {
        runs[tap].push_back({column, image, offset, count});
      });
  return runs;
}

/// Calls `body(row of the matrix, x of the channel)` for each channel and tap,
/// and gives it the tap's runs.
template <typename Body>
void for_each_matrix_row(
    const Convolution& shape,
    const std::vector<std::vector<Listed>>& runs,
    Body body) {
  std::int64_t row = 0;
  for (std::int64_t c = 0; c < shape.inputs; ++c) {
    for (const std::vector<Listed>& tap : runs) {
      body(row++, c * volume(shape.x), tap);
    }
  }
}

/// The matrix whose columns are what outputs are made of: a row for each
/// channel and tap.
template <typename T>
void gather(
    const Convolution& shape,
    const Block& block,
    const std::vector<std::vector<Listed>>& runs,
    const T* x, // of the first image and the group
    std::vector<T>& matrix) {
  const std::int64_t image_size = shape.groups * shape.inputs * volume(shape.x);
  const std::int64_t step = shape.stride[Convolution::kSpatial - 1];
  matrix.resize(
      static_cast<std::size_t>(shape.inputs * volume(shape.w) * block.count));
  for_each_matrix_row(
      shape,
      runs,
      [&](std::int64_t row,
          std::int64_t channel,
          const std::vector<Listed>& tap) {
        T* to = matrix.data() + row * block.count;
        std::int64_t done = 0; // what lies between runs is padding
        for (const Listed& run : tap) {
          std::fill(to + done, to + run.column, T{});
          const T* from = x + run.image * image_size + channel + run.offset;
          if (step == 1) {
            std::copy_n(from, run.count, to + run.column);
          } else {
            for (std::int64_t i = 0; i < run.count; ++i) {
              to[run.column + i] = from[i * step];
            }
          }
          done = run.column + run.count;
        }
        std::fill(to + done, to + block.count, T{});
      });
}

/// Adds such a matrix to the inputs that it was made of.
template <typename T>
void scatter(
    const Convolution& shape,
    const Block& block,
    const std::vector<std::vector<Listed>>& runs,
    const std::vector<T>& matrix,
    T* x) {
  const std::int64_t image_size = shape.groups * shape.inputs * volume(shape.x);
  const std::int64_t step = shape.stride[Convolution::kSpatial - 1];
  for_each_matrix_row(
      shape,
      runs,
      [&](std::int64_t row,
          std::int64_t channel,
          const std::vector<Listed>& tap) {
        const T* from = matrix.data() + row * block.count;
        for (const Listed& run : tap) {
          T* to = x + run.image * image_size + channel + run.offset;
          for (std::int64_t i = 0; i < run.count; ++i) {
            to[i * step] += from[run.column + i];
          }
        }
      });
}

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

// The matrices that convolutions are products with: a column for each output,
// of the inputs that it is made of.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/libraries/dnn/compute/convolution.h"

namespace accelerator::dnn {

using Spatial = Convolution::Spatial;

inline std::int64_t volume(const Spatial& size) {
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
inline bool is_pointwise(const Convolution& shape) {
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
inline std::vector<std::vector<Listed>> runs_of(
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

} // namespace accelerator::dnn

#include "runtime/libraries/dnn/compute/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/libraries/dnn/status.h"

namespace accelerator::dnn {
namespace {

/// Calls `body(output, elements)` for each output of a plane, and within it
/// `element(input, place in the window)` for each that is no padding.
template <typename Body>
void for_each_output(const Pooling& shape, Body body) {
  using Spatial = Pooling::Spatial;
  std::int64_t output = 0;
  for (std::int64_t p0 = 0; p0 < shape.y[0]; ++p0) {
    for (std::int64_t p1 = 0; p1 < shape.y[1]; ++p1) {
      for (std::int64_t p2 = 0; p2 < shape.y[2]; ++p2, ++output) {
        const Spatial begin{
            p0 * shape.stride[0] - shape.padding[0],
            p1 * shape.stride[1] - shape.padding[1],
            p2 * shape.stride[2] - shape.padding[2]};
        body(output, [&](auto element) {
          std::int64_t place = 0;
          for (std::int64_t i = begin[0]; i < begin[0] + shape.window[0]; ++i) {
            for (std::int64_t j = begin[1]; j < begin[1] + shape.window[1];
                 ++j) {
              for (std::int64_t k = begin[2]; k < begin[2] + shape.window[2];
                   ++k, ++place) {
                if (i >= 0 && i < shape.x[0] && j >= 0 && j < shape.x[1] &&
                    k >= 0 && k < shape.x[2]) {
                  element((i * shape.x[1] + j) * shape.x[2] + k, place);
                }
              }
            }
          }
        });
      }
    }
  }
}

std::int64_t volume(const Pooling::Spatial& size) {
  return size[0] * size[1] * size[2];
}

} // namespace

Pooling Pooling::of(
    Kind kind,
    const Dims& x,
    const Dims& y,
    const Dims& window,
    const Dims& strides,
    const Dims& before) {
  const std::size_t spatial = window.size();
  require_supported(
      spatial >= 1 && spatial <= kSpatial,
      "windows have one to three dimensions");
  require_valid(
      x.size() == spatial + 2 && y.size() == spatial + 2 &&
          strides.size() == spatial && before.size() == spatial &&
          x[0] == y[0] && x[1] == y[1],
      "the tensors of a pooling do not fit each other");
  Pooling shape;
  shape.kind = kind;
  shape.planes = x[0] * x[1];
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::size_t at = kSpatial - spatial + i;
    require_valid(
        window[i] > 0 && strides[i] > 0 && before[i] >= 0,
        "windows and strides are positive, paddings not negative");
    shape.x[at] = x[i + 2];
    shape.y[at] = y[i + 2];
    shape.window[at] = window[i];
    shape.stride[at] = strides[i];
    shape.padding[at] = before[i];
  }
  return shape;
}

template <typename T>
Array<T> pool(
    const Pooling& shape,
    const Array<T>& x,
    const Dims& y,
    Array<T>* places) {
  Array<T> result(y);
  T* to = result.writable();
  T* at = nullptr;
  if (places != nullptr) {
    *places = Array<T>(y);
    at = places->writable();
  }
  for (std::int64_t plane = 0; plane < shape.planes; ++plane) {
    const T* from = x.data() + plane * volume(shape.x);
    const std::int64_t first = plane * volume(shape.y);
    for_each_output(shape, [&](std::int64_t output, auto for_each) {
      if (shape.kind == Pooling::Kind::kMaximum) {
        T best = -std::numeric_limits<T>::infinity();
        std::int64_t best_place = -1;
        for_each([&](std::int64_t input, std::int64_t place) {
          const T value = from[input];
          if (best_place < 0 || value > best ||
              (std::isnan(value) && !std::isnan(best))) {
            best = value;
            best_place = place;
          }
        });
        to[first + output] = best;
        if (at != nullptr) {
          at[first + output] = static_cast<T>(best_place);
        }
        return;
      }
      double sum = 0;
      std::int64_t count = 0;
      for_each([&](std::int64_t input, std::int64_t) {
        sum += static_cast<double>(from[input]);
        ++count;
      });
      if (shape.kind == Pooling::Kind::kAverageWithPadding) {
        count = volume(shape.window);
      }
      to[first + output] =
          count == 0 ? T{} : static_cast<T>(sum / static_cast<double>(count));
    });
  }
  return result;
}

template <typename T>
Array<T> pool_backward(
    const Pooling& shape,
    const Array<T>& dy,
    const Array<T>* places,
    const Dims& dx) {
  Array<T> result(dx);
  T* to = result.writable();
  for (std::int64_t plane = 0; plane < shape.planes; ++plane) {
    T* out = to + plane * volume(shape.x);
    const std::int64_t first = plane * volume(shape.y);
    for_each_output(shape, [&](std::int64_t output, auto for_each) {
      const T gradient = dy[first + output];
      if (shape.kind == Pooling::Kind::kMaximum) {
        const auto chosen =
            static_cast<std::int64_t>((*places)[first + output]);
        for_each([&](std::int64_t input, std::int64_t place) {
          if (place == chosen) {
            out[input] += gradient;
          }
        });
        return;
      }
      std::int64_t count = 0;
      if (shape.kind == Pooling::Kind::kAverageWithPadding) {
        count = volume(shape.window);
      } else {
        for_each([&](std::int64_t, std::int64_t) { ++count; });
      }
      for_each([&](std::int64_t input, std::int64_t) {
        out[input] += gradient / static_cast<T>(count);
      });
    });
  }
  return result;
}

#define ACCEL_POOLING(T)                                        \
  template Array<T> pool(                                       \
      const Pooling&, const Array<T>&, const Dims&, Array<T>*); \
  template Array<T> pool_backward(                              \
      const Pooling&, const Array<T>&, const Array<T>*, const Dims&);
ACCEL_POOLING(float)
ACCEL_POOLING(double)
#undef ACCEL_POOLING

} // namespace accelerator::dnn

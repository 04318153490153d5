// Convolutions of arrays [N, G C, spatial...] with filters
// [G K, C, spatial...], G groups of C and K channels.
#pragma once

#include <array>

#include "runtime/libraries/dnn/array.h"

namespace accelerator::dnn {

/// Up to three spatial dimensions; with fewer, the first ones are 1.
struct Convolution {
  static constexpr int kSpatial = 3;
  using Spatial = std::array<std::int64_t, kSpatial>;

  std::int64_t batch = 1;
  std::int64_t groups = 1;
  std::int64_t inputs = 1; // channels of a group
  std::int64_t outputs = 1; // of a group
  Spatial x{1, 1, 1};
  Spatial w{1, 1, 1};
  Spatial y{1, 1, 1};
  Spatial stride{1, 1, 1};
  Spatial dilation{1, 1, 1};
  Spatial padding{}; // before the first element
  bool flipped = false; // CUDNN_CONVOLUTION: the filter is turned around

  /// @param x, w, y with `spatial` dimensions behind the first two.
  /// @param strides and the others of `spatial` numbers.
  /// @throws Refusal: the tensors do not fit each other.
  static Convolution of(
      const Dims& x,
      const Dims& w,
      const Dims& y,
      const Dims& strides,
      const Dims& dilations,
      const Dims& before,
      const Dims& after,
      bool flipped);
};

/// What a convolution gives in one dimension.
std::int64_t convolved_size(
    std::int64_t x,
    std::int64_t w,
    std::int64_t stride,
    std::int64_t dilation,
    std::int64_t paddings);

template <typename T>
Array<T> convolve(
    const Convolution& shape,
    const Array<T>& x,
    const Array<T>& w,
    const Dims& y);

/// The gradient of x.
template <typename T>
Array<T> convolve_backward_data(
    const Convolution& shape,
    const Array<T>& dy,
    const Array<T>& w,
    const Dims& dx);

/// The gradient of w.
template <typename T>
Array<T> convolve_backward_filter(
    const Convolution& shape,
    const Array<T>& x,
    const Array<T>& dy,
    const Dims& dw);

} // namespace accelerator::dnn

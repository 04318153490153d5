// Pooling: windows over the spatial dimensions of [N, C, spatial...].
// Source: cuDNN API, cudnnPoolingMode_t and cudnnResampleMode_t.
#pragma once

#include <array>

#include "runtime/libraries/dnn/array.h"

namespace accelerator::dnn {

/// Up to three spatial dimensions; with fewer, the first ones are 1.
struct Pooling {
  static constexpr int kSpatial = 3;
  using Spatial = std::array<std::int64_t, kSpatial>;
  enum class Kind { kMaximum, kAverageWithPadding, kAverageWithoutPadding };

  Kind kind = Kind::kMaximum;
  std::int64_t planes = 1; // N C
  Spatial x{1, 1, 1};
  Spatial y{1, 1, 1};
  Spatial window{1, 1, 1};
  Spatial stride{1, 1, 1};
  Spatial padding{}; // before the first element

  /// @throws Refusal: the dimensions do not fit each other.
  static Pooling of(
      Kind kind,
      const Dims& x,
      const Dims& y,
      const Dims& window,
      const Dims& strides,
      const Dims& before);
};

/// @param places gets, for each maximum, its place in the window, without
/// padding's; null where nobody wants them.
template <typename T>
Array<T> pool(
    const Pooling& shape,
    const Array<T>& x,
    const Dims& y,
    Array<T>* places = nullptr);

/// @param places those of pool(), for maxima.
template <typename T>
Array<T> pool_backward(
    const Pooling& shape,
    const Array<T>& dy,
    const Array<T>* places,
    const Dims& dx);

} // namespace accelerator::dnn

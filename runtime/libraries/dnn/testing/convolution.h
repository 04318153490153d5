// Convolutions by their definition, in double precision.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace accelerator::dnn::testing {

/// Two-dimensional; arrays are [N, C, H, W] without gaps.
struct Plain {
  std::int64_t n, c, h, w, k, r, s, groups = 1;
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1}, padding{};
  bool flipped = false;

  std::int64_t p() const {
    return (h + 2 * padding[0] - dilation[0] * (r - 1) - 1) / stride[0] + 1;
  }
  std::int64_t q() const {
    return (w + 2 * padding[1] - dilation[1] * (s - 1) - 1) / stride[1] + 1;
  }
  std::vector<std::int64_t> x_dims() const {
    return {n, c, h, w};
  }
  std::vector<std::int64_t> w_dims() const {
    return {k, c / groups, r, s};
  }
  std::vector<std::int64_t> y_dims() const {
    return {n, k, p(), q()};
  }
  std::int64_t x_size() const {
    return n * c * h * w;
  }
  std::int64_t w_size() const {
    return k * (c / groups) * r * s;
  }
  std::int64_t y_size() const {
    return n * k * p() * q();
  }

  /// Calls `body(x, w, y)` with the places of each product's factors and sum.
  void for_each(
      const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& body)
      const {
    const std::int64_t inputs = c / groups;
    for (std::int64_t in = 0; in < n; ++in) {
      for (std::int64_t ik = 0; ik < k; ++ik) {
        for (std::int64_t ic = 0; ic < inputs; ++ic) {
          for (std::int64_t ip = 0; ip < p(); ++ip) {
            for (std::int64_t iq = 0; iq < q(); ++iq) {
              for (std::int64_t ir = 0; ir < r; ++ir) {
                for (std::int64_t is = 0; is < s; ++is) {
                  const std::int64_t tap_r = flipped ? r - 1 - ir : ir;
                  const std::int64_t tap_s = flipped ? s - 1 - is : is;
                  const std::int64_t y_at =
                      ip * stride[0] - padding[0] + ir * dilation[0];
                  const std::int64_t x_at =
                      iq * stride[1] - padding[1] + is * dilation[1];
                  if (y_at < 0 || y_at >= h || x_at < 0 || x_at >= w) {
                    continue;
                  }
                  const std::int64_t channel = ik / (k / groups) * inputs + ic;
                  body(
                      ((in * c + channel) * h + y_at) * w + x_at,
                      ((ik * inputs + ic) * r + tap_r) * s + tap_s,
                      ((in * k + ik) * p() + ip) * q() + iq);
                }
              }
            }
          }
        }
      }
    }
  }
  std::vector<double> forward(
      const std::vector<float>& x,
      const std::vector<float>& filter) const {
    std::vector<double> y(static_cast<std::size_t>(y_size()));
    for_each([&](std::int64_t i, std::int64_t j, std::int64_t o) {
      y[o] += static_cast<double>(x[i]) * filter[j];
    });
    return y;
  }
  std::vector<double> backward_data(
      const std::vector<float>& dy,
      const std::vector<float>& filter) const {
    std::vector<double> dx(static_cast<std::size_t>(x_size()));
    for_each([&](std::int64_t i, std::int64_t j, std::int64_t o) {
      dx[i] += static_cast<double>(dy[o]) * filter[j];
    });
    return dx;
  }
  std::vector<double> backward_filter(
      const std::vector<float>& x,
      const std::vector<float>& dy) const {
    std::vector<double> dw(static_cast<std::size_t>(w_size()));
    for_each([&](std::int64_t i, std::int64_t j, std::int64_t o) {
      dw[j] += static_cast<double>(x[i]) * dy[o];
    });
    return dw;
  }
};

/// One of each kind: plain, strided, dilated, pointwise, in groups, depthwise,
/// turned, of many small images, and of one with more outputs than are computed
/// at a time.
inline std::vector<Plain> convolutions() {
  return {
      {2, 3, 7, 6, 4, 3, 3, 1, {1, 1}, {1, 1}, {1, 1}},
      {2, 3, 9, 8, 4, 3, 2, 1, {2, 3}, {1, 1}, {2, 0}},
      {1, 2, 9, 9, 3, 3, 3, 1, {1, 2}, {2, 3}, {1, 3}},
      {2, 5, 4, 6, 3, 1, 1},
      {1, 4, 20, 20, 3, 1, 1},
      {2, 6, 5, 5, 4, 3, 3, 2, {1, 1}, {1, 1}, {1, 1}},
      {2, 4, 6, 5, 8, 3, 3, 4, {2, 1}, {1, 1}, {1, 1}},
      {2, 3, 6, 5, 4, 3, 2, 1, {1, 1}, {1, 1}, {1, 1}, true},
      {2, 4, 6, 5, 4, 3, 3, 4, {1, 1}, {1, 1}, {1, 0}, true},
      {9, 2, 3, 3, 5, 2, 2},
      {1, 96, 40, 40, 2, 3, 3, 1, {1, 1}, {1, 1}, {1, 1}},
      {1, 2, 3, 3, 2, 3, 3, 1, {1, 1}, {1, 1}, {4, 4}},
  };
}

} // namespace accelerator::dnn::testing

// Pooling of the graph API, compared with loops over its windows.
#include <algorithm>
#include <limits>

#include "runtime/libraries/dnn/testing/graph.h"

namespace accelerator::dnn::testing {
namespace {

class GraphPooling : public HandleTest {};

// Windows of {3, 2} in steps of {2, 1} on {5, 4}, with one row and one column
// of padding around.
const Dims kX{2, 3, 5, 4}, kY{2, 3, 3, 5};

/// Calls `body(output, input)` for each input of each window; -1 for padding.
template <typename Body>
void for_each_input(Body body) {
  for (std::int64_t plane = 0; plane < 6; ++plane) {
    for (std::int64_t p = 0; p < 3; ++p) {
      for (std::int64_t q = 0; q < 5; ++q) {
        for (std::int64_t r = 0; r < 3; ++r) {
          for (std::int64_t s = 0; s < 2; ++s) {
            const std::int64_t i = 2 * p + r - 1, j = q + s - 1;
            const bool inside = i >= 0 && i < 5 && j >= 0 && j < 4;
            body(
                (plane * 3 + p) * 5 + q, inside ? (plane * 5 + i) * 4 + j : -1);
          }
        }
      }
    }
  }
}

Descriptor how_of(cudnnResampleMode_t mode) {
  Descriptor how(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
  how.choice(CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, mode)
      .choice(
          CUDNN_ATTR_RESAMPLE_PADDING_MODE,
          CUDNN_TYPE_PADDING_MODE,
          mode == CUDNN_RESAMPLE_MAXPOOL ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD)
      .integers(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, {2})
      .integers(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, {3, 2})
      .integers(CUDNN_ATTR_RESAMPLE_STRIDES, {2, 1})
      .integers(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, {1, 1})
      .integers(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, {1, 1});
  return how.done();
}

TEST_F(GraphPooling, ForwardAndBackward) {
  const auto x = random_floats(2 * 3 * 5 * 4, 1);
  const auto dy = random_floats(2 * 3 * 3 * 5, 2);
  for (const auto mode :
       {CUDNN_RESAMPLE_MAXPOOL,
        CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING,
        CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING}) {
    SCOPED_TRACE(mode);
    const bool is_maximum = mode == CUDNN_RESAMPLE_MAXPOOL;
    std::vector<double> wanted(
        dy.size(), is_maximum ? -std::numeric_limits<double>::infinity() : 0);
    std::vector<std::int64_t> counts(dy.size()), chosen(dy.size());
    for_each_input([&](std::int64_t output, std::int64_t input) {
      if (mode != CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING || input >= 0) {
        ++counts[output];
      }
      if (input < 0) {
        return;
      }
      if (!is_maximum) {
        wanted[output] += x[input];
      } else if (x[input] > wanted[output]) {
        wanted[output] = x[input];
        chosen[output] = input;
      }
    });
    std::vector<double> wanted_dx(x.size());
    for_each_input([&](std::int64_t output, std::int64_t input) {
      if (input >= 0 && !is_maximum) {
        wanted_dx[input] += dy[output] / static_cast<double>(counts[output]);
      }
    });
    for (std::size_t i = 0; i < dy.size(); ++i) {
      if (is_maximum) {
        wanted_dx[chosen[i]] += dy[i];
      } else {
        wanted[i] /= static_cast<double>(counts[i]);
      }
    }
    const Array<float> given(x), gradient(dy);
    const Array<float> y(dy), dx(x);
    const Array<std::int8_t> places(std::vector<std::int8_t>(dy.size(), 9));
    Descriptor forward(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR);
    forward.child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, {how_of(mode)})
        .child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, {tensor(1, kX)})
        .child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, {tensor(2, kY)});
    Descriptor backward(CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR);
    backward.child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC, {how_of(mode)})
        .child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, {tensor(2, kY)})
        .child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, {tensor(1, kX)});
    Bindings bindings{{1, given.get()}, {2, y.get()}};
    Bindings back{{1, dx.get()}, {2, gradient.get()}};
    if (is_maximum) {
      const Descriptor indices = tensor(3, kY, packed(kY), CUDNN_DATA_INT8);
      forward.child(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, {indices});
      backward.child(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, {indices});
      bindings.push_back({3, places.get()});
      back.push_back({3, places.get()});
    }
    run({forward.done()}, bindings);
    expect_near(y.values(), wanted, 1e-6);
    run({backward.done()}, back);
    expect_near(dx.values(), wanted_dx, 1e-6);
  }
}

} // namespace
} // namespace accelerator::dnn::testing

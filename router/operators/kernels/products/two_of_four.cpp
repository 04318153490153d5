// Gathered from groups by their places, and scattered again.
#include "router/operators/kernels/products/two_of_four.h"

#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace torch_cuda::operators::two_of_four {
namespace {

using at::Tensor;
using c10::ScalarType;

} // namespace

int64_t group_of(ScalarType type) {
  return type == c10::kFloat ? kGroup / 2 : kGroup;
}

Kept keep(const Tensor& dense) {
  const int64_t rows = dense.size(0);
  const int64_t k = dense.size(1);
  const auto type = dense.scalar_type();
  const int64_t size = group_of(type);
  const auto groups = dense.reshape({rows, k / size, size});
  const auto filled = groups.to(c10::kFloat).ne(0);
  const auto is_filled = [&](int64_t i) {
    return filled.select(-1, size == kGroup ? i : i / 2);
  };
  const auto m0 = is_filled(0);
  const auto m1 = is_filled(1);
  const auto m3 = is_filled(3);
  const auto only_second = m0.logical_not().logical_and_(m1);
  const auto neither = m0.logical_or(m1).logical_not_();
  const auto integer = [](const Tensor& flags) { return flags.to(c10::kLong); };
  const auto first = integer(only_second).add_(integer(neither), 2);
  const auto second =
      integer(m0.logical_and(m1).logical_or_(neither).logical_or_(m3))
          .add_(integer(only_second.logical_or(m1.logical_not())), 2);
  // Numbers of 8 bits are moved as integers.
  const auto movable =
      c10::elementSize(type) == 1 ? groups.view(c10::kChar) : groups;
  const auto values = size == kGroup
      ? movable.gather(-1, at::stack({first, second}, -1))
      : movable.gather(-1, first.floor_divide(2).unsqueeze(-1));
  return {values.reshape({rows, k / 2}).view(type), first.add(second, kGroup)};
}

Tensor fill_up(const Kept& kept) {
  const auto type = kept.values.scalar_type();
  const int64_t rows = kept.values.size(0);
  const int64_t k = kept.values.size(1) * 2;
  const int64_t size = group_of(type);
  const auto first = kept.places.bitwise_and(3);
  const auto second = kept.places.bitwise_right_shift(2);
  const auto places = size == kGroup ? at::stack({first, second}, -1)
                                     : first.floor_divide(2).unsqueeze(-1);
  const auto movable = c10::elementSize(type) == 1
      ? kept.values.contiguous().view(c10::kChar)
      : kept.values;
  return at::zeros({rows, k / size, size}, movable.options())
      .scatter_(-1, places, movable.reshape({rows, k / size, size / 2}))
      .reshape({rows, k})
      .view(type);
}

} // namespace torch_cuda::operators::two_of_four

// A product for each group. `offs` are the ends of the groups in the dimension
// that a matrix without a dimension of groups has for them.
#include "router/operators/kernels/products/scaled_groups.h"

#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/optional_tensor.h"
#include "router/operators/kernels/out.h"
#include "router/operators/kernels/products/contraction.h"
#include "router/operators/kernels/products/scales.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/mm.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <optional>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using at::TensorList;
using c10::IntArrayRef;
using c10::ScalarType;
using scales::Recipe;

// The arguments that all these operators have.
struct Groups {
  const char* name;
  const Tensor& left; // [rows, k], or [groups, rows, k]
  const Tensor& right; // [k, columns], or [groups, k, columns]
  const Tensor& left_scale; // of each row, of each group where it matters
  const Tensor& right_scale; // of each column

  bool left_is_flat() const {
    return left.dim() == 2;
  }
  bool right_is_flat() const {
    return right.dim() == 2;
  }
  bool has_ends() const {
    return left_is_flat() || right_is_flat();
  }
  int64_t rows() const {
    return left.size(-2);
  }
  int64_t columns() const {
    return right.size(-1);
  }

  void check(const OptionalTensor& ends) const {
    TORCH_CHECK(
        (left.dim() == 2 || left.dim() == 3) &&
            (right.dim() == 2 || right.dim() == 3),
        name,
        ": matrices of 2 or 3 dimensions are needed, found are ",
        left.dim(),
        " and ",
        right.dim());
    TORCH_CHECK(
        left.size(-1) == right.size(-2),
        name,
        ": matrices of sizes ",
        left.sizes(),
        " and ",
        right.sizes(),
        " cannot be multiplied");
    TORCH_CHECK(
        has(ends) == has_ends(),
        name,
        has_ends()
            ? ": offs is needed where a matrix has 2 dimensions"
            : ": offs is not taken where both matrices have 3 dimensions");
    TORCH_CHECK(
        !has(ends) || (ends->dim() == 1 && ends->scalar_type() == c10::kInt),
        name,
        ": offs must have one dimension and the type int32");
    const int64_t groups = has(ends) ? ends->size(0) : left.size(0);
    TORCH_CHECK(
        (left_is_flat() || left.size(0) == groups) &&
            (right_is_flat() || right.size(0) == groups),
        name,
        ": as many matrices as groups are needed, found are sizes ",
        left.sizes(),
        " and ",
        right.sizes(),
        " for ",
        groups,
        " groups");
    const bool both = left_is_flat() && right_is_flat();
    check_scale(left_scale, rows() * (!left_is_flat() || both ? groups : 1));
    check_scale(
        right_scale, columns() * (!right_is_flat() || both ? groups : 1));
  }

  void check_scale(const Tensor& scale, int64_t count) const {
    TORCH_CHECK_NOT_IMPLEMENTED(
        scale.scalar_type() == c10::kFloat,
        name,
        ": scales of rows in float32 are served. Found were scales of ",
        scale.scalar_type(),
        ", those of blocks: multiply each group with _scaled_mm.");
    TORCH_CHECK(
        scale.numel() == count,
        name,
        ": ",
        count,
        " scales are needed, found are ",
        scale.numel());
  }

  // Sizes and strides as a GPU's: rows begin at multiples of 16 bytes.
  Tensor result(int64_t groups, ScalarType type) const {
    const auto step = static_cast<int64_t>(16 / c10::elementSize(type));
    const int64_t width = (columns() + step - 1) / step * step;
    std::vector<int64_t> sizes = {rows(), columns()};
    std::vector<int64_t> strides = {width, 1};
    if (left_is_flat() == right_is_flat()) {
      sizes.insert(sizes.begin(), groups);
      strides.insert(strides.begin(), rows() * width);
    }
    return at::empty_strided(sizes, strides, left.options().dtype(type));
  }
};

Tensor multiplied(
    const Tensor& left,
    const Tensor& right,
    const Tensor& left_scale,
    const Tensor& right_scale) {
  return at::mm(left.to(c10::kFloat), right.to(c10::kFloat))
      .mul_(left_scale.reshape({-1, 1}))
      .mul_(right_scale.reshape({1, -1}));
}

Tensor multiply(
    const Groups& of,
    const OptionalTensor& ends,
    std::optional<ScalarType> type) {
  of.check(ends);
  const int64_t groups = has(ends) ? ends->size(0) : of.left.size(0);
  auto result = of.result(groups, type.value_or(c10::kBFloat16));
  result.zero_();
  const auto of_left = of.left_scale.reshape(
      {of.left_is_flat() && !of.right_is_flat() ? 1 : groups, -1});
  const auto of_right = of.right_scale.reshape(
      {of.right_is_flat() && !of.left_is_flat() ? 1 : groups, -1});
  const auto hosts = has(ends) ? ends->to(c10::kCPU) : Tensor();
  int64_t begin = 0;
  for (int64_t i = 0; i < groups; ++i) {
    const int64_t end =
        hosts.defined() ? hosts.select(0, i).item<int64_t>() : 0;
    if (!hosts.defined()) {
      result.select(0, i).copy_(multiplied(
          of.left.select(0, i),
          of.right.select(0, i),
          of_left.select(0, i),
          of_right.select(0, i)));
      continue;
    }
    const int64_t most = !of.right_is_flat() ? of.rows()
        : !of.left_is_flat()                 ? of.columns()
                                             : of.left.size(1);
    TORCH_CHECK(
        begin <= end && end <= most,
        of.name,
        ": offs must rise to at most ",
        most,
        ", found ",
        end,
        " behind ",
        begin);
    if (!of.right_is_flat()) {
      result.slice(0, begin, end)
          .copy_(multiplied(
              of.left.slice(0, begin, end),
              of.right.select(0, i),
              of_left.select(0, 0).slice(0, begin, end),
              of_right.select(0, i)));
    } else if (!of.left_is_flat()) {
      result.slice(1, begin, end)
          .copy_(multiplied(
              of.left.select(0, i),
              of.right.slice(1, begin, end),
              of_left.select(0, i),
              of_right.select(0, 0).slice(0, begin, end)));
    } else {
      result.select(0, i).copy_(multiplied(
          of.left.slice(1, begin, end),
          of.right.slice(0, begin, end),
          of_left.select(0, i),
          of_right.select(0, i)));
    }
    begin = end;
  }
  return result;
}

void refuse_addends(
    const char* name,
    const OptionalTensor& bias,
    const OptionalTensor& result_scale) {
  TORCH_CHECK(
      !has(bias) && !has(result_scale),
      name,
      ": bias and scale_result are not taken, as on a GPU");
}

Tensor scaled_grouped_mm(
    const Tensor& left,
    const Tensor& right,
    const Tensor& left_scale,
    const Tensor& right_scale,
    const OptionalTensor& ends,
    const OptionalTensor& bias,
    const OptionalTensor& result_scale,
    std::optional<ScalarType> type,
    bool /*use_fast_accum*/) {
  constexpr auto kName = "aten::_scaled_grouped_mm";
  refuse_addends(kName, bias, result_scale);
  return multiply({kName, left, right, left_scale, right_scale}, ends, type);
}

Tensor scaled_grouped_mm_by_recipes(
    const Tensor& left,
    const Tensor& right,
    TensorList left_scales,
    IntArrayRef left_recipes,
    IntArrayRef /*left_swizzles*/,
    TensorList right_scales,
    IntArrayRef right_recipes,
    IntArrayRef /*right_swizzles*/,
    const OptionalTensor& ends,
    const OptionalTensor& bias,
    std::optional<ScalarType> type,
    IntArrayRef contraction,
    bool /*use_fast_accum*/) {
  constexpr auto kName = "aten::_scaled_grouped_mm_v2";
  refuse_addends(kName, bias, {});
  check_contraction(kName, contraction);
  for (const auto& recipes : {left_recipes, right_recipes}) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        recipes.size() == 1 &&
            recipes[0] == static_cast<int64_t>(Recipe::RowWise),
        kName,
        ": the recipe RowWise is served for both matrices, found ",
        recipes,
        ". Multiply each group with _scaled_mm_v2.");
  }
  TORCH_CHECK(
      left_scales.size() == 1 && right_scales.size() == 1,
      kName,
      ": one tensor of scales is needed for each matrix");
  return multiply(
      {kName, left, right, left_scales[0], right_scales[0]}, ends, type);
}

Tensor& scaled_grouped_mm_by_recipes_out(
    const Tensor& left,
    const Tensor& right,
    TensorList left_scales,
    IntArrayRef left_recipes,
    IntArrayRef left_swizzles,
    TensorList right_scales,
    IntArrayRef right_recipes,
    IntArrayRef right_swizzles,
    const OptionalTensor& ends,
    const OptionalTensor& bias,
    std::optional<ScalarType> type,
    IntArrayRef contraction,
    bool fast,
    Tensor& out) {
  return resize_and_copy(
      out,
      scaled_grouped_mm_by_recipes(
          left,
          right,
          left_scales,
          left_recipes,
          left_swizzles,
          right_scales,
          right_recipes,
          right_swizzles,
          ends,
          bias,
          type,
          contraction,
          fast));
}

} // namespace

void route_scaled_groups() {
  register_function("aten::_scaled_grouped_mm", "", &scaled_grouped_mm);
  register_function_of_lists(
      "aten::_scaled_grouped_mm_v2", "", &scaled_grouped_mm_by_recipes);
  register_function_of_lists(
      "aten::_scaled_grouped_mm_v2", "out", &scaled_grouped_mm_by_recipes_out);
}

} // namespace torch_cuda::operators

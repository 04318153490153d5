// Scaled numbers in single precision, their product, and one rounding.
#include "router/operators/kernels/products/scaled_products.h"

#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/optional_tensor.h"
#include "router/operators/kernels/out.h"
#include "router/operators/kernels/products/contraction.h"
#include "router/operators/kernels/products/scales.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <optional>
#include <string_view>

namespace torch_cuda::operators {
namespace {

using at::Tensor;
using at::TensorList;
using c10::IntArrayRef;
using c10::Scalar;
using c10::ScalarType;
using scales::Recipe;
using scales::Swizzle;

// [rows, k] in single precision, times its scales.
struct Factor {
  const char* name;
  Tensor numbers;

  Factor(const char* name, const Tensor& matrix)
      : name(name), numbers(scales::numbers(matrix)) {}

  void scale(const Tensor& scale, Recipe recipe, Swizzle swizzle) {
    numbers = numbers.mul(scales::expanded(
        name, scale, recipe, swizzle, numbers.size(0), numbers.size(1)));
  }
};

void check_factors(const char* name, const Tensor& left, const Tensor& right) {
  TORCH_CHECK(
      left.dim() == 2 && right.dim() == 2 && left.size(1) == right.size(0),
      name,
      ": matrices of sizes ",
      left.sizes(),
      " and ",
      right.sizes(),
      " cannot be multiplied");
}

// cuBLAS multiplies no others, and programs pad to these sizes. The beginning
// of the first message is PyTorch's: tests of such programs look for it.
void check_multiples_of_16(
    const char* name,
    const Tensor& left,
    const Tensor& right) {
  TORCH_CHECK(
      left.size(1) % 16 == 0,
      "Expected trailing dimension of mat1 to be divisible by 16 but got mat1 shape: (",
      left.size(0),
      "x",
      left.size(1),
      "). (",
      name,
      ")");
  TORCH_CHECK(
      right.size(0) % 16 == 0 && right.size(1) % 16 == 0,
      name,
      ": both dimensions of mat2 must be divisible by 16, found ",
      right.sizes());
}

void check_bias(const char* name, const OptionalTensor& bias, int64_t columns) {
  TORCH_CHECK(
      !has(bias) || bias->numel() == columns,
      name,
      ": a bias of ",
      has(bias) ? bias->numel() : 0,
      " numbers does not belong to ",
      columns,
      " columns");
}

Tensor product(
    const Factor& left,
    const Factor& right,
    const OptionalTensor& bias) {
  auto result = at::mm(left.numbers, right.numbers.t());
  if (has(bias)) {
    result.add_(bias->reshape({1, -1}));
  }
  return result;
}

// What _scaled_mm does not say of its scales is told by their types and sizes.
Recipe recipe_of(const Tensor& scale, int64_t rows, int64_t columns) {
  if (scale.numel() == 1) {
    return Recipe::TensorWise;
  }
  const std::string_view type = c10::toString(scale.scalar_type());
  if (type == "Float8_e8m0fnu") {
    return Recipe::BlockWise1x32;
  }
  if (type == "Float8_e4m3fn") {
    return Recipe::BlockWise1x16;
  }
  const int64_t blocks = (columns + 127) / 128;
  if (scale.dim() == 2 && scale.size(0) == rows && scale.size(1) == blocks &&
      blocks > 1) {
    return Recipe::BlockWise1x128;
  }
  if (scale.dim() == 2 && scale.size(0) == (rows + 127) / 128 &&
      scale.size(1) == blocks) {
    return Recipe::BlockWise128x128;
  }
  return Recipe::RowWise;
}

void scale_by_sizes(Factor& factor, const Tensor& scale) {
  const auto recipe =
      recipe_of(scale, factor.numbers.size(0), factor.numbers.size(1));
  factor.scale(scale, recipe, Swizzle::Tiles32x4x4);
}

Tensor scaled_mm(
    const Tensor& left,
    const Tensor& right,
    const Tensor& left_scale,
    const Tensor& right_scale,
    const OptionalTensor& bias,
    const OptionalTensor& result_scale,
    std::optional<ScalarType> type,
    bool /*use_fast_accum*/) {
  constexpr auto kName = "aten::_scaled_mm";
  check_factors(kName, left, right);
  check_multiples_of_16(kName, left, right);
  check_bias(kName, bias, right.size(1));
  Factor a(kName, left);
  Factor b(kName, right.t());
  scale_by_sizes(a, left_scale);
  // Small blocks' lie in tiles, whichever are the sizes.
  scale_by_sizes(
      b,
      right_scale.dim() == 2 && right_scale.scalar_type() == c10::kFloat
          ? right_scale.t()
          : right_scale);
  auto result = product(a, b, bias);
  if (has(result_scale)) {
    result.mul_(*result_scale);
  }
  return result.to(type.value_or(left.scalar_type()));
}

Tensor& scaled_mm_out(
    const Tensor& left,
    const Tensor& right,
    const Tensor& left_scale,
    const Tensor& right_scale,
    const OptionalTensor& bias,
    const OptionalTensor& result_scale,
    std::optional<ScalarType> type,
    bool fast,
    Tensor& out) {
  return resize_and_copy(
      out,
      scaled_mm(
          left,
          right,
          left_scale,
          right_scale,
          bias,
          result_scale,
          type,
          fast));
}

// Of several levels each is multiplied with.
void scale_by_recipes(
    Factor& factor,
    TensorList scales,
    IntArrayRef recipes,
    IntArrayRef swizzles) {
  TORCH_CHECK(
      !scales.empty() && scales.size() == recipes.size(),
      factor.name,
      ": ",
      scales.size(),
      " scales and ",
      recipes.size(),
      " recipes were found where as many of both are needed");
  for (size_t i = 0; i < scales.size(); ++i) {
    const auto recipe = static_cast<Recipe>(recipes[i]);
    auto scale = scales[i];
    if (recipe == Recipe::BlockWise128x128 && scale.dim() == 2) {
      // cuBLAS wants them transposed, and the blocks along k filled up to four.
      const int64_t blocks = (factor.numbers.size(1) + 127) / 128;
      TORCH_CHECK(
          scale.size(0) >= blocks,
          factor.name,
          ": scales of sizes ",
          scale.sizes(),
          " are too few for ",
          blocks,
          " blocks of 128 in the first dimension");
      scale = scale.slice(0, 0, blocks).t();
    }
    factor.scale(
        scale,
        recipe,
        static_cast<Swizzle>(i < swizzles.size() ? swizzles[i] : 0));
  }
}

Tensor product_by_recipes(
    const char* name,
    const Tensor& left,
    const Tensor& right,
    TensorList left_scales,
    IntArrayRef left_recipes,
    IntArrayRef left_swizzles,
    TensorList right_scales,
    IntArrayRef right_recipes,
    IntArrayRef right_swizzles,
    const OptionalTensor& bias,
    IntArrayRef contraction) {
  check_factors(name, left, right);
  check_bias(name, bias, right.size(1));
  check_contraction(name, contraction);
  Factor a(name, left);
  Factor b(name, right.t());
  scale_by_recipes(a, left_scales, left_recipes, left_swizzles);
  scale_by_recipes(b, right_scales, right_recipes, right_swizzles);
  return product(a, b, bias);
}

Tensor scaled_mm_by_recipes(
    const Tensor& left,
    const Tensor& right,
    TensorList left_scales,
    IntArrayRef left_recipes,
    IntArrayRef left_swizzles,
    TensorList right_scales,
    IntArrayRef right_recipes,
    IntArrayRef right_swizzles,
    const OptionalTensor& bias,
    std::optional<ScalarType> type,
    IntArrayRef contraction,
    bool /*use_fast_accum*/) {
  return product_by_recipes(
             "aten::_scaled_mm_v2",
             left,
             right,
             left_scales,
             left_recipes,
             left_swizzles,
             right_scales,
             right_recipes,
             right_swizzles,
             bias,
             contraction)
      .to(type.value_or(left.scalar_type()));
}

Tensor& scaled_mm_by_recipes_out(
    const Tensor& left,
    const Tensor& right,
    TensorList left_scales,
    IntArrayRef left_recipes,
    IntArrayRef left_swizzles,
    TensorList right_scales,
    IntArrayRef right_recipes,
    IntArrayRef right_swizzles,
    const OptionalTensor& bias,
    std::optional<ScalarType> type,
    IntArrayRef contraction,
    bool fast,
    Tensor& out) {
  return resize_and_copy(
      out,
      scaled_mm_by_recipes(
          left,
          right,
          left_scales,
          left_recipes,
          left_swizzles,
          right_scales,
          right_recipes,
          right_swizzles,
          bias,
          type,
          contraction,
          fast));
}

Tensor scaled_addmm(
    const Tensor& addend,
    const Tensor& left,
    const Tensor& right,
    TensorList left_scales,
    IntArrayRef left_recipes,
    IntArrayRef left_swizzles,
    TensorList right_scales,
    IntArrayRef right_recipes,
    IntArrayRef right_swizzles,
    IntArrayRef contraction,
    const Scalar& beta,
    const Scalar& alpha,
    bool /*use_fast_accum*/) {
  constexpr auto kName = "aten::_scaled_addmm";
  auto result = product_by_recipes(
      kName,
      left,
      right,
      left_scales,
      left_recipes,
      left_swizzles,
      right_scales,
      right_recipes,
      right_swizzles,
      {},
      contraction);
  TORCH_CHECK(
      addend.sizes() == result.sizes(),
      kName,
      ": what is added has sizes ",
      addend.sizes(),
      ", and the product ",
      result.sizes());
  result.mul_(alpha);
  // Nothing is read where beta is 0.
  if (beta.toDouble() != 0) {
    result.add_(addend, beta);
  }
  return result.to(addend.scalar_type());
}

Tensor& scaled_addmm_in_place(
    Tensor& addend,
    const Tensor& left,
    const Tensor& right,
    TensorList left_scales,
    IntArrayRef left_recipes,
    IntArrayRef left_swizzles,
    TensorList right_scales,
    IntArrayRef right_recipes,
    IntArrayRef right_swizzles,
    IntArrayRef contraction,
    const Scalar& beta,
    const Scalar& alpha,
    bool fast) {
  return addend.copy_(scaled_addmm(
      addend,
      left,
      right,
      left_scales,
      left_recipes,
      left_swizzles,
      right_scales,
      right_recipes,
      right_swizzles,
      contraction,
      beta,
      alpha,
      fast));
}

Tensor& scaled_addmm_out(
    const Tensor& addend,
    const Tensor& left,
    const Tensor& right,
    TensorList left_scales,
    IntArrayRef left_recipes,
    IntArrayRef left_swizzles,
    TensorList right_scales,
    IntArrayRef right_recipes,
    IntArrayRef right_swizzles,
    IntArrayRef contraction,
    const Scalar& beta,
    const Scalar& alpha,
    bool fast,
    Tensor& out) {
  return resize_and_copy(
      out,
      scaled_addmm(
          addend,
          left,
          right,
          left_scales,
          left_recipes,
          left_swizzles,
          right_scales,
          right_recipes,
          right_swizzles,
          contraction,
          beta,
          alpha,
          fast));
}

} // namespace

void route_scaled_products() {
  register_function("aten::_scaled_mm", "", &scaled_mm);
  register_function("aten::_scaled_mm", "out", &scaled_mm_out);
  register_function_of_lists("aten::_scaled_mm_v2", "", &scaled_mm_by_recipes);
  register_function_of_lists(
      "aten::_scaled_mm_v2", "out", &scaled_mm_by_recipes_out);
  register_function_of_lists("aten::_scaled_addmm", "", &scaled_addmm);
  register_function_of_lists(
      "aten::_scaled_addmm_", "", &scaled_addmm_in_place);
  register_function_of_lists("aten::_scaled_addmm", "out", &scaled_addmm_out);
}

} // namespace torch_cuda::operators

// Unpacked, scaled in single precision, and multiplied by the host.
#include "router/operators/kernels/products/packed_weights.h"

#include "router/operators/dispatch/registration.h"
#include "router/operators/kernels/optional_tensor.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <optional>
#include <string_view>
#include <vector>

namespace torch_cuda::operators {
namespace {

using at::Tensor;

// A tile of a tensor core: 8 rows and 16 columns. A thread has two pairs of
// neighbours of a row of it, and an int32 has the numbers of two tiles: first
// the even ones, then the odd ones.
constexpr int64_t kRows = 8;
constexpr int64_t kColumns = 16;

// By tile, half of a tile, and place in a pair.
Tensor shifts(const Tensor& like) {
  return at::tensor(
      {0, 16, 4, 20, 8, 24, 12, 28}, like.options().dtype(c10::kLong));
}

void check_inner_tiles(int64_t tiles) {
  TORCH_CHECK(
      tiles == 2 || tiles == 4 || tiles == 8,
      "innerKTiles must be 2, 4 or 8, found ",
      tiles);
}

// uint8 [n, k / 2], with the even columns in the upper halves, makes int32
// [n / 8, k / (16 inner), 32, inner / 2].
Tensor pack_int4(const Tensor& weight, int64_t inner) {
  TORCH_CHECK(
      weight.dim() == 2 && weight.scalar_type() == c10::kByte,
      "_convert_weight_to_int4pack: a matrix of uint8 is needed, found ",
      weight.dim(),
      " dimensions of ",
      weight.scalar_type());
  check_inner_tiles(inner);
  const int64_t n = weight.size(0);
  const int64_t k = weight.size(1) * 2;
  TORCH_CHECK(
      n % kRows == 0 && k % (kColumns * inner) == 0,
      "_convert_weight_to_int4pack: rows must be a multiple of ",
      kRows,
      " and columns of ",
      kColumns * inner,
      ", found ",
      n,
      " and ",
      k);
  return at::stack({weight.bitwise_right_shift(4), weight.bitwise_and(15)}, -1)
      .to(c10::kLong)
      .reshape(
          {n / kRows, kRows, k / (kColumns * inner), inner / 2, 2, 2, 4, 2})
      .permute({0, 2, 1, 6, 3, 4, 5, 7})
      .reshape({n / kRows, k / (kColumns * inner), 32, inner / 2, 8})
      .bitwise_left_shift(shifts(weight))
      .sum(-1)
      .to(c10::kInt);
}

// The numbers of 0 to 15, of [n, k].
Tensor unpack_int4(const Tensor& packed) {
  const int64_t rows = packed.size(0);
  const int64_t columns = packed.size(1);
  const int64_t pairs = packed.size(3);
  return packed.to(c10::kLong)
      .unsqueeze(-1)
      .bitwise_right_shift(shifts(packed))
      .bitwise_and(15)
      .reshape({rows, columns, kRows, 4, pairs, 2, 2, 2})
      .permute({0, 2, 1, 4, 5, 6, 3, 7})
      .reshape({rows * kRows, columns * pairs * 2 * kColumns});
}

// Groups of `group_size` along k have a scale and a zero: of [k / group_size,
// n, 2]. A weight is (number - 8) * scale + zero.
Tensor product_of_int4(
    const Tensor& input,
    const Tensor& packed,
    int64_t group_size,
    const Tensor& scales_and_zeros) {
  constexpr auto kName = "_weight_int4pack_mm: ";
  TORCH_CHECK(
      packed.dim() == 4 && packed.scalar_type() == c10::kInt &&
          packed.size(2) == 32,
      kName,
      "what _convert_weight_to_int4pack returns is needed, found sizes ",
      packed.sizes(),
      " of ",
      packed.scalar_type());
  check_inner_tiles(packed.size(3) * 2);
  const auto numbers = unpack_int4(packed);
  const int64_t n = numbers.size(0);
  const int64_t k = numbers.size(1);
  TORCH_CHECK(
      input.dim() == 2 && input.size(1) == k,
      kName,
      "an input of sizes ",
      input.sizes(),
      " does not belong to weights of ",
      k,
      " columns");
  TORCH_CHECK(
      (group_size == 32 || group_size == 64 || group_size == 128 ||
       group_size == 256) &&
          k % group_size == 0,
      kName,
      "qGroupSize must be 32, 64, 128 or 256, and a divisor of ",
      k,
      "; found ",
      group_size);
  TORCH_CHECK(
      scales_and_zeros.dim() == 3 &&
          scales_and_zeros.size(0) == k / group_size &&
          scales_and_zeros.size(1) == n && scales_and_zeros.size(2) == 2,
      kName,
      "scales and zeros of sizes ",
      scales_and_zeros.sizes(),
      " were found where [",
      k / group_size,
      ", ",
      n,
      ", 2] are needed");
  const auto by_group = scales_and_zeros.to(c10::kFloat).permute({2, 1, 0});
  const auto weight = numbers.to(c10::kFloat)
                          .sub_(8)
                          .reshape({n, k / group_size, group_size})
                          .mul_(by_group.select(0, 0).unsqueeze(-1))
                          .add_(by_group.select(0, 1).unsqueeze(-1))
                          .reshape({n, k});
  return at::mm(input.to(c10::kFloat), weight.t()).to(input.scalar_type());
}

// What torch.quantization._quantized_conversions does to weights of
// _mixed_dtypes_linear, backwards: signed numbers of [n, k].
Tensor in_order(const Tensor& weight, int64_t n, int64_t k) {
  const bool is_4_bit = weight.numel() * 2 == n * k;
  const int64_t column = is_4_bit ? k / 2 : k; // bytes
  const int64_t words = column / 4;
  const int64_t columns_together = is_4_bit ? 4 : 2;
  const int64_t words_together = 32 / columns_together;
  // Within each word, and with the offset that makes them unsigned.
  auto bytes = weight.reshape({-1, 4});
  if (is_4_bit) {
    const auto low = bytes.bitwise_and(15);
    const auto high = bytes.bitwise_right_shift(4);
    // Lower halves of all four bytes, then their upper halves.
    bytes = at::stack({low, high}, -1)
                .reshape({-1, 2, 4})
                .transpose(1, 2)
                .reshape({-1, 8});
  } else {
    bytes = bytes.index_select(
        1, at::tensor({0, 2, 1, 3}, weight.options().dtype(c10::kLong)));
  }
  // Words of several columns take turns.
  const auto apart = bytes
                         .reshape(
                             {n / columns_together,
                              words / words_together,
                              columns_together,
                              words_together,
                              -1})
                         .transpose(1, 2)
                         .reshape({n, column, -1});
  static const std::vector<int64_t> of_8_bits = {
      0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15};
  static const std::vector<int64_t> of_4_bits = {
      0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const auto order = at::tensor(
      is_4_bit ? of_4_bits : of_8_bits, weight.options().dtype(c10::kLong));
  return apart.reshape({n, column / 16, 16, -1})
      .index_select(2, order)
      .reshape({n, k})
      .to(c10::kInt)
      .sub_(is_4_bit ? 8 : 128);
}

Tensor activated(
    const char* name,
    const Tensor& result,
    std::optional<std::string_view> activation) {
  const auto which = activation.value_or("none");
  if (which == "relu") {
    return result.relu();
  }
  if (which == "silu") {
    return result.mul(result.sigmoid());
  }
  TORCH_CHECK(
      which == "none",
      name,
      ": the activation \"",
      which,
      "\" is none of \"none\", \"relu\" and \"silu\"");
  return result;
}

Tensor mixed_types_linear(
    const Tensor& input,
    const Tensor& weight,
    const Tensor& scale,
    const OptionalTensor& bias,
    std::optional<std::string_view> activation) {
  constexpr auto kName = "_mixed_dtypes_linear";
  TORCH_CHECK(
      (input.scalar_type() == c10::kHalf ||
       input.scalar_type() == c10::kBFloat16) &&
          weight.scalar_type() == c10::kByte && weight.dim() == 2,
      kName,
      ": an input of float16 or bfloat16 and a matrix of uint8 are needed, "
      "found ",
      input.scalar_type(),
      " and ",
      weight.dim(),
      " dimensions of ",
      weight.scalar_type());
  const int64_t k = input.size(-1);
  const int64_t n = scale.numel();
  TORCH_CHECK(
      weight.size(0) == k && (weight.size(1) == n || weight.size(1) * 2 == n) &&
          n % 64 == 0 && k % 64 == 0,
      kName,
      ": weights of sizes ",
      weight.sizes(),
      " do not belong to inputs of ",
      k,
      " columns and ",
      n,
      " scales; both must be multiples of 64");
  const auto scaled = in_order(weight.contiguous(), n, k)
                          .to(c10::kFloat)
                          .mul_(scale.to(c10::kFloat).reshape({n, 1}));
  auto result = at::mm(input.reshape({-1, k}).to(c10::kFloat), scaled.t());
  if (has(bias)) {
    TORCH_CHECK(
        bias->numel() == n,
        kName,
        ": a bias of ",
        n,
        " numbers is needed, found are ",
        bias->numel());
    result.add_(bias->reshape({1, n}));
  }
  auto sizes = input.sizes().vec();
  sizes.back() = n;
  return activated(kName, result, activation)
      .to(input.scalar_type())
      .reshape(sizes);
}

} // namespace

void route_packed_weights() {
  register_function("aten::_convert_weight_to_int4pack", "", &pack_int4);
  register_function("aten::_weight_int4pack_mm", "", &product_of_int4);
  register_function("aten::_mixed_dtypes_linear", "", &mixed_types_linear);
}

} // namespace torch_cuda::operators

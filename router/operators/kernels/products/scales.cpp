// Views and repetitions.
#include "router/operators/kernels/products/scales.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <string_view>

namespace torch_cuda::operators::scales {
namespace {

using at::Tensor;

constexpr int64_t kTileRows = 128;
constexpr int64_t kTileColumns = 4;

int64_t blocks(int64_t count, int64_t size) {
  return (count + size - 1) / size;
}

// Versions before 2.8 do not have the type.
bool is_pairs_of_4_bits(const Tensor& matrix) {
  return std::string_view(c10::toString(matrix.scalar_type())) ==
      "Float4_e2m1fn_x2";
}

// The number of each pattern of sign, two bits of exponent, one of mantissa.
Tensor e2m1(const Tensor& patterns) {
  const auto all = at::tensor(
      {0.,
       .5,
       1.,
       1.5,
       2.,
       3.,
       4.,
       6.,
       -0.,
       -.5,
       -1.,
       -1.5,
       -2.,
       -3.,
       -4.,
       -6.},
      patterns.options().dtype(c10::kFloat));
  return all.index_select(0, patterns.reshape({-1}).to(c10::kLong))
      .reshape(patterns.sizes());
}

// [rows, columns] of what lies in tiles, one behind the other by rows. Within a
// tile the rows i, i + 32, i + 64 and i + 96 are neighbours.
Tensor without_tiles(
    const char* name,
    const Tensor& scale,
    int64_t rows,
    int64_t columns) {
  const int64_t high = blocks(rows, kTileRows);
  const int64_t wide = blocks(columns, kTileColumns);
  TORCH_CHECK(
      scale.numel() == high * wide * kTileRows * kTileColumns,
      name,
      ": ",
      scale.numel(),
      " scales were found, and for ",
      rows,
      " rows of ",
      columns,
      " blocks, in tiles of 128 x 4, ",
      high * wide * kTileRows * kTileColumns,
      " are needed");
  return scale.reshape({high, wide, 32, 4, kTileColumns})
      .permute({0, 3, 2, 1, 4})
      .reshape({high * kTileRows, wide * kTileColumns})
      .slice(0, 0, rows)
      .slice(1, 0, columns);
}

Tensor of_blocks(const Tensor& scale, int64_t size, int64_t k) {
  return scale.repeat_interleave(size, 1).slice(1, 0, k);
}

void check_sizes(
    const char* name,
    const Tensor& scale,
    int64_t rows,
    int64_t columns) {
  TORCH_CHECK(
      scale.dim() == 2 && scale.size(0) == rows && scale.size(1) == columns,
      name,
      ": scales of sizes ",
      scale.sizes(),
      " were found where [",
      rows,
      ", ",
      columns,
      "] are needed");
}

Tensor of_small_blocks(
    const char* name,
    const Tensor& scale,
    Swizzle swizzle,
    int64_t rows,
    int64_t k,
    int64_t size) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      swizzle == Swizzle::Tiles32x4x4,
      name,
      ": scales of blocks of 1 x ",
      size,
      " are read in the layout SWIZZLE_32_4_4, which a GPU wants, too; found "
      "was the layout ",
      static_cast<int64_t>(swizzle));
  const auto plain =
      without_tiles(name, scale.to(c10::kFloat), rows, blocks(k, size));
  return of_blocks(plain, size, k);
}

} // namespace

Tensor numbers(const Tensor& matrix) {
  if (!is_pairs_of_4_bits(matrix)) {
    return matrix.to(c10::kFloat);
  }
  const auto bytes = matrix.contiguous().view(c10::kByte);
  return at::stack(
             {e2m1(bytes.bitwise_and(15)), e2m1(bytes.bitwise_right_shift(4))},
             -1)
      .flatten(-2);
}

Tensor expanded(
    const char* name,
    const Tensor& scale,
    Recipe recipe,
    Swizzle swizzle,
    int64_t rows,
    int64_t k) {
  constexpr int64_t kLarge = 128;
  switch (recipe) {
    case Recipe::TensorWise:
      TORCH_CHECK(
          scale.numel() == 1,
          name,
          ": one scale of the whole matrix is needed, found are ",
          scale.numel());
      return scale.to(c10::kFloat).reshape({1, 1});
    case Recipe::RowWise:
      TORCH_CHECK(
          scale.numel() == rows,
          name,
          ": a scale for each of ",
          rows,
          " rows (or columns of the second matrix) is needed, found are ",
          scale.numel());
      return scale.to(c10::kFloat).reshape({rows, 1});
    case Recipe::BlockWise1x16:
      return of_small_blocks(name, scale, swizzle, rows, k, 16);
    case Recipe::BlockWise1x32:
      return of_small_blocks(name, scale, swizzle, rows, k, 32);
    case Recipe::BlockWise1x128:
      check_sizes(name, scale, rows, blocks(k, kLarge));
      return of_blocks(scale.to(c10::kFloat), kLarge, k);
    case Recipe::BlockWise128x128:
      check_sizes(name, scale, blocks(rows, kLarge), blocks(k, kLarge));
      return of_blocks(scale.to(c10::kFloat), kLarge, k)
          .repeat_interleave(kLarge, 0)
          .slice(0, 0, rows);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      name,
      ": the recipe ",
      static_cast<int64_t>(recipe),
      " of scales is not known here");
}

} // namespace torch_cuda::operators::scales

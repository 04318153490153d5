// The scales of a matrix of 8 or 4 bits, whatever is their layout.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>

namespace torch_cuda::operators::scales {

/// How many numbers share a scale, by the numbers of at::blas::ScalingType.
enum class Recipe : int64_t {
  TensorWise = 0,
  RowWise = 1,
  BlockWise1x16 = 2,
  BlockWise1x32 = 3,
  BlockWise1x128 = 4,
  BlockWise128x128 = 5,
};

/// How blocks' scales lie in memory, by the numbers of at::blas::SwizzleType.
enum class Swizzle : int64_t {
  None = 0,
  Tiles32x4x4 = 1, // cuBLAS: tiles of 128 rows and 4 columns
};

/// A matrix in single precision. Two numbers of 4 bits (e2m1) lie in a byte,
/// the first in its lower half.
/// @param matrix of [rows, k].
at::Tensor numbers(const at::Tensor& matrix);

/// Scales that numbers(matrix) can be multiplied with: of [rows, k], or of
/// sizes that broadcast to it.
/// @param name of the operator, for errors. @param scale as the caller gave it.
/// @throws c10::Error for sizes that do not belong to the recipe,
/// NotImplementedError for recipes and layouts that are not known.
at::Tensor expanded(
    const char* name,
    const at::Tensor& scale,
    Recipe recipe,
    Swizzle swizzle,
    int64_t rows,
    int64_t k);

} // namespace torch_cuda::operators::scales

// The format of matrices of which two of four numbers in a row are kept.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace torch_cuda::operators::two_of_four {

/// The four numbers of which two are kept; of two in single precision it is
/// one, which counts as two.
constexpr int64_t kGroup = 4;
/// What is kept is said by two places among the four, of two bits each.
constexpr int64_t kBitsOfGroup = 4;

/// How many numbers of a type are a group.
int64_t group_of(c10::ScalarType type);

/// What is kept of a matrix of [rows, k].
struct Kept {
  at::Tensor values; // [rows, k / 2]
  at::Tensor places; // [rows, groups], of int64: first place, and four times
                     // the second
};

/// Where fewer than two of a group differ from zero, zeros are kept, and where
/// more do, the first: as the published encoding has it
/// (torch.sparse._semi_structured_conversions).
/// @param dense of [rows, k], where k is a multiple of group_of its type.
Kept keep(const at::Tensor& dense);

/// The matrix of [rows, k], with zeros where nothing was kept.
at::Tensor fill_up(const Kept& kept);

} // namespace torch_cuda::operators::two_of_four

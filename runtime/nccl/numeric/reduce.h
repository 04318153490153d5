// Reductions over buffers that the host can read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/nccl/numeric/types.h"

namespace accelerator::nccl {

/// What a rank gives.
struct Input {
  const void* data;
  /// The bits of its factor, an element; of a scaled sum only.
  std::uint64_t factor;
};

/// Puts the reduction of all inputs into each output, element by element in the
/// order of the inputs. float16 and bfloat16 are reduced as float32 and rounded
/// once, to the nearest, ties to even. Maximum and minimum pass over NaN.
/// Integers wrap. An output may be the same memory as an input.
/// @param count elements of each.
void reduce(
    ncclDataType_t type,
    Reduction reduction,
    const std::vector<Input>& inputs,
    const std::vector<void*>& outputs,
    std::size_t count);

} // namespace accelerator::nccl

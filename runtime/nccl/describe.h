// Operations in words, for messages.
#pragma once

#include <string>

#include "runtime/nccl/board.h"

namespace accelerator::nccl {

/// The function of the API that begins an operation, such as "ncclAllReduce".
const char* name_of(Kind kind);

/// The kernel of an operation, by which profilers know it: such as
/// "ncclDevKernel_AllReduce_Sum_f32", the beginning of NCCL's own name.
std::string kernel_of(const Signature& signature);

/// Such as "ncclAllReduce of 1024 float32 (sum)".
std::string describe(const Signature& signature);

/// Whether ranks at these operations are at the same one.
bool same(const Signature& a, const Signature& b);

} // namespace accelerator::nccl

// The loops of reductions, compiled once for each set of machine instructions.
#pragma once

#include "runtime/nccl/numeric/reduce.h"

namespace accelerator::nccl {

/// A reduction of elements of one type, as reduce() does it.
using Kernel = void (*)(
    const std::vector<Input>& inputs,
    const std::vector<void*>& outputs,
    std::size_t count);

// The kernel for a type and a reduction; null for what is no type.
namespace baseline {
Kernel find_kernel(ncclDataType_t type, Reduction reduction);
}
namespace v3 {
Kernel find_kernel(ncclDataType_t type, Reduction reduction);
}

} // namespace accelerator::nccl

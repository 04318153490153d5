// Copies of runs of bytes, which are several boxes of arrays.
#pragma once

#include <driver_types.h>

#include <vector>

#include "runtime/core/memory/copy.h"

namespace accelerator::runtime::operations {

/// Puts the copies into a stream, all or none, as copy() does.
void copy_all(cudaStream_t stream, std::vector<CopyWork> works, bool wait);

} // namespace accelerator::runtime::operations

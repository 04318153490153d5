// Edge data of graphs, which only kernels that overlap need: there is none
// here, so it is refused.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>

#include "accelerator/runtime/core/status/guarded.h"

namespace accelerator::cudart {

/// Zeros, and no data at all, are the ordinary dependency.
/// @throws Failure: cudaErrorNotSupported for other data.
inline void require_ordinary(const cudaGraphEdgeData* data, std::size_t count) {
  const cudaGraphEdgeData ordinary{};
  for (std::size_t i = 0; data != nullptr && i < count; ++i) {
    runtime::require(
        std::memcmp(&data[i], &ordinary, sizeof(ordinary)) == 0,
        cudaErrorNotSupported);
  }
}

} // namespace accelerator::cudart

// Macros for kernels.
#pragma once

#include <cstdint>

#define STAND_KERNEL_LOOP_TYPE(i, n, index_type)                           \
  for (index_type i =                                                      \
           static_cast<index_type>(blockIdx.x) * blockDim.x + threadIdx.x; \
       i < static_cast<index_type>(n);                                     \
       i += static_cast<index_type>(blockDim.x) * gridDim.x)
#define STAND_KERNEL_LOOP(i, n) STAND_KERNEL_LOOP_TYPE(i, n, int64_t)

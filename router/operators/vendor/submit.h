// Work of vendors' kernels in CUDA's streams.
#pragma once

#include "router/operators/vendor/table.h"

namespace torch_cuda::operators::vendor {

/// torch_cuda::vendor::submit, in table.h.
void submit(c10::DeviceIndex device, torch_cuda::vendor::Work work);

} // namespace torch_cuda::operators::vendor

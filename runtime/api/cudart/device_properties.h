// cudaDeviceProp as the headers that this is compiled with declare it.
#pragma once

#include <cuda_runtime_api.h>

#include "runtime/core/machine/properties.h"

namespace accelerator::cudart {

/// What cudaGetDeviceProperties gives of a device. What is not known is 0:
/// textures, surfaces, clusters.
cudaDeviceProp device_properties(const runtime::Properties& properties);

} // namespace accelerator::cudart

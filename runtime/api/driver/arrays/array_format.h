// Formats of elements as the driver says them, and as core does.
#pragma once

#include <cuda.h>
#include <driver_types.h>

namespace accelerator::driver {

/// @throws runtime::Failure: CUDA_ERROR_INVALID_VALUE for what is no format.
cudaChannelFormatDesc format_of(CUarray_format format, unsigned channels);

/// The same, back.
CUarray_format array_format(const cudaChannelFormatDesc& description);
unsigned channels_of(const cudaChannelFormatDesc& description);

} // namespace accelerator::driver

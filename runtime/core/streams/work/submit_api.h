// Work that a vendor's operators put into the runtime's streams.
#pragma once

#include <driver_types.h>

#include "device/abi/device_api.h"

extern "C" {

/// Puts a call into a stream, or, while the stream is captured, into its graph,
/// whose runs repeat it. A device with ACCEL_CAP_SUBMIT gets the call by its
/// stream_submit; for others the function is called with null when what is in
/// front of it in the stream is done.
/// @param data good until the last call.
/// @returns what CUDA's own functions return for a stream.
cudaError_t accelerator_stream_submit(
    cudaStream_t stream,
    accel_status (*function)(void* native_stream, void* data),
    void* data);
}

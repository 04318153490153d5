// What torch's side asks of a device beyond CUDA's own API. A process without
// this library has NVIDIA's, whose devices run CUDA code.
#pragma once

#include <cstdint>

extern "C" {

/// What a device can do.
/// @param device as the program counts, @param capabilities gets bits of
/// accel_capability (device/abi/device_api.h).
/// @returns 0, or -1 when there is no such device; never initializes a device.
int accelerator_device_capabilities(int device, std::uint64_t* capabilities);

/// Which library a device belongs to.
/// @param device as above, @param name gets the library's name, @param file the
/// path of its file; both live as long as the process.
/// @returns as above.
int accelerator_device_library(
    int device,
    const char** name,
    const char** file);

/// Puts a device at fault: work that was given to it in a host function has
/// failed, and CUDA has no way for a host function to say so. Every call
/// answers the fault from then on; the first one stays.
/// @param device as the program counts, @param status a cudaError_t.
/// @returns 0, or -1 when there is no such device. Waits for nothing, so that
/// host functions may call it.
int accelerator_device_fail(int device, int status);
}

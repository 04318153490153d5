// The figures of a device that programs ask for.
#pragma once

#include <driver_types.h>

#include <string>

#include "accelerator/abi/device_api.h"

namespace accelerator::runtime {

/// The properties of a device as cudaGetDeviceProperties gives them. Where a
/// device has no such figure they say what lets programs run.
/// @param number of the device on the machine, which is its place on a bus of
/// their own for devices that are on none.
cudaDeviceProp make_properties(const accel_properties& figures, int number);

/// One figure of a device; false when this attribute is not known.
/// @param attribute a cudaDeviceAttr or CUdevice_attribute (same numbers).
bool attribute_value(
    const cudaDeviceProp& properties,
    int attribute,
    int* value);

/// "GPU-" and the uuid of a device.
std::string uuid_text(const unsigned char (&uuid)[16]);

} // namespace accelerator::runtime

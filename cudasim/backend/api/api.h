// The functions that the struct of the ABI is made of, by groups;
// device/abi/device_api.h says what they do.
#pragma once

#include <cstdint>

#include "device/abi/device_api.h"

namespace cudasim::backend {

class Stream;

/// The stream of a handle.
/// @throws Error for null.
Stream& stream_behind(accel_stream stream);

void add_devices(accel_api* api);
void add_memory(accel_api* api);
void add_streams(accel_api* api);
void add_sharing(accel_api* api);
void add_virtual_memory(accel_api* api);
void add_code(accel_api* api);
void add_textures(accel_api* api);

/// The struct of the simulated device.
const accel_api* get_api(std::uint32_t runtime_version);

} // namespace cudasim::backend

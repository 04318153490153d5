// The functions that the struct of the ABI is made of, by groups;
// device/abi/device_api.h says what they do.
#pragma once

#include "device/abi/device_api.h"

namespace accelerator::nvidia {

void add_devices(accel_api* api);
void add_memory(accel_api* api);
void add_copies(accel_api* api);
void add_streams(accel_api* api);
void add_events(accel_api* api);
void add_sharing(accel_api* api);
void add_virtual_memory(accel_api* api);
void add_code(accel_api* api);

} // namespace accelerator::nvidia

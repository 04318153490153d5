// The kinds of device that can be simulated, with the figures that programs
// ask for.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <string>

namespace cudasim::device {

/// What differs between kinds of device.
struct Profile {
  const char* name; // of the profile: "sm_80"
  const char* device_name;
  int major;
  int minor;
  int multiprocessors;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  int l2_bytes;
  int shared_per_multiprocessor; // bytes
  int shared_per_block_optin; // bytes
};

/// The profile of that name; null when there is none.
const Profile* find_profile(const std::string& name);

/// All names, for messages: "sm_80 or sm_90".
std::string profile_names();

/// The properties of a device as cudaGetDeviceProperties gives them.
/// @param ordinal on the machine, from which uuid and bus id come,
/// @param memory bytes of global memory.
cudaDeviceProp make_properties(
    const Profile& profile,
    int ordinal,
    std::uint64_t memory);

/// One figure of a device; false when this attribute is not known.
/// @param attribute a cudaDeviceAttr or CUdevice_attribute (same numbers).
bool attribute_value(
    const cudaDeviceProp& properties,
    int attribute,
    int* value);

/// "GPU-" and the uuid of the machine's n-th device.
std::string device_uuid_text(int ordinal);

} // namespace cudasim::device

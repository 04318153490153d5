// What processes use of devices, as NVML tells it to all of them. A process
// that has a context shows what it uses in a file in memory, without a name,
// that others of its user find through /proc, and that ends with it.
#pragma once

#include <cstdint>
#include <vector>

namespace accelerator::runtime {

class Device;

/// What one process uses of one device.
struct Usage {
  std::int32_t process; // as this process sees its number
  std::uint64_t bytes; // of device memory, allocated
  /// Whether it has work there that is not done. A process that does not run,
  /// as one that is stopped, has none.
  bool busy;
};

/// Shows whether this process has a context on a device, and how much of its
/// memory is allocated from now on. Where the host has no file or thread to
/// give, other processes do not learn of it.
void show_usage(Device& device);

/// At the end of the process: nobody is told any more whether it has work.
void stop_showing_work();

/// The processes that have a context on a device, of those whose files this one
/// may look at, itself among them.
/// @param uuid the device's, accel_properties::uuid.
std::vector<Usage> usage_of(const unsigned char (&uuid)[16]);

} // namespace accelerator::runtime

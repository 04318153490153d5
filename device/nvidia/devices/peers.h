// Which devices use memory of which others. The driver knows pairs of devices
// only: sharing one allocation lets the other device use all of that device's,
// which is more than was asked for and never less.
#pragma once

#include <cstdint>

namespace accelerator::nvidia {

class Device;

/// @throws Error
bool can_use_peer(Device& from, Device& to);
/// Lets kernels of `from` use memory of `to`, or no longer, unless an
/// allocation is shared still.
/// @throws Error: ACCEL_NOT_SUPPORTED where they cannot.
void enable_peer(Device& from, Device& to, bool enabled);
/// The same for one allocation, which is memory of `owner`.
/// @throws Error: ACCEL_NOT_SUPPORTED where they cannot.
void share_memory(void* address, Device& owner, Device& user, bool enabled);
/// An allocation is freed.
void forget_sharing(void* address);

} // namespace accelerator::nvidia

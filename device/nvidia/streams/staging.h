// How a copy becomes work of the driver's.
#pragma once

#include "device/abi/device_api.h"

namespace accelerator::nvidia {

class Stream;

/// Puts a copy into a stream, without waiting. Memory of the host that is not
/// pinned is copied by the host when the stream gets there, piece by piece to
/// or from pinned memory of the stream's: the driver would wait for the stream,
/// or read too early. A context is current.
/// @throws Error
void put_copy(Stream& stream, const accel_copy& copy);

} // namespace accelerator::nvidia

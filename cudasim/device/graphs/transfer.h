// Copies and fills as work of a stream.
#pragma once

#include "cudasim/device/memory/copy.h"

namespace cudasim::device {

class Stream;

/// Puts a copy into a stream. Between devices of different libraries it goes
/// through the host, on a thread of the stream's.
void put_copy(Stream& stream, const CopyWork& work);

/// Puts a fill into a stream.
void put_fill(Stream& stream, const FillWork& work);

} // namespace cudasim::device

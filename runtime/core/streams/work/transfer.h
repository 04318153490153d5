// Copies and fills as work of a stream.
#pragma once

#include "runtime/core/memory/copy.h"

namespace accelerator::runtime {

class Stream;

/// Puts a copy into a stream. Between devices of different libraries it goes
/// through the host, on a thread of the stream's.
void put_copy(Stream& stream, const CopyWork& work);

/// Puts a fill into a stream.
void put_fill(Stream& stream, const FillWork& work);

} // namespace accelerator::runtime

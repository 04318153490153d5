// Gives work to streams.
#pragma once

#include "cudasim/device/graphs/work.h"
#include "cudasim/device/streams/stream.h"

namespace cudasim::device {

/// Gives work to a stream, or, while the stream is captured, to its graph.
/// @throws Failure: errors of captures.
void submit(Stream& stream, Work work);

} // namespace cudasim::device

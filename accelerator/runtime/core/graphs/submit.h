// Gives work to streams.
#pragma once

#include "accelerator/runtime/core/graphs/work.h"
#include "accelerator/runtime/core/streams/stream.h"

namespace accelerator::runtime {

/// Gives work to a stream, or, while the stream is captured, to its graph.
/// @throws Failure: errors of captures.
void submit(Stream& stream, Work work);

} // namespace accelerator::runtime

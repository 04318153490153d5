// Runs a copy or a fill that a kernel has asked for.
#pragma once

#include <string>

#include "cudasim/engine/device_runtime/grid_queue.h"
#include "cudasim/engine/memory/address_space.h"
#include "cudasim/engine/state/fault.h"

namespace cudasim::engine {

/// How it ended.
struct CopyOutcome {
  FaultKind fault = FaultKind::kNone;
  std::string report; // empty when all is well
};

/// @param memory of the device. Nothing outside of it is touched: the first row
/// that is not in one allocation is a fault.
CopyOutcome run_copy(const QueuedCopy& copy, const AddressSpace* memory);

} // namespace cudasim::engine

// What is told about a kernel that went wrong, in the way of compute-sanitizer.
#pragma once

#include <string>

#include "cudasim/engine/launch/block_runner.h"

namespace cudasim::engine {

/// The report on the fault of `block`'s faulting warp.
std::string fault_report(const BlockRunner& block);

/// The report on a block whose threads all wait for each other.
std::string hang_report(const BlockRunner& block);

} // namespace cudasim::engine

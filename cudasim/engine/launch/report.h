// What is told about a kernel that went wrong, in the way of compute-sanitizer.
#pragma once

#include <cstdint>
#include <string>

#include "cudasim/engine/device_runtime/grid_queue.h"
#include "cudasim/engine/launch/block_runner.h"
#include "cudasim/engine/memory/address_space.h"

namespace cudasim::engine {

/// The report on the fault of `block`'s faulting warp.
std::string fault_report(const BlockRunner& block);

/// The report on a copy or fill that a kernel has asked for, of which a row of
/// bytes at an address is in no allocation.
std::string copy_report(
    const QueuedCopy& copy,
    std::uint64_t address,
    bool is_write,
    const AddressSpace* memory);

/// For the end of a report: the thread that has launched what went wrong.
std::string launched_by(const GivingThread& thread);

/// The report on a block whose threads all wait for each other.
std::string hang_report(const BlockRunner& block);

} // namespace cudasim::engine

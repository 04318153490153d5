// Buffers of the ranks: whether they are there, how other ranks reach them.
//
// Device memory is memory of the host at the same address here, in every
// process that has it; host_copies.h is for devices where it is not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/nccl/board.h"
#include "runtime/nccl/staging.h"

namespace accelerator::nccl {

/// The device is at fault from now on, as after a kernel's access to an illegal
/// address.
void set_fault(int device);

/// The calling process, as Exposure and Place have it.
std::uint64_t this_process();

/// Whether a process has certainly ended.
bool has_ended(std::uint64_t process);

/// Shows a buffer to threads of this process and, if `elsewhere`, to other
/// processes. Returns false when these could not open it.
bool expose(
    const void* buffer,
    std::size_t bytes,
    bool elsewhere,
    Exposure* exposure);

/// Where a buffer of another rank, or one of this process, is in this process.
/// @param staging what this rank has mapped of other processes.
/// @throws Error.
void* reach(const Exposure& exposure, PeerStaging& staging);

/// Closes what reach() has opened, except for the newest `keep` allocations, in
/// the background: it waits for all work of the devices.
void close_reached(std::size_t keep);

} // namespace accelerator::nccl

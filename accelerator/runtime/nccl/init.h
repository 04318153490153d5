// Bringing up communicators.
#pragma once

#include <nccl.h>

namespace accelerator::nccl {

/// Begins to bring up one rank, as a job of the group that is open.
/// @param config null: the defaults.
/// @throws Error.
void begin_init(
    ncclComm_t* comm,
    int ranks,
    const ncclUniqueId& id,
    int rank,
    const ncclConfig_t* config);

/// Begins to divide the ranks of a communicator by their colors, in the order
/// of their keys, into new ones.
/// @param config null: as the communicator.
/// @throws Error.
void begin_split(
    ncclComm_t comm,
    int color,
    int key,
    ncclComm_t* child,
    const ncclConfig_t* config);

} // namespace accelerator::nccl

// Bringing up communicators.
#pragma once

#include <nccl.h>

#include <vector>

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

/// Begins to make a communicator of the ranks that are left, in their order,
/// without the others' taking part.
/// @param excluded the ranks that are not to be in it.
/// @param abort whether the communicator is aborted first, or has failed.
/// @param config null: as the communicator.
/// @throws Error.
void begin_shrink(
    ncclComm_t comm,
    const std::vector<int>& excluded,
    bool abort,
    ncclComm_t* child,
    const ncclConfig_t* config);

/// Begins to make a communicator of all ranks and of new ones behind them.
/// @param id from one of the ranks, who hands it to the others; null: that is
/// another one.
/// @param config null: as the communicator.
/// @throws Error.
void begin_grow(
    ncclComm_t comm,
    int ranks,
    const ncclUniqueId* id,
    ncclComm_t* child,
    const ncclConfig_t* config);

} // namespace accelerator::nccl

// Calls between ncclGroupStart and ncclGroupEnd, of the calling thread.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runtime/nccl/communicator.h"
#include "runtime/nccl/error.h"
#include "runtime/nccl/launch.h"
#include "runtime/nccl/operation.h"

namespace accelerator::nccl {

/// Something that takes part in a meeting of ranks, and so may have to be done
/// at the same time as others: bringing up a communicator, for instance.
struct Job {
  std::shared_ptr<Communicator> communicator; // whose state tells how it is
  std::function<void()> work; // may throw Error
};

/// Does one call's work as a group of its own, or at the end of the group that
/// is open. What goes wrong in a group is also the result of its end.
ncclResult_t in_group(const std::function<void()>& call) noexcept;

/// Adds to the group.
void add(Operation operation, std::shared_ptr<Communicator> communicator);
void add(Job job);

void start_group() noexcept;
ncclResult_t end_group() noexcept;

/// Ends the group without doing any of it.
/// @param look sees what it would have put on streams; a group in a group has
/// nothing.
ncclResult_t drop_group(
    const std::function<void(const std::vector<Plan>&)>& look) noexcept;

} // namespace accelerator::nccl

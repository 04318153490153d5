// Puts operations on their streams.
#pragma once

#include <memory>
#include <vector>

#include "runtime/nccl/communicator.h"
#include "runtime/nccl/operation.h"

namespace accelerator::nccl {

/// The operations of one communicator that a group, or a single call, begins.
struct Plan {
  std::shared_ptr<Communicator> communicator;
  std::vector<Operation> operations; // in the order of the calls
};

/// Puts each plan as one piece of work on the stream of its first operation;
/// the other streams wait for it, as it does for them. While streams are being
/// captured, it becomes a node of their graph.
/// @throws Error.
void launch(std::vector<Plan> plans);

} // namespace accelerator::nccl

// Memory that graphs keep: what was allocated or freed while one is captured is
// used by nobody else as long as the graph is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torch_stand_in {

struct LiveBlock {
  void* address;
  size_t bytes;
};

/// What tensors have, on all devices.
std::vector<LiveBlock> live_blocks();

/// From here to end_hold() memory belongs to what it gives back.
uint64_t begin_hold();
void end_hold();
void release_hold(uint64_t hold);

} // namespace torch_stand_in

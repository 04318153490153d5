#include "device/nvidia/streams/host_block.h"

#include <mutex>
#include <vector>

#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

struct Free {
  std::mutex mutex;
  std::vector<void*> blocks;
};

Free& free_blocks() {
  static auto* all = new Free;
  return *all;
}

} // namespace

// On any thread, also those of the driver, on which it must not be called: the
// memory is kept.
HostBlock::~HostBlock() {
  Free& all = free_blocks();
  const std::lock_guard lock(all.mutex);
  all.blocks.push_back(memory_);
}

std::shared_ptr<HostBlock> take_host_block() {
  Free& all = free_blocks();
  void* memory = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    if (!all.blocks.empty()) {
      memory = all.blocks.back();
      all.blocks.pop_back();
    }
  }
  if (memory == nullptr) {
    ACCEL_DRIVER(
        cuMemHostAlloc,
        &memory,
        HostBlock::kRoom,
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  }
  return std::make_shared<HostBlock>(memory);
}

} // namespace accelerator::nvidia

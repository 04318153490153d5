#include "accelerator/runtime/core/modules/occupancy.h"

#include <algorithm>

#include "accelerator/runtime/core/machine/device.h"

namespace accelerator::runtime {
namespace {

constexpr int kMostRegisters = 255; // of a thread
constexpr int kRegisterUnit = 256; // registers are given to warps in these

} // namespace

int registers_per_thread(Device& device, const KernelInfo& info) {
  const int threads = std::max(1, static_cast<int>(info.max_threads));
  const int room =
      std::max(16, device.properties().regsPerBlock / threads / 8 * 8);
  return std::clamp(
      static_cast<int>(info.registers), 1, std::min(kMostRegisters, room));
}

int max_active_blocks(
    Device& device,
    const KernelInfo& info,
    int threads,
    std::size_t shared_bytes) {
  const cudaDeviceProp& p = device.properties();
  if (threads <= 0 || threads > p.maxThreadsPerBlock ||
      threads > static_cast<int>(info.max_threads)) {
    return 0;
  }
  const int warps = (threads + p.warpSize - 1) / p.warpSize;
  int blocks = std::min(
      p.maxBlocksPerMultiProcessor,
      p.maxThreadsPerMultiProcessor / (warps * p.warpSize));

  const std::size_t shared = info.static_shared_bytes + shared_bytes;
  if (shared_bytes > p.sharedMemPerBlockOptin ||
      shared > p.sharedMemPerBlockOptin) {
    return 0;
  }
  blocks = std::min(
      blocks,
      static_cast<int>(
          p.sharedMemPerMultiprocessor /
          (shared + p.reservedSharedMemPerBlock)));

  const int per_warp =
      (registers_per_thread(device, info) * p.warpSize + kRegisterUnit - 1) /
      kRegisterUnit * kRegisterUnit;
  return std::min(blocks, p.regsPerMultiprocessor / (per_warp * warps));
}

} // namespace accelerator::runtime

#include "accelerator/runtime/core/modules/occupancy.h"

#include <algorithm>

#include "accelerator/runtime/core/machine/device.h"
#include "accelerator/runtime/core/status/status.h"

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
  const Properties& p = device.properties();
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

std::size_t available_shared_bytes(
    Device& device,
    const KernelInfo& info,
    int blocks,
    int threads) {
  const Properties& p = device.properties();
  require(blocks > 0 && max_active_blocks(device, info, threads, 0) >= blocks);
  const std::size_t share =
      p.sharedMemPerMultiprocessor / static_cast<unsigned>(blocks);
  const std::size_t taken =
      info.static_shared_bytes + p.reservedSharedMemPerBlock;
  return std::min(
      share > taken ? share - taken : 0,
      p.sharedMemPerBlockOptin - info.static_shared_bytes);
}

LaunchSize best_launch_size(
    Device& device,
    const KernelInfo& info,
    int limit,
    const std::function<std::size_t(int)>& shared_bytes) {
  const Properties& p = device.properties();
  int most = std::min(p.maxThreadsPerBlock, static_cast<int>(info.max_threads));
  most = limit > 0 ? std::min(most, limit) : most;
  LaunchSize best;
  int most_resident = 0;
  const int warps = (most + p.warpSize - 1) / p.warpSize;
  for (int left = warps; left > 0; --left) {
    const int threads = std::min(most, left * p.warpSize);
    const int blocks =
        max_active_blocks(device, info, threads, shared_bytes(threads));
    if (blocks * threads > most_resident) {
      most_resident = blocks * threads;
      best = {blocks * p.multiProcessorCount, threads};
    }
  }
  return best;
}

} // namespace accelerator::runtime

#include "runtime/core/modules/occupancy.h"

#include <algorithm>
#include <cstdint>

#include "runtime/core/machine/device.h"
#include "runtime/core/modules/module.h"
#include "runtime/core/status/status.h"

// The model is that of NVIDIA's cuda_occupancy.h for compute capability 8.0 and
// later, which a test compares with
// (runtime/api/driver/occupancy_model_test.cpp).

namespace accelerator::runtime {
namespace {

constexpr int kMostRegisters = 255; // of a thread
constexpr int kRegisterUnit = 256; // registers are given to warps in these
constexpr int kPartitions = 4; // of a multiprocessor, each with its registers
constexpr std::uint64_t kSharedUnit = 128; // bytes; shared memory is given so

// What of the memory that L1 and shared memory have in common can be shared
// memory, in KiB, up to the device's most.
constexpr std::uint64_t kCarveouts[] =
    {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

int round_up(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

int warps_of(const Properties& p, int threads) {
  return (threads + p.warpSize - 1) / p.warpSize;
}

// The least shared memory of a multiprocessor that has room for so much.
std::uint64_t carve(const Properties& p, std::uint64_t bytes) {
  for (const std::uint64_t size : kCarveouts) {
    if (size << 10 >= bytes) {
      return std::min<std::uint64_t>(size << 10, p.sharedMemPerMultiprocessor);
    }
  }
  return p.sharedMemPerMultiprocessor;
}

// As the kernel prefers it, which is a hint: a block that needs more gets more.
std::uint64_t preferred_shared_bytes(const Properties& p, int carveout) {
  return carveout < 0 ? p.sharedMemPerMultiprocessor
                      : carve(
                            p,
                            p.sharedMemPerMultiprocessor *
                                static_cast<unsigned>(carveout) / 100);
}

int blocks_by_shared_memory(
    const Properties& p,
    std::uint64_t of_block,
    int carveout) {
  std::uint64_t room = preferred_shared_bytes(p, carveout);
  if (room < of_block) {
    room = carve(p, of_block);
  }
  return of_block == 0 ? p.maxBlocksPerMultiProcessor
                       : static_cast<int>(room / of_block);
}

// A warp's registers are all in one of the partitions.
int blocks_by_registers(const Properties& p, int registers, int warps) {
  const int of_warp = round_up(registers * p.warpSize, kRegisterUnit);
  if (p.regsPerBlock < of_warp * round_up(warps, kPartitions)) {
    return 0;
  }
  return p.regsPerMultiprocessor / kPartitions / of_warp * kPartitions / warps;
}

} // namespace

int registers_per_thread(Device& device, const KernelInfo& info) {
  const Properties& p = device.properties();
  const int threads = std::max(1, static_cast<int>(info.max_threads));
  const int all = round_up(warps_of(p, threads), kPartitions) * p.warpSize;
  const int room = std::max(16, p.regsPerBlock / all / 8 * 8);
  return std::clamp(
      static_cast<int>(info.registers), 1, std::min(kMostRegisters, room));
}

int max_active_blocks(
    Function& function,
    Device& device,
    int threads,
    std::size_t shared_bytes) {
  const Properties& p = device.properties();
  const KernelInfo& info = function.on(device).info;
  if (threads <= 0 || threads > p.maxThreadsPerBlock ||
      shared_bytes > function.dynamic_shared_limit(device)) {
    return 0;
  }
  const std::uint64_t shared =
      (info.static_shared_bytes + p.reservedSharedMemPerBlock + shared_bytes +
       kSharedUnit - 1) /
      kSharedUnit * kSharedUnit;
  if (shared > p.sharedMemPerBlockOptin + p.reservedSharedMemPerBlock) {
    return 0;
  }
  const int warps = warps_of(p, threads);
  return std::min(
      {p.maxBlocksPerMultiProcessor,
       p.maxThreadsPerMultiProcessor / p.warpSize / warps,
       blocks_by_shared_memory(p, shared, function.carveout),
       blocks_by_registers(p, registers_per_thread(device, info), warps)});
}

std::size_t available_shared_bytes(
    Function& function,
    Device& device,
    int blocks,
    int threads) {
  const Properties& p = device.properties();
  require(threads > 0 && blocks > 0);
  require(max_active_blocks(function, device, threads, 0) >= blocks);
  const std::uint64_t most =
      p.sharedMemPerBlockOptin + p.reservedSharedMemPerBlock;
  std::uint64_t room = most; // of one block, whatever it prefers
  if (blocks > 1) {
    room = preferred_shared_bytes(p, function.carveout);
    room = room > 0 ? room : carve(p, 1);
  }
  const std::uint64_t share = std::min(
      room / static_cast<unsigned>(blocks) / kSharedUnit * kSharedUnit, most);
  return std::min(
      share - p.reservedSharedMemPerBlock -
          function.on(device).info.static_shared_bytes,
      function.dynamic_shared_limit(device));
}

LaunchSize best_launch_size(
    Function& function,
    Device& device,
    int limit,
    const std::function<std::size_t(int)>& shared_bytes) {
  const Properties& p = device.properties();
  int most = std::min(
      p.maxThreadsPerBlock,
      static_cast<int>(function.on(device).info.max_threads));
  most = limit > 0 ? std::min(most, limit) : most;
  LaunchSize best;
  int most_resident = 0;
  for (int left = warps_of(p, most); left > 0; --left) {
    const int threads = std::min(most, left * p.warpSize);
    const int blocks =
        max_active_blocks(function, device, threads, shared_bytes(threads));
    if (blocks * threads > most_resident) {
      most_resident = blocks * threads;
      best = {blocks * p.multiProcessorCount, threads};
    }
  }
  return best;
}

} // namespace accelerator::runtime

// How many blocks of a kernel fit on a multiprocessor at a time.
#pragma once

#include <cstddef>
#include <functional>

#include "runtime/core/modules/kernel_info.h"

namespace accelerator::runtime {

class Device;
class Function;

/// Blocks per multiprocessor by threads, shared memory and registers (CUDA
/// programming guide, technical specifications). 0 when not even one fits.
/// @param threads per block, @param shared_bytes dynamic shared memory.
int max_active_blocks(
    Function& function,
    Device& device,
    int threads,
    std::size_t shared_bytes);

/// Dynamic shared memory, in bytes, that each block may have where so many are
/// to fit on a multiprocessor.
/// @throws Failure with cudaErrorInvalidValue where they do not fit without
/// any.
std::size_t available_shared_bytes(
    Function& function,
    Device& device,
    int blocks,
    int threads);

/// A block's threads, and how many such blocks the whole device has room for.
struct LaunchSize {
  int blocks = 0;
  int threads = 0;
};

/// The size of block with which most threads fit on a multiprocessor; of those
/// the largest. Whole warps, unless the limit is none. Both are 0 where no
/// block fits.
/// @param limit the most threads of a block; 0: as many as the kernel can have.
/// @param shared_bytes dynamic shared memory by the threads of a block.
LaunchSize best_launch_size(
    Function& function,
    Device& device,
    int limit,
    const std::function<std::size_t(int)>& shared_bytes);

/// Registers of a thread as they are told to programs: the engine's estimate,
/// but no more than a block of the kernel's largest size can have.
int registers_per_thread(Device& device, const KernelInfo& info);

} // namespace accelerator::runtime

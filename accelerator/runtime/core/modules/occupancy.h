// How many blocks of a kernel fit on a multiprocessor at a time.
#pragma once

#include <cstddef>

#include "accelerator/runtime/core/modules/kernel_info.h"

namespace accelerator::runtime {

class Device;

/// Blocks per multiprocessor by threads, shared memory and registers (CUDA
/// programming guide, technical specifications). 0 when not even one fits.
/// @param threads per block, @param shared_bytes dynamic shared memory.
int max_active_blocks(
    Device& device,
    const KernelInfo& info,
    int threads,
    std::size_t shared_bytes);

/// Registers of a thread as they are told to programs: the engine's estimate,
/// but no more than a block of the kernel's largest size can have.
int registers_per_thread(Device& device, const KernelInfo& info);

} // namespace accelerator::runtime

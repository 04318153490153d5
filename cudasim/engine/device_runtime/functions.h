// The functions by which kernels launch kernels. Source: CUDA programming
// guide, "CUDA Dynamic Parallelism"; CUDA's cuda_device_runtime_api.h; for the
// order in which a function looks at its arguments, NVIDIA's libcudadevrt 13.5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/code/dim3.h"
#include "cudasim/engine/device_runtime/grid_queue.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// What the threads of a block share when they call these functions.
struct CallingBlock {
  GridQueue* queue = nullptr; // null: the kernel calls none of them
  std::uint32_t compute_capability = 80;
  std::vector<DeviceStatus> last_errors; // by threads; empty: nobody has any
  std::string message; // why a kernel cannot be launched, for the fault
};

/// Runs a function for the active lanes.
/// @param size of the block, in threads.
/// @returns false on a fault, which is then in the warp.
bool call_device_runtime(
    Warp& warp,
    CallingBlock& block,
    const Dim3& size,
    const Inst& inst,
    const Control& control,
    Mask active);

} // namespace cudasim::engine

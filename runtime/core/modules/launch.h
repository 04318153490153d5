// Launches of kernels: limits, parameters, and the run itself.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/core/modules/module.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {

class Device;

/// A launch with everything it needs.
struct KernelWork {
  std::shared_ptr<Function> function;
  Dim3 grid;
  Dim3 block;
  std::uint64_t shared_bytes = 0; // dynamic
  bool cooperative = false;
  std::vector<std::byte> parameters; // packed as the kernel reads them
  /// What the caller named the kernel by: a host function or a CUfunction.
  const void* symbol = nullptr;
};

/// Copies a kernel's parameters from where the caller has them.
/// @param arguments a pointer to each parameter (may be null when there are
/// none), @param info of the kernel.
std::vector<std::byte> pack_parameters(
    const KernelInfo& info,
    void** arguments);

/// The other way a caller can give parameters: already packed, in the list of
/// options of cuLaunchKernel's `extra`.
std::vector<std::byte> unpack_extra(const KernelInfo& info, void** extra);

/// Checks a launch against the device's limits (CUDA programming guide,
/// technical specifications).
/// @param info of the kernel on the device.
/// @throws Failure: cudaErrorInvalidConfiguration, cudaErrorInvalidValue for
/// too much shared memory, cudaErrorCooperativeLaunchTooLarge.
void check_launch(
    Device& device,
    const KernelInfo& info,
    const KernelWork& work);

} // namespace accelerator::runtime

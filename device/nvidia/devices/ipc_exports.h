// Memory that other processes may open. The driver's handles are longer than
// those of the ABI, so they lie in a file that the processes share, and what is
// given away says where in it.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "device/abi/device_api.h"

namespace accelerator::nvidia {

/// What another process needs to open memory.
struct Export {
  CUipcMemHandle native; // of the driver's allocation
  std::uint64_t offset; // of the memory in that, bytes
  std::uint64_t bytes;
};

/// Lets others open the memory that begins at an address; the same handle each
/// time.
/// @throws Error: ACCEL_OUT_OF_MEMORY when there are too many,
/// ACCEL_NOT_SUPPORTED when the host has no such files.
accel_ipc_handle add_export(void* address, const Export& memory);
/// The memory that begins there is freed.
void withdraw_export(void* address);
/// What a handle of any process names.
/// @throws Error: ACCEL_INVALID_ARGUMENT, HostError.
Export read_export(const accel_ipc_handle& handle);

} // namespace accelerator::nvidia

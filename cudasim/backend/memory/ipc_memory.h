// Memory of one process used by another on the same machine.
#pragma once

#include "cudasim/backend/memory/address_map.h"
#include "cudasim/backend/memory/memory.h"
#include "device/abi/device_api.h"

namespace cudasim::backend {

/// How the names of the files begin that have devices' memory.
inline constexpr const char* kMemoryFileName = "cudasim-device-";

/// Names the allocation that begins at `begin` for other processes.
/// @param memory of the device that it is on.
/// @throws Error: ACCEL_INVALID_ARGUMENT when nothing begins there.
accel_ipc_handle export_memory(const Memory& memory, const void* begin);

/// Maps the memory of another process.
/// @param device that the memory is to be taken for, @param bytes gets its
/// size.
/// @throws Error: ACCEL_INVALID_ARGUMENT for a handle that no process gave like
/// that, or whose memory is freed. HostError when the other is gone.
void* import_memory(
    AddressMap& addresses,
    int device,
    const accel_ipc_handle& handle,
    std::uint64_t* bytes);

/// Ends what import_memory() began.
/// @throws Error: ACCEL_INVALID_ARGUMENT.
void close_memory(AddressMap& addresses, void* memory);

} // namespace cudasim::backend

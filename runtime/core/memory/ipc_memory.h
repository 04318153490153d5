// Memory of one process used by another on the same machine.
#pragma once

#include <driver_types.h>

#include "runtime/core/memory/address_map.h"
#include "runtime/core/memory/memory.h"

namespace accelerator::runtime {

/// Names the allocation that begins at `begin` for other processes.
/// @param memory of the device that it is on, @param physical the device's
/// number on the machine.
/// @throws Failure: cudaErrorInvalidValue when nothing begins there,
/// cudaErrorNotSupported when the device has no such handles.
cudaIpcMemHandle_t export_memory(
    const Memory& memory,
    int physical,
    const void* begin);

/// Maps the memory of another process; the same handle opened twice gives the
/// same address.
/// @param device that the memory is to be taken for, as the program counts.
/// @throws Failure: cudaErrorDeviceUninitialized for a handle of this process,
/// as CUDA answers; cudaErrorMapBufferObjectFailed when the other is gone;
/// cudaErrorInvalidValue for a handle that no process gave like that, or whose
/// memory is freed.
void* import_memory(
    AddressMap& addresses,
    int device,
    const cudaIpcMemHandle_t& handle);

/// Ends what import_memory() began, once it was called as often.
/// @throws Failure: cudaErrorInvalidValue.
void close_memory(AddressMap& addresses, void* memory);

} // namespace accelerator::runtime

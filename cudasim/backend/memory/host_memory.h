// Memory of the host that kernels of all devices can use.
#pragma once

#include <cstdint>

namespace cudasim::backend {

class AddressMap;

/// Allocates memory, aligned to a page, with a guard behind it.
/// @throws Error with ACCEL_OUT_OF_MEMORY.
void* allocate_host(AddressMap& map, std::uint64_t bytes);

/// Frees what allocate_host() gave.
/// @throws Error with ACCEL_INVALID_ARGUMENT when it is something else.
void release_host(AddressMap& map, void* memory);

/// Makes a program's own memory known to the devices.
/// @throws Error with ACCEL_ALREADY.
void register_host(AddressMap& map, void* memory, std::uint64_t bytes);

/// @throws Error with ACCEL_INVALID_ARGUMENT.
void unregister_host(AddressMap& map, void* memory);

} // namespace cudasim::backend

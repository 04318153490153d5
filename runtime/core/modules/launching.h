// What kernels that launch kernels call and that a device leaves to the
// runtime, as PTX: what is known of the device, its limits, the texts of
// statuses. What launches is the device's own, as vprintf and malloc are.
// Source: CUDA's cuda_device_runtime_api.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/status/status.h"

namespace accelerator::runtime {

class Device;
struct LoadedModule;

/// Whether a text has the name of such a function in it. Cheap.
bool mentions_launching(std::string_view ptx);

/// A module with the functions, for a device. Limits are in a variable, as a
/// program may set them later.
/// @param ptx what calls them: the texts of statuses are there if it names
/// their functions.
std::string launching_functions(Device& device, std::string_view ptx);

/// Notes that the module has been loaded, and then that it is no more: what
/// limit_addresses() gives.
void note_limits(const Device& device, const LoadedModule& module);
void forget_limits(int device, const LoadedModule& module);

/// Where the modules on a device have the value of a limit, of 8 bytes each.
std::vector<void*> limit_addresses(int device, cudaLimit limit);

} // namespace accelerator::runtime

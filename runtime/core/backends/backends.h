// The libraries whose devices the machine has.
#pragma once

#include <string>
#include <vector>

#include "device/abi/device_api.h"

namespace accelerator::runtime {

/// A device: which library's, and its number there.
struct Slot {
  const accel_api* api;
  int index;
};

/// Makes a library known that is linked in, under its name. For initializers of
/// static objects.
/// @param is_default whether its devices are there where nothing names any.
/// @returns true.
bool register_library(accel_get_api_function get_api, bool is_default = false);

/// Makes the file known in which a library of that name lies, for names that
/// are neither linked in nor beside this library. Before the first use.
void announce_library(const std::string& name, const std::string& path);

/// All devices of the libraries that TORCH_CUDA_DEVICES names, in one sequence:
/// the same each time. An entry is a name, or a path, and perhaps a colon with
/// options behind it; a number there is "count=N". TORCH_CUDA_SIM=1 alone names
/// "sim".
/// @throws Failure: cudaErrorInitializationError, with a message, when none is
/// named, or a library cannot be had or refuses its options.
const std::vector<Slot>& all_devices();

/// Ends the libraries' work, at the end of the process.
void finalize_libraries() noexcept;

} // namespace accelerator::runtime

// What programs register when they are loaded: fat binaries, and the host
// addresses that stand for kernels and variables in them.
#pragma once

#include <memory>
#include <string>

#include "cudasim/device/modules/module.h"

namespace cudasim::runtime {

/// The kernel that a host function stands for.
/// @throws device::Failure: cudaErrorInvalidDeviceFunction.
std::shared_ptr<device::Function> find_function(const void* host_function);

/// The variable that a host address stands for, on the current device.
/// @throws device::Failure: cudaErrorInvalidSymbol.
const device::Symbol& find_variable(const void* host_variable);

} // namespace cudasim::runtime

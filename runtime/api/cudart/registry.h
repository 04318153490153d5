// What programs register when they are loaded: fat binaries, and the host
// addresses that stand for kernels and variables in them.
#pragma once

#include <memory>
#include <string>

#include "runtime/core/modules/module.h"

namespace accelerator::cudart {

/// The kernel that a host function stands for.
/// @throws runtime::Failure: cudaErrorInvalidDeviceFunction.
std::shared_ptr<runtime::Function> find_function(const void* host_function);

/// The variable that a host address stands for, on the current device.
/// @throws runtime::Failure: cudaErrorInvalidSymbol.
const runtime::Symbol& find_variable(const void* host_variable);

} // namespace accelerator::cudart

// Turns a kernel and what it calls into decoded instructions.
#pragma once

#include <functional>
#include <memory>

#include "cudasim/engine/kernel.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Where the variables of a module are on the device: the address of a .global
/// or .const variable, 0 for a name that is none.
using VariableAddress = std::function<std::uint64_t(std::string_view name)>;

/// Lowers a kernel. The bodies of the functions it reaches are parsed.
/// @throws LoweringError, ptx::ParseError
std::unique_ptr<Kernel> lower_kernel(
    ptx::Module& module,
    ptx::Function& entry,
    const VariableAddress& address_of);

} // namespace cudasim::engine

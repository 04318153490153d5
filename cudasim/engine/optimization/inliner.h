// Makes a FlatFunction of a function, in which calls have become part of it.
#pragma once

#include "cudasim/engine/optimization/flat_function.h"

namespace cudasim::engine::optimization {

/// Steps of a function with all that is called, at most.
inline constexpr std::size_t kMostSteps = 20000;

/// Flattens `function` and what it calls, where that is a function of the
/// module which is called by its name, does not call itself and has what it is
/// given just before the call. Other calls stay. The bodies are parsed.
/// @throws NotOptimized; ptx::ParseError for a body that PTX does not allow.
FlatFunction flatten(const ptx::Module& module, ptx::Function& function);

} // namespace cudasim::engine::optimization

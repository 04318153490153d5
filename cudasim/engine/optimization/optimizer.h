// Makes functions shorter before they are lowered. Compilers do that, and then
// there is little to do; PTX that was compiled quickly, or to be debugged, is
// full of calls and of local arrays. `CUDASIM_OPTIMIZE` asks for it.
#pragma once

#include <memory>

#include "cudasim/ptx/ast.h"

namespace cudasim::engine::optimization {

/// Whether `CUDASIM_OPTIMIZE` is `1`. `CUDASIM_CHECK=1` checks what is there
/// before, local memory included.
bool is_enabled();

/// A function that does the same as `function`, with the bits that it would
/// have: calls of the module's functions are part of it, and local variables of
/// which every access is at a known place are registers. Null where there is
/// nothing to gain or something that is not known here, and for functions that
/// go on to call others, as those that call themselves do.
/// @param function its body and those of functions that it calls are parsed.
/// @throws ptx::ParseError for a body that PTX does not allow.
std::unique_ptr<ptx::Function> optimized(
    const ptx::Module& module,
    ptx::Function& function);

} // namespace cudasim::engine::optimization

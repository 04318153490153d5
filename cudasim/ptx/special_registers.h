// The registers that PTX defines itself, and their types: all of them, also
// those that the engine lacks. What they are worth is said in engine/code, for
// nothing of a device is known here. Source: PTX ISA 8.4, chapter 10.
#pragma once

#include <string_view>

#include "cudasim/ptx/ast.h"

namespace cudasim::ptx {

/// The type of a special register, such as "%tid" without a component; kNone
/// when there is none of that name.
Type special_register_type(std::string_view name);

} // namespace cudasim::ptx

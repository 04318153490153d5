// How a body begins and ends: registers and parameters, and a result that
// depends on everything.
#pragma once

#include "cudasim/engine/optimization/testing/body.h"

namespace cudasim::engine::optimization::random_functions {

/// Appends what gives all registers a value, reads parameters and declares
/// variables.
void begin_body(Body& body);

/// Appends what returns or, in the kernel, writes a hash of all registers and
/// regions.
void end_body(Body& body);

} // namespace cudasim::engine::optimization::random_functions

// Refuses PTX that ptxas would refuse, before any of it is lowered: what comes
// after may trust its input. Source: PTX ISA 8.4, chapters 4, 5, 7, 9 and 11.
#pragma once

#include <cstdint>
#include <vector>

#include "cudasim/engine/instructions/registry.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// What is known of a body that has been verified.
struct VerifiedBody {
  /// For each instruction, in the order of the text, its row; null for a form
  /// that PTX has and this engine does not.
  std::vector<const Row*> rows;
};

/// Verifies the body of a function, which has been parsed.
/// @throws ptx::ParseError with line, column and what was found; LoweringError
/// for what PTX has and this engine does not.
VerifiedBody verify_body(
    const ptx::Module& module,
    const ptx::Function& function);

/// Verifies that a body has no instruction which this engine lacks.
/// @throws LoweringError that names all of them.
void verify_runs_whole(
    const ptx::Module& module,
    const ptx::Function& function,
    const VerifiedBody& body);

/// Verifies what is outside of bodies: version and target, names, sizes,
/// initial values.
/// @throws ptx::ParseError
void verify_module(const ptx::Module& module);

/// Verifies that a device compiles PTX of the module's target.
/// @param capability 80 for 8.0.
/// @throws ptx::ParseError
void verify_device(const ptx::Module& module, std::uint32_t capability);

} // namespace cudasim::engine

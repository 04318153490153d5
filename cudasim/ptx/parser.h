// Reads PTX text. The first pass (parse_module) reads what is outside of bodies
// and only skips over these, so that a module of thousands of kernels is ready
// at once; a body is read when its kernel is first launched (parse_body).
#pragma once

#include <memory>
#include <string>

#include "cudasim/ptx/ast.h"

namespace cudasim::ptx {

/// Reads a module without the bodies of its functions.
///
/// @param text the whole text; a final NUL, as fat binaries have, is allowed.
/// @param source_name goes into messages.
/// @throws ParseError
std::unique_ptr<Module> parse_module(std::string text, std::string source_name);

/// Reads the body of one function of `module` into `function.body`. Does
/// nothing when it is there already. Not thread-safe.
/// @throws ParseError
void parse_body(const Module& module, Function& function);

} // namespace cudasim::ptx

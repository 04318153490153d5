// Reads PTX text. The first pass (parse_module) reads what is outside of bodies
// and only skips over these, so that a module of thousands of kernels is ready
// at once; a body is read when its kernel is first launched (parse_body).
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cudasim/ptx/ast.h"

namespace cudasim::ptx {

/// The text is no PTX that this reader knows. The message reads
/// "SOURCE:LINE:COLUMN: found 'TOKEN', expected …".
class ParseError : public std::runtime_error {
 public:
  ParseError(const std::string& message, Location location)
      : std::runtime_error(message), location_(location) {}
  Location location() const {
    return location_;
  }

 private:
  Location location_;
};

/// Raises a ParseError "SOURCE:LINE:COLUMN: found 'TOKEN', expected …".
/// @param source the module's name.
/// @param found the words that are wrong, @param location of them.
/// @param expected what belongs there.
[[noreturn]] void fail(
    std::string_view source,
    Location location,
    std::string_view found,
    std::string_view expected);

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

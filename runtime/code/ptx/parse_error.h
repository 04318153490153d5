// Places in a text, and what is wrong there.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace accelerator::ptx {

/// A place in the text of a module; both count from 1, 0 means "nowhere".
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// The text is no PTX that its reader knows. The message reads
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
/// @param found the words that are wrong; empty: the text ends there.
/// @param location of them.
/// @param expected what belongs there.
[[noreturn]] void fail(
    std::string_view source,
    Location location,
    std::string_view found,
    std::string_view expected);

} // namespace accelerator::ptx

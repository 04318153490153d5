// Values of environment variables. A wrong one ends in one message that names
// variable, value and what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace accelerator::host {

/// The value of a variable; nothing when it is not set.
std::optional<std::string> variable(const char* name);

/// Which of a variable's names to read: the older one where it alone is set,
/// which stderr is then told once.
/// @param name the variable's, @param older_name what it was called before.
const char* renamed(const char* name, const char* older_name);

/// @throws std::invalid_argument: "NAME=value is not allowed: …".
[[noreturn]] void reject(
    const char* name,
    const std::string& value,
    const std::string& allowed);

/// Reads 0 or 1; `fallback` when the variable is not set or empty, here and
/// below.
/// @throws std::invalid_argument, as the next.
bool read_switch(const char* name, bool fallback);

/// Reads a whole number from `least` to `most`.
long read_count(const char* name, long fallback, long least, long most);

/// Reads a size such as "512M", with K, M, G or T behind the number for powers
/// of 1024; nothing when it is not one.
std::optional<std::uint64_t> parse_size(const std::string& text);

} // namespace accelerator::host

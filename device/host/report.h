// Messages to the user of a program.
#pragma once

#include <string>

namespace accelerator::host {

/// Writes a message to stderr at once, each of its lines with a prefix.
/// @param prefix for example "torch_cuda: ".
/// @param message one line or several, without a line end behind the last.
void report(const char* prefix, const std::string& message) noexcept;

} // namespace accelerator::host

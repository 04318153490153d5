// What the library is told when it is initialized.
#pragma once

#include <string>

namespace accelerator::nvidia {

struct Options {
  std::string library; // CUDA's driver; "": the system's
  int count = -1; // devices, of those that there are; -1: all
  /// Pieces of work of a stream that the driver has at a time. It waits when it
  /// has 1,020 launches of a stream, or 225 pieces of several kinds.
  int in_flight = 128;
};

/// Reads KEY=VALUE pairs with commas between them.
/// @throws Error: ACCEL_INVALID_ARGUMENT with the pair and what there is.
Options parse_options(const std::string& text);

} // namespace accelerator::nvidia

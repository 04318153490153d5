// Ends the program when a test hangs, and names it: a library that waits for
// ever would say nothing otherwise.
#pragma once

#include <gtest/gtest.h>

namespace accelerator::conformance {

/// Tells that a long test goes on.
void still_going();

/// Ends the process with status 1 when neither a test has begun nor
/// still_going was called for this long. For good: it cannot be taken back.
void watch(int seconds);

} // namespace accelerator::conformance

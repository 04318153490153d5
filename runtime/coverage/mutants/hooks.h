// What a mutant of a test records, and which function of it answers wrongly.
//
// Environment:
//   COVERAGE_CALLS: file to which "test TAB function" is added for each
//     function that a test calls itself, and "test TAB" for a test that fails:
//     hooks have other addresses than functions.
//   COVERAGE_MUTANT: "cudaMalloc=nothing" (it does nothing and returns 0) or
//     "cudaMalloc=error" (it does its work and returns an error).
#pragma once

#include <string>

namespace accelerator::coverage {

/// Writes what was called since the last time.
/// @param test that called it. @param passed whether it did.
void write_calls(const std::string& test, bool passed);

} // namespace accelerator::coverage

// How much native code this process has, for tests and figures.
#pragma once

#include <atomic>
#include <cstdint>

namespace cudasim::engine {

struct NativeStatistics {
  std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> found{0}; // an earlier process had made them
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> handled{0};
};
/// Of this process: there is one.
NativeStatistics& native_statistics();

/// How many regions this process has native code of, and of how many of them an
/// earlier process had left it.
std::uint64_t native_regions();
std::uint64_t found_native_regions();
/// How many regions LLVM refused, which are interpreted: the translator's
/// fault.
std::uint64_t refused_native_regions();
/// How many instructions of the regions handlers execute.
std::uint64_t handled_native_instructions();

} // namespace cudasim::engine

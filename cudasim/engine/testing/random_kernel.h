// Random kernels of the rows that have native code, and of others.
#pragma once

#include <string>

namespace cudasim::engine::testing {

inline constexpr unsigned kThreads = 96; // that memory has a place for
inline constexpr unsigned kInputs = 6; // words of 64 bits for each thread
inline constexpr unsigned kWords = 8; // registers of 32 bits: %w0 …
inline constexpr unsigned kLongs = 6; // of 64: %d0 …
inline constexpr unsigned kShorts = 4; // of 16: %h0 …
inline constexpr unsigned kPredicates = 4; // %p0 …
inline constexpr unsigned kColumns = 4; // of each size of element
/// Bytes of the places for elements of 1, 2, 4, 8 and 16 bytes, and of what is
/// written at the end.
inline constexpr unsigned kPlaces = 31 * kColumns * kThreads;
inline constexpr unsigned kDump =
    (kWords + kLongs + kShorts + 1) * 8 * kThreads;

/// The text of kernel(out, in, n), for up to kThreads threads in one block.
/// Each thread reads kInputs words of 64 bits, one of each column of `in`, and
/// writes its own places among the kDump + kPlaces bytes of `out` alone, so
/// that nothing depends on the order of warps.
/// @param faults the first warp does at the end.
std::string random_kernel(unsigned seed, bool faults);

} // namespace cudasim::engine::testing

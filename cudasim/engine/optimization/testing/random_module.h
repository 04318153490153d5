// Random modules whose functions call each other. Every program is well
// defined: it reads nothing that it has not written, and no address gets into a
// result.
#pragma once

#include <string>

namespace cudasim::engine::optimization::random_functions {

inline constexpr unsigned kThreads = 64; // of the kernel's one block
inline constexpr unsigned kColumns = 4; // words that each thread writes

/// @returns the text of kernel(out), from after .address_size, and of the
/// functions that it calls. Each of kThreads threads writes kColumns words of
/// 32 bits to `out`, one behind the other, unless it exits before.
std::string random_module(unsigned seed);

} // namespace cudasim::engine::optimization::random_functions

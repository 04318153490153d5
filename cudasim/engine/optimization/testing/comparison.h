// A kernel as it is and optimized, side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudasim::engine::optimization {

/// What a kernel writes, or why it does not.
struct WrittenWords {
  std::vector<std::uint32_t> words;
  std::string trouble;
};

/// Runs kernel(out) in one block of 64 threads.
/// @param setting of CUDASIM_OPTIMIZE. @param text of the module, from after
/// .address_size. @param columns words that each thread writes to `out`.
/// @returns what is at `out`.
WrittenWords run_kernel(
    const char* setting,
    const std::string& text,
    unsigned columns);

/// Expects the same words from a kernel with and without optimization.
/// @param text, columns see run_kernel. @param where for the message.
/// @returns whether they are.
bool expect_same(
    const std::string& text,
    unsigned columns,
    const std::string& where);

} // namespace cudasim::engine::optimization

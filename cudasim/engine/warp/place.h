// A warp's place in its grid, and the special registers that tell a kernel of
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cudasim/engine/code/code.h"
#include "cudasim/engine/code/dim3.h"

namespace cudasim::engine {

/// What fill_specials needs to know about a warp.
struct Place {
  Dim3 grid;
  Dim3 block;
  Dim3 block_index;
  std::uint32_t warp = 0; // in its block
  std::uint32_t multiprocessors = 1;
  std::uint32_t dynamic_shared = 0; // bytes
  std::uint32_t total_shared = 0; // bytes
  std::uint32_t reserved_shared = 0; // where it begins
  std::uint64_t grid_workspace = 0; // device address; 0 unless cooperative
};

/// The special registers of a function whose values differ between the blocks
/// of a grid. All lanes have the same.
void specials_of_block(
    const Code& code,
    const Place& place,
    std::vector<std::pair<const SpecialRegister*, std::uint64_t>>* values);

/// Writes the special registers that a function uses into its frame.
/// @param again whether those of the same warp of another block are there: most
/// are the same in all blocks of a grid.
void fill_specials(
    const Code& code,
    const Place& place,
    std::uint64_t local_frame,
    bool again,
    std::byte* registers);

} // namespace cudasim::engine

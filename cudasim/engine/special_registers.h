// Special registers. Source: PTX ISA 10.
#pragma once

#include <string_view>

#include "cudasim/engine/code.h"
#include "cudasim/engine/program.h"

namespace cudasim::engine {

/// The special register of a name such as "%tid.x" that does not change while a
/// block runs; false when there is none.
bool find_special(std::string_view name, Special* special);

/// A handler that moves a special register that changes, such as %clock64, into
/// operand 0; null when the name is not one of those.
Handler changing_register(std::string_view name);

/// Shared memory of a block that devices keep for themselves, in bytes. Here it
/// lies behind that of the program, and only kernels that ask for it have it:
/// cooperative groups, for tiles of more than a warp.
inline constexpr std::uint32_t kReservedShared = 1024;

/// Whether a register is an offset in the reserved shared memory.
bool is_in_reserved_shared(Special special);

/// What fill_specials needs to know about a warp's place in the grid.
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

/// Writes the special registers that a function uses into its frame.
void fill_specials(
    const Code& code,
    const Place& place,
    std::uint64_t local_frame,
    std::byte* registers);

} // namespace cudasim::engine

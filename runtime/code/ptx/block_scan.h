// Finds the end of a block of PTX without reading it: the first pass over a
// module of many megabytes is this function and little else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace accelerator::ptx {

struct BlockEnd {
  bool found = false;
  std::size_t offset = 0; // of the "}"
  std::uint32_t lines = 0; // line ends passed
  std::size_t line_start = 0; // offset after the last of them
};

/// Finds the "}" that closes a block which is already open at `begin`. Braces
/// in comments and in strings do not count.
BlockEnd find_block_end(std::string_view text, std::size_t begin);

} // namespace accelerator::ptx

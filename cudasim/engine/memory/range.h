// One piece of memory that kernels may touch.
#pragma once

#include <cstdint>

namespace cudasim::engine {

/// One allocation, or one variable of a module.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0; // one past the last byte
  std::uint64_t id = 0; // for reports; counts up
  bool read_only = false; // .const variables
};

} // namespace cudasim::engine

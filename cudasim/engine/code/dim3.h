// How many there are, or where one is, in three dimensions.
#pragma once

#include <cstdint>

namespace cudasim::engine {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  std::uint64_t count() const {
    return std::uint64_t{x} * y * z;
  }
};

} // namespace cudasim::engine

#include "cudasim/backend/machine/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cudasim::backend {

void run_copy(const accel_copy& work) {
  for (std::uint64_t z = 0; z < work.depth; ++z) {
    auto* to = static_cast<char*>(work.to) + z * work.to_slice;
    const auto* from =
        static_cast<const char*>(work.from) + z * work.from_slice;
    for (std::uint64_t y = 0; y < work.height; ++y) {
      // Overlapping copies are undefined in CUDA; here they are merely copies.
      std::memmove(
          to + y * work.to_pitch, from + y * work.from_pitch, work.width);
    }
  }
}

void run_fill(const accel_fill& work) {
  for (std::uint64_t z = 0; z < work.depth; ++z) {
    for (std::uint64_t y = 0; y < work.height; ++y) {
      auto* row = static_cast<char*>(work.to) + z * work.slice + y * work.pitch;
      switch (work.element_size) {
        case 1:
          std::memset(row, static_cast<int>(work.value), work.width);
          break;
        case 2:
          std::fill_n(
              reinterpret_cast<std::uint16_t*>(row),
              work.width,
              static_cast<std::uint16_t>(work.value));
          break;
        default:
          std::fill_n(
              reinterpret_cast<std::uint32_t*>(row), work.width, work.value);
      }
    }
  }
}

} // namespace cudasim::backend

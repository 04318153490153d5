#include "cudasim/backend/machine/copy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cudasim::backend {

namespace {

/// A copy to the host reads, as a kernel does.
void check_copy(const accel_copy& work, WrittenCheck& check) {
  accel_read read{};
  read.struct_size = sizeof(read);
  read.function = "a copy to the host";
  read.from = work.from;
  read.width = work.width;
  read.height = work.height;
  read.depth = work.depth;
  read.pitch = static_cast<std::int64_t>(work.from_pitch);
  read.slice = static_cast<std::int64_t>(work.from_slice);
  check.read(read);
}

} // namespace

void run_copy(const accel_copy& work, WrittenCheck* check) {
  const bool from_device = check != nullptr && work.from_device != ACCEL_HOST;
  if (from_device && work.to_device == ACCEL_HOST) {
    check_copy(work, *check);
  }
  for (std::uint64_t z = 0; z < work.depth; ++z) {
    auto* to = static_cast<std::byte*>(work.to) + z * work.to_slice;
    const auto* from =
        static_cast<const std::byte*>(work.from) + z * work.from_slice;
    for (std::uint64_t y = 0; y < work.height; ++y) {
      std::byte* const row = to + y * work.to_pitch;
      const std::byte* const source = from + y * work.from_pitch;
      if (from_device && work.to_device != ACCEL_HOST) {
        copy_with_poison(row, source, work.width);
      } else {
        // Overlapping copies are undefined in CUDA; here they are merely
        // copies.
        std::memmove(row, source, work.width);
      }
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

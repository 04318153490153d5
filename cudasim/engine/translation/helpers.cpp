#include "cudasim/engine/translation/helpers.h"

#include <cstring>

namespace cudasim::engine {

namespace {

template <typename T>
void write(std::byte* place, std::uint64_t base, std::uint64_t stride) {
  T values[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    values[lane] =
        static_cast<T>(base + stride * static_cast<std::uint64_t>(lane));
  }
  std::memcpy(place, values, sizeof(values));
}

} // namespace

void write_affine(
    std::byte* place,
    std::uint64_t base,
    std::uint64_t stride,
    std::uint32_t bytes) {
  switch (bytes) {
    case 2:
      write<std::uint16_t>(place, base, stride);
      break;
    case 4:
      write<std::uint32_t>(place, base, stride);
      break;
    default:
      write<std::uint64_t>(place, base, stride);
  }
}

Flow execute_collective(Warp* warp, const Inst* inst, const Control* control) {
  return control->handler(*warp, *inst, kAllLanes);
}

} // namespace cudasim::engine

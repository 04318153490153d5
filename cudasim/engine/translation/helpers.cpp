#include "cudasim/engine/translation/helpers.h"

#include <cstring>

#include "cudasim/engine/translation/value.h"

namespace cudasim::engine {

namespace {

template <typename T>
void write(
    std::byte* place,
    std::uint64_t base,
    std::uint64_t stride,
    std::uint64_t row) {
  T values[kLanes];
  auto value = static_cast<T>(base);
  const auto other = static_cast<T>(row);
  for (int lane = 0; lane < kRowLanes; ++lane) {
    values[lane] = value;
    values[lane + kRowLanes] = static_cast<T>(value + other);
    value = static_cast<T>(value + static_cast<T>(stride));
  }
  std::memcpy(place, values, sizeof(values));
}

} // namespace

void write_affine(
    std::byte* place,
    std::uint64_t base,
    std::uint64_t stride,
    std::uint64_t row,
    std::uint32_t bytes) {
  switch (bytes) {
    case 2:
      write<std::uint16_t>(place, base, stride, row);
      break;
    case 4:
      write<std::uint32_t>(place, base, stride, row);
      break;
    default:
      write<std::uint64_t>(place, base, stride, row);
  }
}

Flow execute_collective(Warp* warp, const Inst* inst, const Control* control) {
  return control->handler(*warp, *inst, kAllLanes);
}

} // namespace cudasim::engine

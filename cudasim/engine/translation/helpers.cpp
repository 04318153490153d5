#include "cudasim/engine/translation/helpers.h"

#include <cstring>

#include "cudasim/engine/translation/value.h"

namespace cudasim::engine {

namespace {

/// Native code is for processors that have it.
#define CUDASIM_AVX2 [[gnu::target("avx2")]]

template <typename T>
CUDASIM_AVX2 void write(
    std::byte* place,
    std::uint64_t base,
    std::uint64_t stride,
    std::uint64_t row) {
  using Part [[gnu::vector_size(32)]] = T;
  constexpr int kPart = sizeof(Part) / sizeof(T);
  Part lane = {};
  for (int i = 0; i < kPart; ++i) {
    lane[i] = static_cast<T>(i);
  }
  Part value = lane * static_cast<T>(stride) + static_cast<T>(base);
  const Part step = Part{} + static_cast<T>(stride * kPart);
  const Part other = Part{} + static_cast<T>(row);
  std::byte* second = place + kRowLanes * sizeof(T);
  for (int i = 0; i < kRowLanes; i += kPart) {
    const Part below = value + other;
    std::memcpy(place, &value, sizeof(value));
    std::memcpy(second, &below, sizeof(below));
    place += sizeof(Part);
    second += sizeof(Part);
    value += step;
  }
}

} // namespace

CUDASIM_AVX2 void write_affine(
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

#undef CUDASIM_AVX2

Flow execute_collective(Warp* warp, const Inst* inst, const Control* control) {
  return control->handler(*warp, *inst, kAllLanes);
}

} // namespace cudasim::engine

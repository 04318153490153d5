#include "cudasim/engine/translation/helpers.h"

#include <immintrin.h>

#include <cstring>

#include "cudasim/engine/memory/access.h"
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

/// Copies the numbers of one lane, or to them.
/// @param start the host's address of address 0.
template <typename T, int kCount, bool kIsLoad>
CUDASIM_AVX2 void copy_lane(
    std::size_t lane,
    const std::uint64_t* addresses,
    std::uint64_t start,
    std::byte* numbers) {
  auto* const there = reinterpret_cast<std::byte*>(start + addresses[lane]);
  for (std::size_t k = 0; k < kCount; ++k) {
    std::byte* const here = numbers + (k * kLanes + lane) * sizeof(T);
    std::byte* const number = there + k * sizeof(T);
    std::memcpy(kIsLoad ? here : number, kIsLoad ? number : here, sizeof(T));
  }
}

/// The same of all lanes.
template <typename T, int kCount, bool kIsLoad>
CUDASIM_AVX2 void copy_lanes(
    const std::uint64_t* addresses,
    std::uint64_t start,
    std::byte* numbers) {
  constexpr std::size_t kAll = sizeof(T) * kLanes;
  if constexpr (kIsLoad && sizeof(T) == 4 && kCount == 4) {
    // Four lanes, then their first numbers side by side, and so on.
    for (int lane = 0; lane < kLanes; lane += 4) {
      const auto load = [&](int i) {
        return _mm_castsi128_ps(_mm_loadu_si128(
            reinterpret_cast<const __m128i*>(start + addresses[lane + i])));
      };
      __m128 first = load(0);
      __m128 second = load(1);
      __m128 third = load(2);
      __m128 fourth = load(3);
      _MM_TRANSPOSE4_PS(first, second, third, fourth);
      auto* const to = reinterpret_cast<float*>(numbers) + lane;
      _mm_storeu_ps(to, first);
      _mm_storeu_ps(to + kLanes, second);
      _mm_storeu_ps(to + 2 * kLanes, third);
      _mm_storeu_ps(to + 3 * kLanes, fourth);
    }
    return;
  }
  if constexpr (kIsLoad && sizeof(T) == 4 && kCount == 2) {
    for (int lane = 0; lane < kLanes; lane += 4) {
      const auto load = [&](int i) {
        return _mm_loadl_epi64(
            reinterpret_cast<const __m128i*>(start + addresses[lane + i]));
      };
      const __m128i first = _mm_unpacklo_epi32(load(0), load(1));
      const __m128i second = _mm_unpacklo_epi32(load(2), load(3));
      auto* const to = numbers + lane * sizeof(T);
      _mm_storeu_si128(
          reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi64(first, second));
      _mm_storeu_si128(
          reinterpret_cast<__m128i*>(to + kAll),
          _mm_unpackhi_epi64(first, second));
    }
    return;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    copy_lane<T, kCount, kIsLoad>(lane, addresses, start, numbers);
  }
}

template <typename T, int kCount, bool kIsShared, bool kIsLoad>
CUDASIM_AVX2 std::uint32_t access_scattered(
    const RegionState* state,
    const std::uint64_t* addresses,
    std::byte* numbers,
    std::uint32_t mask) {
  using Part [[gnu::vector_size(32)]] = std::int64_t;
  constexpr int kPart = 4;
  constexpr std::uint64_t kBytes = sizeof(T) * kCount;
  // As numbers with a sign: no memory is beyond.
  Part low;
  std::memcpy(&low, addresses, sizeof(low));
  Part high = low;
  Part bits = low;
  for (int lane = kPart; lane < kLanes; lane += kPart) {
    Part part;
    std::memcpy(&part, addresses + lane, sizeof(part));
    low = part < low ? part : low;
    high = part > high ? part : high;
    bits |= part;
  }
  std::int64_t least = low[0];
  std::int64_t most = high[0];
  std::int64_t all = bits[0];
  for (int i = 1; i < kPart; ++i) {
    least = low[i] < least ? low[i] : least;
    most = high[i] > most ? high[i] : most;
    all |= bits[i];
  }
  const auto first = static_cast<std::uint64_t>(least);
  const auto last = static_cast<std::uint64_t>(most);
  if ((static_cast<std::uint64_t>(all) & (kBytes - 1)) != 0) {
    return 0;
  }
  if (kIsShared) {
    if (least < 0 || last > state->shared_bytes ||
        state->shared_bytes - last < kBytes) {
      return 0;
    }
  } else if (!is_cached(*state->ranges, first, last + kBytes, !kIsLoad)) {
    return 0;
  }
  const std::uint64_t start = kIsShared ? state->shared : 0;
  if (kIsLoad || mask == kAllLanes) {
    copy_lanes<T, kCount, kIsLoad>(addresses, start, numbers);
    return 1;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(mask));
    copy_lane<T, kCount, kIsLoad>(lane, addresses, start, numbers);
  }
  return 1;
}

template <typename T, int kCount>
ScatteredAccess* access_of(bool is_load, bool is_shared) {
  if (is_load) {
    return is_shared ? &access_scattered<T, kCount, true, true>
                     : &access_scattered<T, kCount, false, true>;
  }
  return is_shared ? &access_scattered<T, kCount, true, false>
                   : &access_scattered<T, kCount, false, false>;
}

template <typename T>
ScatteredAccess* access_of(bool is_load, bool is_shared, int count) {
  if constexpr (sizeof(T) <= 4) {
    if (count == 4) {
      return access_of<T, 4>(is_load, is_shared);
    }
  }
  return count == 2 ? access_of<T, 2>(is_load, is_shared)
                    : access_of<T, 1>(is_load, is_shared);
}

} // namespace

ScatteredAccess* scattered_access(
    bool is_load,
    bool is_shared,
    int bits,
    int count) {
  switch (bits) {
    case 8:
      return access_of<std::uint8_t>(is_load, is_shared, count);
    case 16:
      return access_of<std::uint16_t>(is_load, is_shared, count);
    case 32:
      return access_of<std::uint32_t>(is_load, is_shared, count);
    default:
      return access_of<std::uint64_t>(is_load, is_shared, count);
  }
}

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

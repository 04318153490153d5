// Of helpers.h what is written for vectors of x86-64, the processors that
// native code is made for.
#include "cudasim/engine/translation/helpers.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>
#include <type_traits>

#include "cudasim/engine/instructions/rounding_mode.h"
#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/translation/ir/value.h"

namespace cudasim::engine {

namespace {

/// Native code is for processors that have it.
#define CUDASIM_AVX2 [[gnu::target("avx2")]]
#define CUDASIM_AVX2_INLINE [[gnu::target("avx2"), gnu::always_inline]] inline

template <typename T>
CUDASIM_AVX2 void write(
    std::byte* place,
    std::uint64_t base,
    std::uint64_t stride,
    std::uint64_t row) {
  using Part [[gnu::vector_size(32)]] = T;
  constexpr int kPart = sizeof(Part) / sizeof(T);
  std::byte* second = place + kRowLanes * sizeof(T);
  Part value = Part{} + static_cast<T>(base);
  if ((stride | row) == 0) {
    for (int i = 0; i < kRowLanes; i += kPart) {
      std::memcpy(place + i * sizeof(T), &value, sizeof(value));
      std::memcpy(second + i * sizeof(T), &value, sizeof(value));
    }
    return;
  }
  Part lane = {};
  for (int i = 0; i < kPart; ++i) {
    lane[i] = static_cast<T>(i);
  }
  value += lane * static_cast<T>(stride);
  const Part step = Part{} + static_cast<T>(stride * kPart);
  const Part other = Part{} + static_cast<T>(row);
  for (int i = 0; i < kRowLanes; i += kPart) {
    const Part below = value + other;
    std::memcpy(place, &value, sizeof(value));
    std::memcpy(second, &below, sizeof(below));
    place += sizeof(Part);
    second += sizeof(Part);
    value += step;
  }
}

/// Addresses of lanes: those of shared memory have 32 bits.
template <bool kIsShared>
using Address = std::conditional_t<kIsShared, std::uint32_t, std::uint64_t>;

/// Where the lanes access memory.
template <bool kIsShared>
struct Lanes {
  const Address<kIsShared>* addresses;
  std::byte* start; // the host's address of address 0

  std::byte* operator[](int lane) const {
    return start + addresses[lane];
  }
};

/// Stores the numbers of one lane.
template <typename T, int kCount, bool kIsShared>
CUDASIM_AVX2_INLINE void store_lane(
    Lanes<kIsShared> lanes,
    int lane,
    const std::byte* numbers) {
  std::byte* const there = lanes[lane];
  for (int k = 0; k < kCount; ++k) {
    const std::byte* const number = numbers + (k * kLanes + lane) * sizeof(T);
    std::memcpy(there + k * sizeof(T), number, sizeof(T));
  }
}

/// Writes 32 bytes at once. Were they written in parts, whoever loads them as
/// one vector would have to wait for them.
CUDASIM_AVX2_INLINE void put(std::byte* place, __m128i low, __m128i high) {
  _mm256_storeu_si256(
      reinterpret_cast<__m256i*>(place), _mm256_set_m128i(high, low));
}

/// One number of each lane from `lane` on, as many as fill 16 bytes.
template <typename T, bool kIsShared>
CUDASIM_AVX2_INLINE __m128i load_part(Lanes<kIsShared> lanes, int lane) {
  using Part [[gnu::vector_size(16)]] = T;
  constexpr int kPart = sizeof(Part) / sizeof(T);
  Part part = {};
#pragma GCC unroll 16
  for (int i = 0; i < kPart; ++i) {
    T number;
    std::memcpy(&number, lanes[lane + i], sizeof(number));
    part[i] = number;
  }
  return reinterpret_cast<__m128i>(part);
}

/// Numbers of four lanes, 4 bytes each: the first of each lane, the second ....
template <int kCount>
struct FourLanes {
  __m128i numbers[kCount];
};
template <int kCount, bool kIsShared>
CUDASIM_AVX2_INLINE FourLanes<kCount> load_four(
    Lanes<kIsShared> lanes,
    int lane) {
  const auto load = [&](int i) {
    __m128i whole = _mm_setzero_si128();
    std::memcpy(&whole, lanes[lane + i], kCount * sizeof(std::uint32_t));
    return whole;
  };
  const __m128i first = _mm_unpacklo_epi32(load(0), load(1));
  const __m128i second = _mm_unpacklo_epi32(load(2), load(3));
  const __m128i one = _mm_unpacklo_epi64(first, second);
  const __m128i two = _mm_unpackhi_epi64(first, second);
  if constexpr (kCount == 2) {
    return {one, two};
  } else {
    const __m128i third = _mm_unpackhi_epi32(load(0), load(1));
    const __m128i fourth = _mm_unpackhi_epi32(load(2), load(3));
    return {
        one,
        two,
        _mm_unpacklo_epi64(third, fourth),
        _mm_unpackhi_epi64(third, fourth)};
  }
}

/// Loads the numbers of all lanes.
template <typename T, int kCount, bool kIsShared>
CUDASIM_AVX2_INLINE void load_lanes(
    Lanes<kIsShared> lanes,
    std::byte* numbers) {
  constexpr std::size_t kAll = sizeof(T) * kLanes;
  if constexpr (kCount == 1) {
    constexpr int kPart = sizeof(__m128i) / sizeof(T);
#pragma GCC unroll 8
    for (int lane = 0; lane < kLanes; lane += 2 * kPart) {
      put(numbers + lane * sizeof(T),
          load_part<T>(lanes, lane),
          load_part<T>(lanes, lane + kPart));
    }
  } else if constexpr (sizeof(T) == 4) {
#pragma GCC unroll 4
    for (int lane = 0; lane < kLanes; lane += 8) {
      const FourLanes<kCount> low = load_four<kCount>(lanes, lane);
      const FourLanes<kCount> high = load_four<kCount>(lanes, lane + 4);
#pragma GCC unroll 4
      for (int k = 0; k < kCount; ++k) {
        put(numbers + k * kAll + lane * sizeof(T),
            low.numbers[k],
            high.numbers[k]);
      }
    }
  } else {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int k = 0; k < kCount; ++k) {
        std::memcpy(
            numbers + k * kAll + lane * sizeof(T),
            lanes[lane] + k * sizeof(T),
            sizeof(T));
      }
    }
  }
}

/// Whether each lane's address is a multiple of its bytes, a power of two, and
/// all of these are in the block's shared memory.
template <std::uint32_t kBytes>
CUDASIM_AVX2_INLINE bool is_shared_memory(
    const std::uint32_t* addresses,
    std::uint64_t shared_bytes) {
  if (shared_bytes < kBytes) {
    return false;
  }
  __m256i most = _mm256_setzero_si256();
  __m256i bits = most;
#pragma GCC unroll 4
  for (int lane = 0; lane < kLanes; lane += 8) {
    __m256i part;
    std::memcpy(&part, addresses + lane, sizeof(part));
    most = _mm256_max_epu32(most, part);
    bits = _mm256_or_si256(bits, part);
  }
  const __m256i limit =
      _mm256_set1_epi32(static_cast<int>(shared_bytes - kBytes));
  const __m256i inside =
      _mm256_cmpeq_epi32(_mm256_max_epu32(most, limit), limit);
  return _mm256_movemask_epi8(inside) == -1 &&
      _mm256_testz_si256(bits, _mm256_set1_epi32(kBytes - 1)) != 0;
}

/// The same of the allocation that the first lane accesses, where it is one
/// that the warp touched lately.
template <std::uint64_t kBytes>
CUDASIM_AVX2_INLINE bool is_known_memory(
    const std::uint64_t* addresses,
    const RangeCache& ranges,
    bool is_write) {
  const std::uint64_t first = addresses[0];
  int at = 0;
  while (!is_cached(ranges, at, first, first + kBytes, is_write)) {
    if (++at == RangeCache::kEntries) {
      return false;
    }
  }
  // As numbers with a sign: no memory is beyond.
  const __m256i begin =
      _mm256_set1_epi64x(static_cast<std::int64_t>(ranges.begin[at]));
  const __m256i limit =
      _mm256_set1_epi64x(static_cast<std::int64_t>(ranges.end[at] - kBytes));
  __m256i outside = _mm256_setzero_si256();
  __m256i bits = outside;
#pragma GCC unroll 8
  for (int lane = 0; lane < kLanes; lane += 4) {
    __m256i part;
    std::memcpy(&part, addresses + lane, sizeof(part));
    const __m256i below = _mm256_cmpgt_epi64(begin, part);
    const __m256i above = _mm256_cmpgt_epi64(part, limit);
    outside = _mm256_or_si256(outside, _mm256_or_si256(below, above));
    bits = _mm256_or_si256(bits, part);
  }
  return _mm256_testz_si256(outside, outside) != 0 &&
      _mm256_testz_si256(bits, _mm256_set1_epi64x(kBytes - 1)) != 0;
}

template <typename T, int kCount, bool kIsShared, bool kIsLoad>
CUDASIM_AVX2 std::uint32_t access_scattered(
    const RegionState* state,
    const void* addresses,
    std::byte* numbers,
    std::uint32_t mask) {
  const auto* const own = static_cast<const Address<kIsShared>*>(addresses);
  if constexpr (kIsShared) {
    if (!is_shared_memory<sizeof(T) * kCount>(own, state->shared_bytes)) {
      return 0;
    }
  } else {
    if (!is_known_memory<sizeof(T) * kCount>(own, *state->ranges, !kIsLoad)) {
      return 0;
    }
  }
  const Lanes<kIsShared> lanes{
      own, reinterpret_cast<std::byte*>(kIsShared ? state->shared : 0)};
  if constexpr (kIsLoad) {
    load_lanes<T, kCount>(lanes, numbers);
  } else if (mask == kAllLanes) {
#pragma GCC unroll 32
    for (int lane = 0; lane < kLanes; ++lane) {
      store_lane<T, kCount>(lanes, lane, numbers);
    }
  } else {
    for (; mask != 0; mask &= mask - 1) {
      store_lane<T, kCount>(lanes, __builtin_ctz(mask), numbers);
    }
  }
  return 1;
}

enum class Arithmetic { kAdd, kSubtract, kMultiply, kFused };

/// @tparam kMode of SSE, for the time of this function alone.
template <Arithmetic kOperation, unsigned kMode>
[[gnu::target("avx2,fma")]] void compute_rounded(float* numbers) {
  using Part = __m256;
  constexpr int kPart = sizeof(Part) / sizeof(float);
  const RoundingMode rounding(kMode);
#pragma GCC unroll 4
  for (int lane = 0; lane < kLanes; lane += kPart) {
    const float* const from = numbers + lane;
    const Part a = _mm256_loadu_ps(from);
    const Part b = _mm256_loadu_ps(from + kLanes);
    Part result;
    switch (kOperation) {
      case Arithmetic::kAdd:
        result = _mm256_add_ps(a, b);
        break;
      case Arithmetic::kSubtract:
        result = _mm256_sub_ps(a, b);
        break;
      case Arithmetic::kMultiply:
        result = _mm256_mul_ps(a, b);
        break;
      case Arithmetic::kFused:
        result = _mm256_fmadd_ps(a, b, _mm256_loadu_ps(from + 2 * kLanes));
        break;
    }
    _mm256_storeu_ps(numbers + lane, result);
  }
}

template <Arithmetic kOperation>
RoundedArithmetic* rounded_by(const std::string& rounding) {
  return rounding == "rz" ? &compute_rounded<kOperation, RoundingMode::kToZero>
      : rounding == "rm"  ? &compute_rounded<kOperation, RoundingMode::kDown>
      : rounding == "rp"  ? &compute_rounded<kOperation, RoundingMode::kUp>
                          : nullptr;
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

RoundedArithmetic* rounded_arithmetic(
    const std::string& operation,
    const std::string& rounding,
    int* operands) {
  *operands = operation == "fma" || operation == "mad" ? 3 : 2;
  return *operands == 3    ? rounded_by<Arithmetic::kFused>(rounding)
      : operation == "add" ? rounded_by<Arithmetic::kAdd>(rounding)
      : operation == "sub" ? rounded_by<Arithmetic::kSubtract>(rounding)
      : operation == "mul" ? rounded_by<Arithmetic::kMultiply>(rounding)
                           : nullptr;
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

#undef CUDASIM_AVX2_INLINE
#undef CUDASIM_AVX2

} // namespace cudasim::engine

#else
#include <cstdlib>

// Compiler::load refuses other processors, so that none of this is called.
namespace cudasim::engine {

ScatteredAccess* scattered_access(bool, bool, int, int) {
  return nullptr;
}

RoundedArithmetic* rounded_arithmetic(
    const std::string&,
    const std::string&,
    int*) {
  return nullptr;
}

void write_affine(
    std::byte*,
    std::uint64_t,
    std::uint64_t,
    std::uint64_t,
    std::uint32_t) {
  std::abort();
}

} // namespace cudasim::engine

#endif

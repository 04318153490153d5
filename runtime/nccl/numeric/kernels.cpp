// Compiled with ACCEL_ISA set to baseline or v3. A block of results at a time
// is kept where the first-level cache has room for it, in the type that is
// computed with: so inputs are read once, and outputs may be inputs.
#include "runtime/nccl/numeric/kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace accelerator::nccl::ACCEL_ISA {
namespace {

constexpr std::size_t kBlock = 1024; // elements, a multiple of 8

/// IEEE's binary16 and the upper half of binary32, as they lie in memory.
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

template <typename To, typename From>
To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// What is computed with: float for the short types.
template <typename T>
struct WideOf {
  using Type = T;
};
template <>
struct WideOf<Half> {
  using Type = float;
};
template <>
struct WideOf<BFloat16> {
  using Type = float;
};
template <typename T>
using Wide = typename WideOf<T>::Type;

template <typename T>
void widen(const T* from, T* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof(T));
}

template <typename T>
void narrow(const T* from, T* to, std::size_t count) {
  if (from != to) {
    std::memcpy(to, from, count * sizeof(T));
  }
}

void widen(const Half* from, float* to, std::size_t count) {
  std::size_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= count; i += 8) {
    const __m128i bits =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
#endif
  for (; i < count; ++i) {
    to[i] = static_cast<float>(bit_cast<_Float16>(from[i].bits));
  }
}

void narrow(const float* from, Half* to, std::size_t count) {
  std::size_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= count; i += 8) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
#endif
  for (; i < count; ++i) {
    to[i].bits = bit_cast<std::uint16_t>(static_cast<_Float16>(from[i]));
  }
}

void widen(const BFloat16* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = bit_cast<float>(static_cast<std::uint32_t>(from[i].bits) << 16);
  }
}

void narrow(const float* from, BFloat16* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = bit_cast<std::uint32_t>(from[i]);
    const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const std::uint32_t quiet_nan = bits >> 16 | 0x40;
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    to[i].bits = static_cast<std::uint16_t>(is_nan ? quiet_nan : rounded);
  }
}

/// Integers as they are added and multiplied: without a sign, because they
/// wrap, and not narrower than int, to which C++ promotes them.
template <typename T>
struct WrappingOf {
  using Type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <>
struct WrappingOf<float> {
  using Type = float;
};
template <>
struct WrappingOf<double> {
  using Type = double;
};

template <typename W>
W add(W a, W b) {
  using U = typename WrappingOf<W>::Type;
  return static_cast<W>(static_cast<U>(a) + static_cast<U>(b));
}

template <typename W>
W multiply(W a, W b) {
  using U = typename WrappingOf<W>::Type;
  return static_cast<W>(static_cast<U>(a) * static_cast<U>(b));
}

template <typename W>
W divide_by(W sum, std::size_t ranks) {
  // With a divisor of the same sign, or the quotient would have none.
  using Divisor =
      std::conditional_t<std::is_signed_v<W>, std::int64_t, std::uint64_t>;
  return static_cast<W>(
      static_cast<Divisor>(sum) / static_cast<Divisor>(ranks));
}

/// What a rank's elements are multiplied by before they are added.
template <typename T, Reduction kReduction>
Wide<T> factor_of(const Input& input, std::size_t ranks) {
  if constexpr (kReduction == Reduction::kScaledSum) {
    T factor;
    std::memcpy(&factor, &input.factor, sizeof(factor));
    Wide<T> wide;
    widen(&factor, &wide, 1);
    return wide;
  } else if constexpr (
      kReduction == Reduction::kMean && !std::is_integral_v<T>) {
    return Wide<T>(1) / static_cast<Wide<T>>(ranks);
  } else {
    return Wide<T>(1);
  }
}

template <typename T, Reduction kReduction>
constexpr bool kScales = kReduction == Reduction::kScaledSum ||
    (kReduction == Reduction::kMean && !std::is_integral_v<T>);

/// An input's elements as they are computed with: in `block`, or where they are
/// when nothing has to be done to them.
template <typename T, Reduction kReduction>
const Wide<T>* prepare(
    const Input& input,
    std::size_t begin,
    std::size_t size,
    std::size_t ranks,
    Wide<T>* block) {
  const T* data = static_cast<const T*>(input.data) + begin;
  if constexpr (std::is_same_v<T, Wide<T>> && !kScales<T, kReduction>) {
    return data;
  } else {
    widen(data, block, size);
    if constexpr (kScales<T, kReduction>) {
      const Wide<T> factor = factor_of<T, kReduction>(input, ranks);
      for (std::size_t i = 0; i < size; ++i) {
        block[i] = multiply(block[i], factor);
      }
    }
    return block;
  }
}

template <Reduction kReduction, typename W>
W combine(W a, W b) {
  if constexpr (kReduction == Reduction::kProduct) {
    return multiply(a, b);
  } else if constexpr (kReduction == Reduction::kMaximum) {
    return a > b || b != b ? a : b;
  } else if constexpr (kReduction == Reduction::kMinimum) {
    return a < b || b != b ? a : b;
  } else {
    return add(a, b);
  }
}

template <typename T, Reduction kReduction>
void run(
    const std::vector<Input>& inputs,
    const std::vector<void*>& outputs,
    std::size_t count) {
  using W = Wide<T>;
  const std::size_t ranks = inputs.size();
  alignas(64) std::array<W, kBlock> sums;
  alignas(64) std::array<W, kBlock> block;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t size = std::min(kBlock, count - begin);
    const auto prepared = [&](std::size_t rank, W* values) {
      return prepare<T, kReduction>(inputs[rank], begin, size, ranks, values);
    };
    const W* results = prepared(0, sums.data());
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      const W* values = prepared(rank, block.data());
      for (std::size_t i = 0; i < size; ++i) {
        sums[i] = combine<kReduction>(results[i], values[i]);
      }
      results = sums.data();
    }
    if constexpr (kReduction == Reduction::kMean && std::is_integral_v<T>) {
      for (std::size_t i = 0; i < size; ++i) {
        sums[i] = divide_by(results[i], ranks);
      }
      results = sums.data();
    }
    for (void* output : outputs) {
      narrow(results, static_cast<T*>(output) + begin, size);
    }
  }
}

template <typename T>
Kernel kernel_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return run<T, Reduction::kSum>;
    case Reduction::kProduct:
      return run<T, Reduction::kProduct>;
    case Reduction::kMaximum:
      return run<T, Reduction::kMaximum>;
    case Reduction::kMinimum:
      return run<T, Reduction::kMinimum>;
    case Reduction::kMean:
      return run<T, Reduction::kMean>;
    case Reduction::kScaledSum:
      return run<T, Reduction::kScaledSum>;
  }
  return nullptr;
}

} // namespace

Kernel find_kernel(ncclDataType_t type, Reduction reduction) {
  switch (type) {
    case ncclInt8:
      return kernel_of<std::int8_t>(reduction);
    case ncclUint8:
      return kernel_of<std::uint8_t>(reduction);
    case ncclInt32:
      return kernel_of<std::int32_t>(reduction);
    case ncclUint32:
      return kernel_of<std::uint32_t>(reduction);
    case ncclInt64:
      return kernel_of<std::int64_t>(reduction);
    case ncclUint64:
      return kernel_of<std::uint64_t>(reduction);
    case ncclFloat16:
      return kernel_of<Half>(reduction);
    case ncclFloat32:
      return kernel_of<float>(reduction);
    case ncclFloat64:
      return kernel_of<double>(reduction);
    case ncclBfloat16:
      return kernel_of<BFloat16>(reduction);
    default:
      return nullptr;
  }
}

} // namespace accelerator::nccl::ACCEL_ISA

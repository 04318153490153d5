// Integer arithmetic against plain C++ in 128 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using Wide = __int128;

template <typename T>
constexpr int kBits = sizeof(T) * 8;
/// The type of twice the width, for mul.wide.
template <typename T>
using Double = std::conditional_t<
    sizeof(T) == 2,
    std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <typename T>
T high(T a, T b) {
  // Unsigned 64-bit products do not fit into a signed 128-bit number.
  using Product =
      std::conditional_t<std::is_signed_v<T>, Wide, unsigned __int128>;
  return static_cast<T>(
      static_cast<Product>(a) * static_cast<Product>(b) >> kBits<T>);
}
template <typename T>
T low(T a, T b) {
  return static_cast<T>(static_cast<unsigned __int128>(a) * b);
}
template <typename T>
T wrapped(Wide value) {
  return static_cast<T>(value);
}
std::int32_t clamped(Wide value) {
  return static_cast<std::int32_t>(std::clamp<Wide>(
      value,
      std::numeric_limits<std::int32_t>::min(),
      std::numeric_limits<std::int32_t>::max()));
}

template <typename T>
void check_type(const std::string& type) {
  const auto name = [&](const std::string& operation) {
    return operation + "." + type;
  };
  check<T, T, T>(name("add"), [](T a, T b) { return wrapped<T>(Wide{a} + b); });
  check<T, T, T>(name("sub"), [](T a, T b) { return wrapped<T>(Wide{a} - b); });
  check<T, T, T>(name("mul.lo"), low<T>);
  check<T, T, T>(name("mul.hi"), high<T>);
  check<T, T, T, T>(name("mad.lo"), [](T a, T b, T c) {
    return wrapped<T>(Wide{low(a, b)} + c);
  });
  check<T, T, T, T>(name("mad.hi"), [](T a, T b, T c) {
    return wrapped<T>(Wide{high(a, b)} + c);
  });
  check<T, T, T>(name("min"), [](T a, T b) { return std::min(a, b); });
  check<T, T, T>(name("max"), [](T a, T b) { return std::max(a, b); });
  check<T, T, T, T>(name("sad"), [](T a, T b, T c) {
    const Wide difference = Wide{a} - b;
    return wrapped<T>(c + (difference < 0 ? -difference : difference));
  });
  // By zero PTX leaves the results open; a GPU gives all ones.
  check<T, T, T>(name("div"), [](T a, T b) {
    return b == 0 ? static_cast<T>(-1) : wrapped<T>(Wide{a} / b);
  });
  check<T, T, T>(name("rem"), [](T a, T b) {
    return b == 0 ? static_cast<T>(-1) : wrapped<T>(Wide{a} % b);
  });
}

TEST(Integer, ArithmeticWrapsAround) {
  check_type<std::int16_t>("s16");
  check_type<std::uint16_t>("u16");
  check_type<std::int32_t>("s32");
  check_type<std::uint32_t>("u32");
  check_type<std::int64_t>("s64");
  check_type<std::uint64_t>("u64");
}

template <typename T>
void check_signed(const std::string& type) {
  check<T, T>("abs." + type, [](T a) {
    return wrapped<T>(a < 0 ? -Wide{a} : Wide{a});
  });
  check<T, T>("neg." + type, [](T a) { return wrapped<T>(-Wide{a}); });
}

TEST(Integer, SignsChange) {
  check_signed<std::int16_t>("s16");
  check_signed<std::int32_t>("s32");
  check_signed<std::int64_t>("s64");
}

template <typename T>
void check_wide(const std::string& type) {
  using W = Double<T>;
  check<W, T, T>("mul.wide." + type, [](T a, T b) {
    return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
  });
  check<W, T, T, W>("mad.wide." + type, [](T a, T b, W c) {
    return static_cast<W>(Wide{a} * b + c);
  });
}

TEST(Integer, WideProductsHaveTwiceTheBits) {
  check_wide<std::int16_t>("s16");
  check_wide<std::uint16_t>("u16");
  check_wide<std::int32_t>("s32");
  check_wide<std::uint32_t>("u32");
}

TEST(Integer, SaturatesAtTheBordersOfS32) {
  using T = std::int32_t;
  check<T, T, T>("add.sat.s32", [](T a, T b) { return clamped(Wide{a} + b); });
  check<T, T, T>("sub.sat.s32", [](T a, T b) { return clamped(Wide{a} - b); });
  check<T, T, T, T>("mad.hi.sat.s32", [](T a, T b, T c) {
    return clamped(Wide{high(a, b)} + c);
  });
}

std::int32_t signed24(std::uint32_t a) {
  const auto low = static_cast<std::int32_t>(a & 0xffffff);
  return low >= 0x800000 ? low - 0x1000000 : low;
}

TEST(Integer, Multiplies24Bits) {
  using S = std::int32_t;
  using U = std::uint32_t;
  const auto product = [](S a, S b) {
    return Wide{signed24(static_cast<U>(a))} * signed24(static_cast<U>(b));
  };
  const auto unsigned_product = [](U a, U b) {
    return Wide{a & 0xffffff} * (b & 0xffffff);
  };
  // The lower 32 bits of 48, or the upper ones.
  for (const int shift : {0, 16}) {
    const std::string part = shift == 0 ? "lo." : "hi.";
    check<S, S, S>("mul24." + part + "s32", [&](S a, S b) {
      return wrapped<S>(product(a, b) >> shift);
    });
    check<S, S, S, S>("mad24." + part + "s32", [&](S a, S b, S c) {
      return wrapped<S>((product(a, b) >> shift) + c);
    });
    check<U, U, U>("mul24." + part + "u32", [&](U a, U b) {
      return wrapped<U>(unsigned_product(a, b) >> shift);
    });
    check<U, U, U, U>("mad24." + part + "u32", [&](U a, U b, U c) {
      return wrapped<U>((unsigned_product(a, b) >> shift) + c);
    });
  }
  check<S, S, S, S>("mad24.hi.sat.s32", [&](S a, S b, S c) {
    return clamped((product(a, b) >> 16) + c);
  });
}

template <typename T>
std::uint32_t ones(T a) {
  std::uint32_t count = 0;
  for (int i = 0; i < kBits<T>; ++i) {
    count += a >> i & 1;
  }
  return count;
}
template <typename T>
std::uint32_t leading_zeros(T a) {
  std::uint32_t count = 0;
  for (int i = kBits<T> - 1; i >= 0 && (a >> i & 1) == 0; --i) {
    ++count;
  }
  return count;
}

TEST(Integer, CountsBits) {
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  check<U32, U32>("popc.b32", ones<U32>);
  check<U32, U64>("popc.b64", ones<U64>);
  check<U32, U32>("clz.b32", leading_zeros<U32>);
  check<U32, U64>("clz.b64", leading_zeros<U64>);
}

/// The position of the highest bit that is not a copy of the sign.
template <typename T>
std::uint32_t highest(T a) {
  const bool sign = std::is_signed_v<T> && a < 0;
  for (int i = kBits<T> - 1; i >= 0; --i) {
    if (((a >> i & 1) != 0) != sign) {
      return static_cast<std::uint32_t>(i);
    }
  }
  return 0xffffffffu;
}

template <typename T>
void check_find(const std::string& type) {
  check<std::uint32_t, T>("bfind." + type, highest<T>);
  check<std::uint32_t, T>("bfind.shiftamt." + type, [](T a) {
    const std::uint32_t position = highest(a);
    return position == 0xffffffffu
        ? position
        : static_cast<std::uint32_t>(kBits<T>) - 1 - position;
  });
}

TEST(Integer, FindsTheHighestBit) {
  check_find<std::int32_t>("s32");
  check_find<std::uint32_t>("u32");
  check_find<std::int64_t>("s64");
  check_find<std::uint64_t>("u64");
}

/// Element `index` of `bits` bits, with or without a sign.
std::int64_t element(std::uint32_t word, int index, int bits, bool is_signed) {
  std::int64_t value = word >> (index * bits) & ((1u << bits) - 1);
  return is_signed && value >= 1 << (bits - 1) ? value - (1 << bits) : value;
}

TEST(Integer, DotProductsOfBytes) {
  using U = std::uint32_t;
  for (const bool a_signed : {false, true}) {
    for (const bool b_signed : {false, true}) {
      const std::string types = std::string(a_signed ? ".s32" : ".u32") +
          (b_signed ? ".s32" : ".u32");
      check<U, U, U, U>("dp4a" + types, [&](U a, U b, U c) {
        std::int64_t sum = c;
        for (int i = 0; i < 4; ++i) {
          sum += element(a, i, 8, a_signed) * element(b, i, 8, b_signed);
        }
        return static_cast<U>(sum);
      });
      for (const int half : {0, 1}) {
        const std::string name = half == 0 ? "dp2a.lo" : "dp2a.hi";
        check<U, U, U, U>(name + types, [&](U a, U b, U c) {
          std::int64_t sum = c;
          for (int i = 0; i < 2; ++i) {
            sum += element(a, i, 16, a_signed) *
                element(b, 2 * half + i, 8, b_signed);
          }
          return static_cast<U>(sum);
        });
      }
    }
  }
}

TEST(Integer, DistancesOfHalvesAndBytes) {
  using U = std::uint32_t;
  for (const int count : {2, 4}) {
    const std::string name = "vabsdiff" + std::to_string(count);
    const int bits = 32 / count;
    for (const bool is_signed : {false, true}) {
      const auto distance = [=](U a, U b, int i) {
        return std::abs(
            element(a, i, bits, is_signed) - element(b, i, bits, is_signed));
      };
      const auto in_places = [=](U a, U b, U) {
        U word = 0;
        for (int i = 0; i < count; ++i) {
          word |= static_cast<U>(distance(a, b, i)) << (i * bits);
        }
        return word;
      };
      const auto sum = [=](U a, U b, U c) {
        for (int i = 0; i < count; ++i) {
          c += static_cast<U>(distance(a, b, i));
        }
        return c;
      };
      const std::string types = is_signed ? ".s32.s32" : ".u32.u32";
      check<U, U, U, U>(name + ".u32" + types, in_places);
      check<U, U, U, U>(name + ".u32" + types + ".add", sum);
      if (is_signed) {
        check<U, U, U, U>(name + ".s32" + types + ".add", sum);
      }
    }
  }
}

/// What each element of a word becomes, by itself.
/// @tparam T of an element.
template <typename T, typename F>
void check_elements(const std::string& name, F one) {
  check<std::uint32_t, std::uint32_t, std::uint32_t>(
      name, [&](std::uint32_t a, std::uint32_t b) {
        constexpr std::size_t kCount = 4 / sizeof(T);
        T x[kCount];
        T y[kCount];
        T z[kCount];
        std::memcpy(x, &a, 4);
        std::memcpy(y, &b, 4);
        for (std::size_t i = 0; i < kCount; ++i) {
          z[i] = static_cast<T>(one(std::int32_t{x[i]}, std::int32_t{y[i]}));
        }
        std::uint32_t word = 0;
        std::memcpy(&word, z, 4);
        return word;
      });
}

template <typename T>
void check_packed(const std::string& type) {
  using I32 = std::int32_t;
  const auto clamped = [](I32 x) {
    return std::clamp<I32>(
        x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  };
  const auto positive = [](I32 x) { return std::max(x, 0); };
  check_elements<T>("add." + type, [](I32 a, I32 b) { return a + b; });
  check_elements<T>("min." + type, [](I32 a, I32 b) { return std::min(a, b); });
  check_elements<T>("max." + type, [](I32 a, I32 b) { return std::max(a, b); });
  if (std::is_signed_v<T>) {
    check_elements<T>("min.relu." + type, [&](I32 a, I32 b) {
      return positive(std::min(a, b));
    });
    check_elements<T>("max.relu." + type, [&](I32 a, I32 b) {
      return positive(std::max(a, b));
    });
  }
  if (sizeof(T) == 1) {
    check_elements<T>("sub." + type, [](I32 a, I32 b) { return a - b; });
    check_elements<T>(
        "add.sat." + type, [&](I32 a, I32 b) { return clamped(a + b); });
    check_elements<T>(
        "sub.sat." + type, [&](I32 a, I32 b) { return clamped(a - b); });
  }
}

TEST(Integer, ElementsOfAWord) {
  check_packed<std::uint16_t>("u16x2");
  check_packed<std::int16_t>("s16x2");
  check_packed<std::uint8_t>("u8x4");
  check_packed<std::int8_t>("s8x4");
}

TEST(Integer, NothingBelowZero) {
  using I32 = std::int32_t;
  check<I32, I32, I32>(
      "min.relu.s32", [](I32 a, I32 b) { return std::max(std::min(a, b), 0); });
  check<I32, I32, I32>(
      "max.relu.s32", [](I32 a, I32 b) { return std::max({a, b, 0}); });
}

} // namespace
} // namespace cudasim::engine::testing

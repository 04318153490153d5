// The types that instruction tests compute with: how a value lies in a
// register, and which values are worth trying.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace cudasim::engine::testing {

/// The bits of 16-bit floats, single and in pairs (the low half first).
struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};
struct F16x2 {
  std::uint32_t bits;
};
struct BF16x2 {
  std::uint32_t bits;
};
/// The bits of a pair of floats.
struct F32x2 {
  std::uint64_t bits;
};
/// A predicate register.
struct Pred {
  bool value;
  operator bool() const {
    return value;
  }
};
/// Shift amounts, positions and lengths of bit fields: 32 bits, small mostly.
struct Amount {
  std::uint32_t value;
  operator std::uint32_t() const {
    return value;
  }
};

template <typename To, typename From>
To bits_to(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// The class of register that a type needs.
enum class Register : std::uint8_t { kPredicate, k16, k32, k64 };

/// One value of a register; bits above its width are 0.
using Bits = std::uint64_t;

/// Values to try first for a register of a kind: borders of its numbers.
std::vector<Bits> integer_edges(int bits);
std::vector<Bits> float_edges(int bits); // 16, 32 or 64
std::vector<Bits> bfloat_edges();
std::vector<Bits> pairs(const std::vector<Bits>& halves, int bits = 16);
std::vector<Bits> amount_edges();

/// What the harness has to know of a type.
template <typename T>
struct Kind {
  static constexpr Register kRegister = sizeof(T) == 2 ? Register::k16
      : sizeof(T) == 4                                 ? Register::k32
                                                       : Register::k64;
  static Bits pack(T value) {
    Bits bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
  }
  static T unpack(Bits bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  static std::vector<Bits> edges() {
    return integer_edges(sizeof(T) * 8);
  }
  static bool same(Bits a, Bits b) {
    return a == b;
  }
};
template <>
struct Kind<Pred> {
  static constexpr Register kRegister = Register::kPredicate;
  static Bits pack(Pred value) {
    return value ? 1 : 0;
  }
  static Pred unpack(Bits bits) {
    return {bits != 0};
  }
  static std::vector<Bits> edges() {
    return {0, 1};
  }
  static bool same(Bits a, Bits b) {
    return a == b;
  }
};
template <>
inline std::vector<Bits> Kind<Amount>::edges() {
  return amount_edges();
}
template <>
inline std::vector<Bits> Kind<float>::edges() {
  return float_edges(32);
}
template <>
inline std::vector<Bits> Kind<double>::edges() {
  return float_edges(64);
}
template <>
inline std::vector<Bits> Kind<F16>::edges() {
  return float_edges(16);
}
template <>
inline std::vector<Bits> Kind<BF16>::edges() {
  return bfloat_edges();
}
template <>
inline std::vector<Bits> Kind<F16x2>::edges() {
  return pairs(float_edges(16));
}
template <>
inline std::vector<Bits> Kind<BF16x2>::edges() {
  return pairs(bfloat_edges());
}
template <>
inline std::vector<Bits> Kind<F32x2>::edges() {
  return pairs(float_edges(32), 32);
}

/// Whether two 16-bit floats are the same bits, or both NaN.
inline bool same_sixteen(Bits a, Bits b, Bits exponent) {
  const auto is_nan = [&](Bits x) { return (x & 0x7fff) > exponent; };
  return a == b || (is_nan(a) && is_nan(b));
}
// Which NaN an instruction gives is not compared.
template <>
inline bool Kind<float>::same(Bits a, Bits b) {
  const float x = unpack(a);
  const float y = unpack(b);
  return a == b || (x != x && y != y);
}
template <>
inline bool Kind<double>::same(Bits a, Bits b) {
  const double x = unpack(a);
  const double y = unpack(b);
  return a == b || (x != x && y != y);
}
template <>
inline bool Kind<F16>::same(Bits a, Bits b) {
  return same_sixteen(a, b, 0x7c00);
}
template <>
inline bool Kind<BF16>::same(Bits a, Bits b) {
  return same_sixteen(a, b, 0x7f80);
}
template <>
inline bool Kind<F16x2>::same(Bits a, Bits b) {
  return same_sixteen(a & 0xffff, b & 0xffff, 0x7c00) &&
      same_sixteen(a >> 16, b >> 16, 0x7c00);
}
template <>
inline bool Kind<BF16x2>::same(Bits a, Bits b) {
  return same_sixteen(a & 0xffff, b & 0xffff, 0x7f80) &&
      same_sixteen(a >> 16, b >> 16, 0x7f80);
}

template <>
inline bool Kind<F32x2>::same(Bits a, Bits b) {
  const auto half = [](Bits x) { return x & 0xffffffff; };
  return Kind<float>::same(half(a), half(b)) &&
      Kind<float>::same(a >> 32, b >> 32);
}

} // namespace cudasim::engine::testing

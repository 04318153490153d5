// Logic, shifts, bit fields, moves and permutations against loops over bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using U16 = std::uint16_t;
using I32 = std::int32_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <typename T>
constexpr int kBits = sizeof(T) * 8;

/// Bit i of a value that goes on with its sign.
template <typename T>
bool bit(T value, std::int64_t i) {
  if (i >= kBits<T>) {
    return value < 0;
  }
  return i >= 0 && (value >> i & 1) != 0;
}
template <typename T>
T shifted(T value, std::int64_t by) {
  T result = 0;
  for (int i = 0; i < kBits<T>; ++i) {
    if (bit(value, i - by)) {
      result = static_cast<T>(result | static_cast<T>(U64{1} << i));
    }
  }
  return result;
}

template <typename T>
void check_width(const std::string& bits) {
  using S = std::make_signed_t<T>;
  check<T, T, T>("and.b" + bits, [](T a, T b) { return T(a & b); });
  check<T, T, T>("or.b" + bits, [](T a, T b) { return T(a | b); });
  check<T, T, T>("xor.b" + bits, [](T a, T b) { return T(a ^ b); });
  check<T, T>("not.b" + bits, [](T a) { return T(~a); });
  check<T, T>("cnot.b" + bits, [](T a) { return T(a == 0); });
  check<T, T, Amount>("shl.b" + bits, [](T a, U32 b) {
    return shifted<T>(a, std::min<U32>(b, 64));
  });
  for (const char* type : {"b", "u"}) {
    check<T, T, Amount>("shr." + (type + bits), [](T a, U32 b) {
      return shifted<T>(a, -std::int64_t{b});
    });
  }
  check<S, S, Amount>("shr.s" + bits, [](S a, U32 b) {
    return shifted<S>(a, -std::int64_t{b});
  });
  for (const char* type : {"b", "u", "s"}) {
    check<T, T>("mov." + (type + bits), [](T a) { return a; });
    check<T, T, T, Pred>(
        "selp." + (type + bits), [](T a, T b, bool p) { return p ? a : b; });
  }
}

TEST(Logic, BitsShiftsAndSelections) {
  check_width<U16>("16");
  check_width<U32>("32");
  check_width<U64>("64");
}

TEST(Logic, AnImmediateAmountShiftsAsOneInARegister) {
  for (const int amount : {0, 1, 31, 32, 33, 255}) {
    const std::string text = " $d0, $0, " + std::to_string(amount) + ";";
    check<U32, U32>(
        "shl.b32",
        [&](U32 a) { return shifted<U32>(a, amount); },
        "shl.b32" + text);
    check<std::int32_t, std::int32_t>(
        "shr.s32",
        [&](std::int32_t a) { return shifted<std::int32_t>(a, -amount); },
        "shr.s32" + text);
    check<U64, U64>(
        "shr.u64",
        [&](U64 a) { return shifted<U64>(a, -amount); },
        "shr.u64" + text);
  }
}

TEST(Logic, MovesFloatsBitForBit) {
  check<U32, U32>("mov.f32", [](U32 a) { return a; });
  check<U64, U64>("mov.f64", [](U64 a) { return a; });
  const auto select = [](auto a, auto b, bool p) { return p ? a : b; };
  check<U32, U32, U32, Pred>("selp.f32", select);
  check<U64, U64, U64, Pred>("selp.f64", select);
}

TEST(Logic, AnInvertedPredicateSelectsTheOther) {
  check<U32, U32, U32, Pred>(
      "selp.u32",
      [](U32 a, U32 b, bool p) { return p ? b : a; },
      "selp.u32 $d0, $1, $0, $2;");
}

TEST(Logic, VectorMovesPackAndUnpack) {
  check<U64, U32, U32>(
      "mov.b64",
      [](U64 a, U64 b) { return b << 32 | a; },
      "mov.b64 $d0, {$0, $1};");
  check<U32, U16, U16>(
      "mov.b32",
      [](U32 a, U32 b) { return b << 16 | a; },
      "mov.b32 $d0, {$0, $1};");
  check<U64, U16, U16, U16, U16>(
      "mov.b64",
      [](U64 a, U64 b, U64 c, U64 d) {
        return d << 48 | c << 32 | b << 16 | a;
      },
      "mov.b64 $d0, {$0, $1, $2, $3};");
  check<U32, U64>(
      "mov.b64",
      [](U64 a) { return static_cast<U32>(a) ^ static_cast<U32>(a >> 32); },
      "{.reg .b32 %x, %y;\nmov.b64 {%x, %y}, $0;\nxor.b32 $d0, %x, %y;\n}\n");
  check<U16, U32>(
      "mov.b32",
      [](U32 a) { return static_cast<U16>(a >> 16); },
      "mov.b32 {_, $d0}, $0;");
  check<U16, U64>(
      "mov.b64",
      [](U64 a) { return static_cast<U16>(a >> 32); },
      "{.reg .b16 %x, %y, %z;\nmov.b64 {%x, %y, $d0, %z}, $0;\n}\n");
}

// As the headers of CUDA 13 do after conversions to numbers of eight bits.
TEST(Logic, VectorMovesPackAndUnpackBytes) {
  check<U16, U16>(
      "mov.b16",
      [](U32 a) { return static_cast<U16>(a & 0xff); },
      "{.reg .b8 %x;\ncvt.u8.u16 %x, $0;\nmov.b16 $d0, {%x, 0};\n}\n");
  check<U16, U16, U16>(
      "mov.b16",
      [](U32 a, U32 b) {
        return static_cast<U16>((b & 0xff) << 8 | (a & 0xff));
      },
      "{.reg .b8 %x, %y;\ncvt.u8.u16 %x, $0;\ncvt.u8.u16 %y, $1;\n"
      "mov.b16 $d0, {%x, %y};\n}\n");
  check<U32, U16, U16>(
      "mov.b32",
      [](U32 a, U32 b) {
        return (b & 0xff) << 24 | 3u << 16 | (a & 0xff) << 8 | (b & 0xff);
      },
      "{.reg .b8 %x, %y;\ncvt.u8.u16 %x, $0;\ncvt.u8.u16 %y, $1;\n"
      "mov.b32 $d0, {%y, %x, 3, %y};\n}\n");
  check<U16, U32>(
      "mov.b32",
      [](U32 a) { return static_cast<U16>(a >> 16 & 0xff); },
      "{.reg .b8 %x;\nmov.b32 {_, _, %x, _}, $0;\ncvt.u16.u8 $d0, %x;\n}\n");
  check<U16, U16>(
      "mov.b16",
      [](U32 a) { return static_cast<U16>(a >> 8 & 0xff); },
      "{.reg .b8 %x;\nmov.b16 {_, %x}, $0;\ncvt.u16.u8 $d0, %x;\n}\n");
}

template <typename T>
void check_fields(const std::string& bits) {
  using S = std::make_signed_t<T>;
  check<T, T>("brev.b" + bits, [](T a) {
    T result = 0;
    for (int i = 0; i < kBits<T>; ++i) {
      result |= static_cast<T>(bit(a, i)) << (kBits<T> - 1 - i);
    }
    return result;
  });
  // The loops of PTX ISA 9.7.1 (bfe, bfi) over the bits of the result.
  const auto extract = [](auto a, U32 position, U32 length) {
    using A = decltype(a);
    const auto begin = static_cast<int>(position & 0xff);
    const auto count = static_cast<int>(length & 0xff);
    const int top = kBits<A> - 1;
    const bool sign = std::is_unsigned_v<A> || count == 0
        ? false
        : bit(a, std::min(begin + count - 1, top));
    A result = 0;
    for (int i = 0; i <= top; ++i) {
      const bool set = i < count && begin + i <= top ? bit(a, begin + i) : sign;
      result = static_cast<A>(result | static_cast<A>(U64{set} << i));
    }
    return result;
  };
  check<T, T, Amount, Amount>(
      "bfe.u" + bits, [&](T a, U32 b, U32 c) { return extract(a, b, c); });
  check<S, S, Amount, Amount>(
      "bfe.s" + bits, [&](S a, U32 b, U32 c) { return extract(a, b, c); });
  check<T, T, T, Amount, Amount>(
      "bfi.b" + bits, [](T a, T b, U32 position, U32 length) {
        const auto begin = static_cast<int>(position & 0xff);
        const auto count = static_cast<int>(length & 0xff);
        T result = b;
        for (int i = 0; i < count && begin + i < kBits<T>; ++i) {
          const T mask = static_cast<T>(U64{1} << (begin + i));
          result = bit(a, i) ? result | mask : result & ~mask;
        }
        return result;
      });
}

TEST(Logic, BitFields) {
  check_fields<U32>("32");
  check_fields<U64>("64");
}

TEST(Logic, TheNthSetBit) {
  // The loop of PTX ISA 9.7.1 (fns).
  const auto find = [](U32 mask, U32 base, I32 offset) {
    if (offset == 0) {
      return base < 32 && bit(mask, static_cast<int>(base)) ? base : ~0u;
    }
    std::int64_t count = std::abs(std::int64_t{offset}) - 1;
    for (std::int64_t position = base; position >= 0 && position < 32;
         position += offset > 0 ? 1 : -1) {
      if (bit(mask, static_cast<int>(position)) && count-- == 0) {
        return static_cast<U32>(position);
      }
    }
    return ~0u;
  };
  check<U32, U32, Amount, Amount>("fns.b32", [&](U32 a, U32 b, U32 c) {
    return find(a, b, static_cast<I32>(c));
  });
  check<U32, U32, Amount, Amount>(
      "fns.b32",
      [&](U32 a, U32 b, U32 c) { return find(a, b % 32, -I32(c % 64)); },
      "{.reg .b32 %base, %n;\nand.b32 %base, $1, 31;\nand.b32 %n, $2, 63;\n"
      "neg.s32 %n, %n;\nfns.b32 $d0, $0, %base, %n;\n}\n");
}

TEST(Logic, FunnelShifts) {
  for (const bool left : {false, true}) {
    for (const bool wrap : {false, true}) {
      const std::string name = std::string("shf.") + (left ? "l" : "r") +
          (wrap ? ".wrap" : ".clamp") + ".b32";
      check<U32, U32, U32, Amount>(name, [&](U32 a, U32 b, U32 c) {
        const int amount = static_cast<int>(wrap ? c % 32 : std::min(c, 32u));
        U32 result = 0;
        for (int i = 0; i < 32; ++i) {
          const int from = left ? 32 + i - amount : i + amount;
          const bool set = from < 32 ? bit(a, from) : bit(b, from - 32);
          result |= U32{set} << i;
        }
        return result;
      });
    }
  }
}

TEST(Logic, Lop3IsAnyFunctionOfThreeBits) {
  for (int table = 0; table < 256; table += 1) {
    check<U32, U32, U32, U32>(
        "lop3.b32",
        [&](U32 a, U32 b, U32 c) {
          U32 result = 0;
          for (int i = 0; i < 32; ++i) {
            const int row = bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i);
            result |= U32(table >> row & 1) << i;
          }
          return result;
        },
        "lop3.b32 $d0, $0, $1, $2, " + std::to_string(table) + ";");
  }
}

TEST(Logic, Lop3TellsWhetherAnyBitIsSet) {
  const auto table_of = [](int table, U32 a, U32 b, U32 c) {
    U32 result = 0;
    for (int i = 0; i < 32; ++i) {
      const int row = bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i);
      result |= U32(table >> row & 1) << i;
    }
    return result;
  };
  for (const int table : {0x80, 0x01, 0x96, 0xfe, 0x00}) {
    for (const bool either : {false, true}) {
      const std::string key = either ? "lop3.or.b32" : "lop3.and.b32";
      const std::string sources =
          ", $0, $1, $2, " + std::to_string(table) + ", ";
      const auto value = [&](U32 a, U32 b, U32 c, bool) {
        return table_of(table, a, b, c);
      };
      const auto test = [&](U32 a, U32 b, U32 c, bool p) {
        const bool any = table_of(table, a, b, c) != 0;
        return Pred{either ? any || p : any && p};
      };
      const auto inverted = [&](U32 a, U32 b, U32 c, bool p) {
        return test(a, b, c, !p);
      };
      check<U32, U32, U32, U32, Pred>(
          key,
          value,
          "{.reg .pred %q;\n" + key + " $d0|%q" + sources + "$3;\n}\n");
      check<Pred, U32, U32, U32, Pred>(
          key,
          test,
          "{.reg .b32 %x;\n" + key + " %x|$d0" + sources + "$3;\n}\n");
      check<Pred, U32, U32, U32, Pred>(
          key,
          inverted,
          "{.reg .b32 %x;\n" + key + " %x|$d0" + sources + "!$3;\n}\n");
    }
  }
}

/// The number's lowest bits, after it was moved to the nearest that they hold.
U32 narrowed(I32 value, int bits, bool is_signed) {
  const std::int64_t high = std::int64_t{1} << (is_signed ? bits - 1 : bits);
  const std::int64_t low = is_signed ? -high : 0;
  const std::int64_t near = std::clamp<std::int64_t>(value, low, high - 1);
  return static_cast<U32>(near & ((std::int64_t{1} << bits) - 1));
}

TEST(Logic, NumbersArePacked) {
  for (const bool is_signed : {false, true}) {
    const std::string sign = is_signed ? "s" : "u";
    check<U32, I32, I32>("cvt.pack.sat." + sign + "16.s32", [&](I32 a, I32 b) {
      return narrowed(a, 16, is_signed) * 65536u + narrowed(b, 16, is_signed);
    });
    for (const int bits : {2, 4, 8}) {
      check<U32, I32, I32, U32>(
          "cvt.pack.sat." + sign + std::to_string(bits) + ".s32.b32",
          [&](I32 a, I32 b, U32 before) {
            // From the highest: what fits of `before`, a, b.
            U32 result = narrowed(b, bits, is_signed);
            result += narrowed(a, bits, is_signed) << bits;
            return result + (before << bits << bits);
          });
    }
  }
}

U32 byte_of(U32 a, U32 b, U32 index) {
  return static_cast<U32>((U64{b} << 32 | a) >> (8 * (index & 7))) & 0xff;
}

/// prmt with the four bytes that `pick` names, from the lowest.
template <typename Pick>
void check_permutation(const std::string& mode, Pick pick) {
  check<U32, U32, U32, U32>("prmt.b32" + mode, [&](U32 a, U32 b, U32 c) {
    U32 result = 0;
    for (U32 i = 0; i < 4; ++i) {
      result |= byte_of(a, b, pick(c & 3, i)) << (8 * i);
    }
    return result;
  });
}

TEST(Logic, Permutations) {
  check<U32, U32, U32, U32>("prmt.b32", [](U32 a, U32 b, U32 c) {
    U32 result = 0;
    for (U32 i = 0; i < 4; ++i) {
      const U32 selector = c >> (4 * i) & 15;
      const U32 byte = byte_of(a, b, selector);
      result |= (selector >= 8 ? (byte >= 128 ? 255 : 0) : byte) << (8 * i);
    }
    return result;
  });
  // The tables of PTX ISA 9.7.9.7, a row for each value of c's low two bits.
  const auto table = [](const U32(&rows)[4][4]) {
    return [&rows](U32 row, U32 i) { return rows[row][i]; };
  };
  static constexpr U32 kForward[4][4] = {
      {0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
  static constexpr U32 kBackward[4][4] = {
      {0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}};
  static constexpr U32 kReplicate[4][4] = {
      {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
  static constexpr U32 kEdgeLeft[4][4] = {
      {0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
  static constexpr U32 kEdgeRight[4][4] = {
      {0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
  static constexpr U32 kReplicate16[4][4] = {
      {0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
  check_permutation(".f4e", table(kForward));
  check_permutation(".b4e", table(kBackward));
  check_permutation(".rc8", table(kReplicate));
  check_permutation(".ecl", table(kEdgeLeft));
  check_permutation(".ecr", table(kEdgeRight));
  check_permutation(".rc16", table(kReplicate16));
}

TEST(Logic, Predicates) {
  const auto pred = [](bool value) { return Pred{value}; };
  check<Pred, Pred, Pred>(
      "and.pred", [&](bool a, bool b) { return pred(a && b); });
  check<Pred, Pred, Pred>(
      "or.pred", [&](bool a, bool b) { return pred(a || b); });
  check<Pred, Pred, Pred>(
      "xor.pred", [&](bool a, bool b) { return pred(a != b); });
  check<Pred, Pred>("not.pred", [&](bool a) { return pred(!a); });
  check<Pred, Pred>("mov.pred", [&](bool a) { return pred(a); });
}

template <typename T>
void check_video(bool left, bool clamp, const std::string& type) {
  const std::string shift = std::string(left ? "vshl." : "vshr.") + type + "." +
      type + ".u32" + (clamp ? ".clamp" : ".wrap");
  for (const std::string operation : {"add", "min", "max"}) {
    check<T, T, Amount, T>(shift + "." + operation, [&](T a, U32 b, T c) {
      const std::int64_t by = clamp ? std::min(b, 32u) : b % 32;
      const T value = shifted<T>(a, left ? by : -by);
      return operation == "add" ? T(U32(value) + U32(c))
          : operation == "min"  ? std::min(value, c)
                                : std::max(value, c);
    });
  }
}

TEST(Logic, VideoShifts) {
  check_video<U32>(true, true, "u32");
  check_video<U32>(true, false, "u32");
  check_video<U32>(false, true, "u32");
  check_video<U32>(false, false, "u32");
  check_video<std::int32_t>(false, true, "s32");
}

} // namespace
} // namespace cudasim::engine::testing

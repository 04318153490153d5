// Arithmetic of several words: each instruction by itself, and chains of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using Wide = unsigned __int128;

enum Operation { kAdd, kSubtract, kMadLow, kMadHigh };

/// What an instruction gives: `T` is unsigned.
template <typename T>
struct Result {
  T value;
  bool carry;
};

template <typename T>
Result<T> compute(
    Operation operation,
    T a,
    T b,
    T c,
    bool carry,
    bool is_signed) {
  constexpr int kBits = sizeof(T) * 8;
  T x = a;
  T y = b;
  if (operation == kMadLow || operation == kMadHigh) {
    const Wide product = Wide{a} * b;
    using S = std::make_signed_t<T>;
    const auto signed_product = static_cast<Wide>(
        static_cast<__int128>(static_cast<S>(a)) * static_cast<S>(b));
    x = operation == kMadLow ? static_cast<T>(product)
        : is_signed          ? static_cast<T>(signed_product >> kBits)
                             : static_cast<T>(product >> kBits);
    y = c;
  }
  if (operation == kSubtract) {
    // A GPU computes x + ~y + carry (measured on an H200).
    const T inverted = static_cast<T>(~y);
    const Wide sum = Wide{x} + inverted + carry;
    return {static_cast<T>(sum), (sum >> kBits) != 0};
  }
  const Wide sum = Wide{x} + y + carry;
  return {static_cast<T>(sum), (sum >> kBits) != 0};
}

/// The carry that an instruction adds: what was written before, or what adds
/// nothing.
bool carry_of(bool reads, Operation operation, bool carry) {
  return reads ? carry : operation == kSubtract;
}

/// The instruction between one that sets the carry from a predicate, and one
/// that reads it.
template <typename T>
void check_one(
    const std::string& text,
    Operation operation,
    bool reads,
    bool writes,
    const std::string& type) {
  const bool three = operation == kMadLow || operation == kMadHigh;
  const bool is_signed = type[0] == 's';
  const std::string code = "selp.u32 %x, 1, 0, $3;\nadd.cc.u32 %x, %x, -1;\n" +
      text + "." + type + " $d0, $0, $1" + (three ? ", $2" : "") + ";\n";
  check<T, T, T, T, Pred>(
      text + "." + type,
      [&](T a, T b, T c, bool carry) {
        return compute<T>(
                   operation,
                   a,
                   b,
                   c,
                   carry_of(reads, operation, carry),
                   is_signed)
            .value;
      },
      "{.reg .b32 %x;\n" + code + "}\n");
  if (writes) {
    for (const bool subtracts : {false, true}) {
      check<std::uint32_t, T, T, T, Pred>(
          text + "." + type,
          [&](T a, T b, T c, bool carry) -> std::uint32_t {
            const bool out = compute<T>(
                                 operation,
                                 a,
                                 b,
                                 c,
                                 carry_of(reads, operation, carry),
                                 is_signed)
                                 .carry;
            return subtracts ? (out ? 0 : -1) : (out ? 1 : 0);
          },
          "{.reg .b32 %x;\n.reg .b" + std::to_string(sizeof(T) * 8) +
              " %y;\nselp.u32 %x, 1, 0, $3;\nadd.cc.u32 %x, %x, -1;\n" + text +
              "." + type + " %y, $0, $1" + (three ? ", $2" : "") + ";\n" +
              (subtracts ? "subc" : "addc") + ".u32 $d0, 0, 0;\n}\n");
    }
  }
}

template <typename T>
void check_type(const std::string& type) {
  check_one<T>("add.cc", kAdd, false, true, type);
  check_one<T>("addc", kAdd, true, false, type);
  check_one<T>("addc.cc", kAdd, true, true, type);
  check_one<T>("sub.cc", kSubtract, false, true, type);
  check_one<T>("subc", kSubtract, true, false, type);
  check_one<T>("subc.cc", kSubtract, true, true, type);
  check_one<T>("mad.lo.cc", kMadLow, false, true, type);
  check_one<T>("madc.lo", kMadLow, true, false, type);
  check_one<T>("madc.lo.cc", kMadLow, true, true, type);
  check_one<T>("mad.hi.cc", kMadHigh, false, true, type);
  check_one<T>("madc.hi", kMadHigh, true, false, type);
  check_one<T>("madc.hi.cc", kMadHigh, true, true, type);
}

TEST(Carry, EachInstructionReadsAndWritesIt) {
  check_type<std::uint32_t>("u32");
  check_type<std::uint32_t>("s32");
  check_type<std::uint64_t>("u64");
  check_type<std::uint64_t>("s64");
}

TEST(Carry, AddsTwoWordsAsOneOf64Bits) {
  using U = std::uint64_t;
  check<U, U, U>(
      "add.cc.u32",
      [](U a, U b) { return a + b; },
      "{.reg .b32 %a<4>;\nmov.b64 {%a0, %a1}, $0;\nmov.b64 {%a2, %a3}, $1;\n"
      "add.cc.u32 %a0, %a0, %a2;\naddc.u32 %a1, %a1, %a3;\n"
      "mov.b64 $d0, {%a0, %a1};\n}\n");
}

TEST(Carry, MultipliesTwoWordsAsOneOf64Bits) {
  using U = std::uint64_t;
  // The upper 64 bits of a 64 x 64-bit product by 32-bit words.
  check<U, U, U>(
      "madc.hi.cc.u32",
      [](U a, U b) { return static_cast<U>(Wide{a} * b >> 64); },
      "{.reg .b32 %a<4>;\n.reg .b32 %r<4>;\n"
      "mov.b64 {%a0, %a1}, $0;\nmov.b64 {%a2, %a3}, $1;\n"
      "mul.hi.u32 %r1, %a0, %a2;\n"
      "mad.lo.cc.u32 %r1, %a0, %a3, %r1;\n"
      "madc.hi.u32 %r2, %a0, %a3, 0;\n"
      "mad.lo.cc.u32 %r1, %a1, %a2, %r1;\n"
      "madc.hi.cc.u32 %r2, %a1, %a2, %r2;\n"
      "addc.u32 %r3, 0, 0;\n"
      "mad.lo.cc.u32 %r2, %a1, %a3, %r2;\n"
      "madc.hi.u32 %r3, %a1, %a3, %r3;\n"
      "mov.b64 $d0, {%r2, %r3};\n}\n");
}

} // namespace
} // namespace cudasim::engine::testing

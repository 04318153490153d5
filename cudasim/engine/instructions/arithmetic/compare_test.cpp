// Comparisons, with every combination of a predicate.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

/// What a name such as "ltu" says of two ordered numbers, or of NaN.
bool holds(const std::string& name, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (name == "num" || name == "nan") {
    return unordered == (name == "nan");
  }
  if (unordered) {
    return name.size() == 3;
  }
  const std::string relation = name.substr(0, 2);
  return relation == "eq" ? a == b
      : relation == "ne"  ? a != b
      : relation == "lt"  ? a < b
      : relation == "le"  ? a <= b
      : relation == "gt"  ? a > b
                          : a >= b;
}
template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
bool holds(const std::string& name, T a, T b) {
  return name == "eq"                ? a == b
      : name == "ne"                 ? a != b
      : name == "lt" || name == "lo" ? a < b
      : name == "le" || name == "ls" ? a <= b
      : name == "gt" || name == "hi" ? a > b
                                     : a >= b;
}

bool combined(const std::string& with, bool a, bool p) {
  return with == "and" ? a && p
      : with == "or"   ? a || p
      : with == "xor"  ? a != p
                       : a;
}

const std::string kCombinations[] = {"", "and", "or", "xor"};
const std::string kFloatNames[] = {
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "equ",
    "neu",
    "ltu",
    "leu",
    "gtu",
    "geu",
    "num",
    "nan"};

std::string with_dot(const std::string& text) {
  return text.empty() ? "" : "." + text;
}

/// setp of one comparison: alone, with both destinations, with a predicate,
/// and with an inverted one.
/// @param compare says whether the comparison holds.
template <typename T, typename F>
void check_setp(const std::string& name, const std::string& type, F compare) {
  // Of 16 bits they have one destination only.
  const bool has_pair = type.find("f16") == std::string::npos;
  for (const std::string& with : kCombinations) {
    const std::string text = "setp." + name + with_dot(with) + "." + type;
    if (with.empty()) {
      check<Pred, T, T>(text, [&](T a, T b) { return Pred{compare(a, b)}; });
      if (!has_pair) {
        continue;
      }
      check<Pred, T, T>(
          text,
          [&](T a, T b) { return Pred{!compare(a, b)}; },
          "{.reg .pred %q;\n" + text + " %q|$d0, $0, $1;\n}\n");
      continue;
    }
    check<Pred, T, T, Pred>(text, [&](T a, T b, bool p) {
      return Pred{combined(with, compare(a, b), p)};
    });
    if (!has_pair) {
      continue;
    }
    check<Pred, T, T, Pred>(
        text,
        [&](T a, T b, bool p) {
          return Pred{combined(with, !compare(a, b), !p)};
        },
        "{.reg .pred %q;\n" + text + " %q|$d0, $0, $1, !$2;\n}\n");
  }
}

template <typename T>
void check_integer(
    const std::string& type,
    const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    check_setp<T>(name, type, [&](T a, T b) { return holds(name, a, b); });
  }
}

TEST(Compare, Integers) {
  const std::vector<std::string> equal{"eq", "ne"};
  const std::vector<std::string> ordered{"eq", "ne", "lt", "le", "gt", "ge"};
  std::vector<std::string> all = ordered;
  all.insert(all.end(), {"lo", "ls", "hi", "hs"});
  check_integer<std::int16_t>("s16", ordered);
  check_integer<std::int32_t>("s32", ordered);
  check_integer<std::int64_t>("s64", ordered);
  check_integer<std::uint16_t>("u16", all);
  check_integer<std::uint32_t>("u32", all);
  check_integer<std::uint64_t>("u64", all);
  check_integer<std::uint16_t>("b16", equal);
  check_integer<std::uint32_t>("b32", equal);
  check_integer<std::uint64_t>("b64", equal);
}

TEST(Compare, Floats) {
  for (const std::string& name : kFloatNames) {
    check_setp<float>(
        name, "f32", [&](float a, float b) { return holds(name, a, b); });
    check_setp<float>(name, "ftz.f32", [&](float a, float b) {
      return holds(name, flushed(a), flushed(b));
    });
    check_setp<double>(
        name, "f64", [&](double a, double b) { return holds(name, a, b); });
    check_setp<F16>(name, "f16", [&](F16 a, F16 b) {
      return holds(
          name, decode(Sixteen::kHalf, a.bits), decode(Sixteen::kHalf, b.bits));
    });
    check_setp<BF16>(name, "bf16", [&](BF16 a, BF16 b) {
      return holds(
          name,
          decode(Sixteen::kBrain, a.bits),
          decode(Sixteen::kBrain, b.bits));
    });
  }
}

/// A half that counts as zero where it is subnormal.
double decode_flushed(U16 bits) {
  return decode(Sixteen::kHalf, (bits & 0x7c00) != 0 ? bits : bits & 0x8000);
}

TEST(Compare, HalvesWithSubnormalNumbersAsZero) {
  for (const std::string& name : kFloatNames) {
    check_setp<F16>(name, "ftz.f16", [&](F16 a, F16 b) {
      return holds(name, decode_flushed(a.bits), decode_flushed(b.bits));
    });
  }
}

using Decode = std::function<double(U16)>;

/// The comparison of the low halves, or of the high ones.
template <typename Two>
bool half_holds(
    const Decode& value,
    const std::string& name,
    Two a,
    Two b,
    int shift) {
  return holds(
      name,
      value(static_cast<U16>(a.bits >> shift)),
      value(static_cast<U16>(b.bits >> shift)));
}

template <typename Two>
void check_pairs(
    Sixteen format,
    const std::string& ftz,
    const std::string& type,
    const Decode& value) {
  const U32 one = encode(format, 1.0L, Rounding::kNearest);
  for (const std::string& name : kFloatNames) {
    for (const std::string& with : kCombinations) {
      const std::string text =
          "setp." + name + with_dot(with) + "." + ftz + type;
      const std::string last = with.empty() ? ";\n" : ", $2;\n";
      for (const int shift : {0, 16}) {
        check<Pred, Two, Two, Pred>(
            text,
            [&](Two a, Two b, bool p) {
              return Pred{
                  combined(with, half_holds(value, name, a, b, shift), p)};
            },
            "{.reg .pred %q;\n" + text + (shift == 0 ? " $d0|%q" : " %q|$d0") +
                ", $0, $1" + last + "}\n");
      }
      for (const auto& [result, yes] :
           {std::pair<std::string, U32>{type, one},
            {"u32", 0xffff},
            {"s32", 0xffff}}) {
        const std::string set =
            "set." + name + with_dot(with) + "." + ftz + result + "." + type;
        const auto expected = [&, yes = yes](Two a, Two b, bool p) {
          const auto half = [&](int shift) {
            return combined(with, half_holds(value, name, a, b, shift), p) ? yes
                                                                           : 0;
          };
          return half(16) << 16 | half(0);
        };
        if (with.empty()) {
          check<U32, Two, Two>(
              set, [&](Two a, Two b) { return expected(a, b, false); });
        } else {
          check<U32, Two, Two, Pred>(set, expected);
        }
      }
    }
  }
}

TEST(Compare, PairsOfHalves) {
  const Decode half = [](U16 bits) { return decode(Sixteen::kHalf, bits); };
  const Decode brain = [](U16 bits) { return decode(Sixteen::kBrain, bits); };
  check_pairs<F16x2>(Sixteen::kHalf, "", "f16x2", half);
  check_pairs<F16x2>(Sixteen::kHalf, "ftz.", "f16x2", decode_flushed);
  check_pairs<BF16x2>(Sixteen::kBrain, "", "bf16x2", brain);
}

/// set of one comparison, alone and with a predicate.
/// @tparam D the register that it gives, @param types in the instruction's
/// name, @param yes what it gives where the comparison holds.
template <typename D, typename T, typename F>
void check_set_to(
    const std::string& name,
    const std::string& types,
    D yes,
    F compare) {
  for (const std::string& with : kCombinations) {
    const std::string text = "set." + name + with_dot(with) + "." + types;
    if (with.empty()) {
      check<D, T, T>(text, [&](T a, T b) { return compare(a, b) ? yes : D{}; });
    } else {
      check<D, T, T, Pred>(text, [&](T a, T b, bool p) {
        return combined(with, compare(a, b), p) ? yes : D{};
      });
    }
  }
}

/// To all types that numbers of more than 16 bits, and integers, are set to.
template <typename T, typename F>
void check_set(
    const std::string& name,
    const std::string& ftz,
    const std::string& type,
    F compare) {
  const U32 ones = 0xffffffff;
  check_set_to<U32, T>(name, ftz + "u32." + type, ones, compare);
  check_set_to<U32, T>(name, ftz + "s32." + type, ones, compare);
  check_set_to<U32, T>(name, ftz + "f32." + type, bits_to<U32>(1.0f), compare);
  check_set_to<U16, T>(name, ftz + "f16." + type, U16{0x3c00}, compare);
  if (ftz.empty()) {
    check_set_to<U16, T>(name, "bf16." + type, U16{0x3f80}, compare);
  }
}

template <typename T>
void check_set_integer(
    const std::string& type,
    const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    check_set<T>(name, "", type, [&](T a, T b) { return holds(name, a, b); });
  }
}

TEST(Compare, SetGivesAValue) {
  const std::vector<std::string> equal{"eq", "ne"};
  const std::vector<std::string> ordered{"eq", "ne", "lt", "le", "gt", "ge"};
  std::vector<std::string> all = ordered;
  all.insert(all.end(), {"lo", "ls", "hi", "hs"});
  check_set_integer<std::int16_t>("s16", ordered);
  check_set_integer<std::int32_t>("s32", ordered);
  check_set_integer<std::int64_t>("s64", ordered);
  check_set_integer<std::uint16_t>("u16", all);
  check_set_integer<std::uint32_t>("u32", all);
  check_set_integer<std::uint64_t>("u64", all);
  check_set_integer<std::uint16_t>("b16", equal);
  check_set_integer<std::uint32_t>("b32", equal);
  check_set_integer<std::uint64_t>("b64", equal);
  for (const std::string& name : kFloatNames) {
    check_set<float>(
        name, "", "f32", [&](float a, float b) { return holds(name, a, b); });
    check_set<float>(name, "ftz.", "f32", [&](float a, float b) {
      return holds(name, flushed(a), flushed(b));
    });
    check_set<double>(
        name, "", "f64", [&](double a, double b) { return holds(name, a, b); });
  }
}

template <typename T>
void check_set_half(
    Sixteen format,
    const std::string& ftz,
    const std::string& type,
    const Decode& value) {
  const U32 one = encode(format, 1.0L, Rounding::kNearest);
  for (const std::string& name : kFloatNames) {
    const auto compare = [&](T a, T b) {
      return holds(name, value(a.bits), value(b.bits));
    };
    check_set_to<U16, T>(
        name, ftz + type + "." + type, static_cast<U16>(one), compare);
    for (const std::string result : {"u16", "s16"}) {
      check_set_to<U16, T>(
          name, ftz + result + "." + type, U16{0xffff}, compare);
    }
    for (const std::string result : {"u32", "s32"}) {
      check_set_to<U32, T>(
          name, ftz + result + "." + type, U32{0xffffffff}, compare);
    }
  }
}

TEST(Compare, SetOfHalvesGivesAValue) {
  const Decode half = [](U16 bits) { return decode(Sixteen::kHalf, bits); };
  const Decode brain = [](U16 bits) { return decode(Sixteen::kBrain, bits); };
  check_set_half<F16>(Sixteen::kHalf, "", "f16", half);
  check_set_half<F16>(Sixteen::kHalf, "ftz.", "f16", decode_flushed);
  check_set_half<BF16>(Sixteen::kBrain, "", "bf16", brain);
}

template <typename T>
void check_choice(const std::string& type) {
  check<T, T, T, std::int32_t>(
      "slct." + type + ".s32",
      [](T a, T b, std::int32_t c) { return c >= 0 ? a : b; });
  check<T, T, T, float>("slct." + type + ".f32", [](T a, T b, float c) {
    return c >= 0 ? a : b;
  });
  check<T, T, T, float>("slct.ftz." + type + ".f32", [](T a, T b, float c) {
    return c >= 0 || std::fpclassify(c) == FP_SUBNORMAL ? a : b;
  });
}

TEST(Compare, SlctChoosesByTheSign) {
  check_choice<std::uint16_t>("b16");
  check_choice<std::uint32_t>("b32");
  check_choice<std::uint64_t>("b64");
  check_choice<std::uint16_t>("u16");
  check_choice<std::uint32_t>("u32");
  check_choice<std::uint64_t>("u64");
  check_choice<std::int16_t>("s16");
  check_choice<std::int32_t>("s32");
  check_choice<std::int64_t>("s64");
  check_choice<std::uint32_t>("f32");
  check_choice<std::uint64_t>("f64");
}

} // namespace
} // namespace cudasim::engine::testing

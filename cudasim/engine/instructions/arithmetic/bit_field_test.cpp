// Extensions and masks of bits against what the PTX ISA says of each bit.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {
namespace {

using I32 = std::int32_t;
using U32 = std::uint32_t;

/// The bits below position n as they are, those from there on as the highest of
/// them is, or 0.
U32 extended(U32 value, U32 n, bool is_signed) {
  U32 result = 0;
  for (U32 i = 0; i < 32; ++i) {
    const bool set = i < n ? (value >> i & 1) != 0
                           : is_signed && n > 0 && (value >> (n - 1) & 1) != 0;
    result |= static_cast<U32>(set ? 1 : 0) << i;
  }
  return result;
}

TEST(BitField, NumbersOfFewerBitsAreExtended) {
  for (const bool is_signed : {false, true}) {
    const std::string type = is_signed ? ".s32" : ".u32";
    check<U32, U32, Amount>("szext.clamp" + type, [&](U32 a, U32 n) {
      return extended(a, n < 32 ? n : 32, is_signed);
    });
    check<U32, U32, Amount>("szext.wrap" + type, [&](U32 a, U32 n) {
      return extended(a, n % 32, is_signed);
    });
  }
}

TEST(BitField, MasksOfBits) {
  const auto mask = [](std::uint64_t begin, std::uint64_t width) {
    U32 result = 0;
    for (std::uint64_t i = 0; i < 32; ++i) {
      result |= static_cast<U32>(i >= begin && i < begin + width ? 1 : 0) << i;
    }
    return result;
  };
  check<U32, Amount, Amount>(
      "bmsk.clamp.b32", [&](U32 a, U32 b) { return mask(a, b); });
  check<U32, Amount, Amount>(
      "bmsk.wrap.b32", [&](U32 a, U32 b) { return mask(a % 32, b % 32); });
  check<U32, U32, U32>(
      "bmsk.clamp.b32", [&](U32 a, U32 b) { return mask(a, b); });
  check<U32, U32, U32>(
      "bmsk.wrap.b32", [&](U32 a, U32 b) { return mask(a % 32, b % 32); });
}

} // namespace
} // namespace cudasim::engine::testing

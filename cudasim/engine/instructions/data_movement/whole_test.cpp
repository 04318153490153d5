// Values of 128 bits: moved, loaded, stored and exchanged as a whole.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

using Whole = std::array<std::uint64_t, 2>;

constexpr std::uint32_t kMasks[] = {0xffffffffu, 0x00f0a001u};

std::vector<Whole> random_values(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Whole> values(32);
  for (Whole& value : values) {
    value = {random(), random()};
  }
  return values;
}

struct Parameter {
  Whole values[32];
};

const std::string kHead =
    ".visible .entry kernel(.param .u64 in, .param .u64 out, .param .u32 mask,"
    " .param .align 16 .b8 parameter[512]) {\n"
    ".reg .b64 %in, %out, %p, %low, %high;\n.reg .b32 %lane, %m, %r<4>;\n"
    ".reg .b128 %q, %x;\n.reg .pred %on;\n"
    "mov.u32 %lane, %tid.x;\nld.param.u32 %m, [mask];\n"
    "shr.u32 %m, %m, %lane;\nand.b32 %m, %m, 1;\nsetp.ne.u32 %on, %m, 0;\n"
    "ld.param.u64 %in, [in];\nmad.wide.u32 %in, %lane, 16, %in;\n"
    "ld.param.u64 %out, [out];\nmad.wide.u32 %out, %lane, 16, %out;\n";

/// Runs code that brings each lane's value from `in` to `out` where it is on.
void check_copy(const std::string& key, const std::string& code) {
  for (const std::uint32_t mask : kMasks) {
    TestDevice device;
    const std::vector<Whole> values = random_values(1);
    const std::vector<Whole> before = random_values(2);
    auto* in = device.copy_of(values);
    auto* out = device.copy_of(before);
    Parameter parameter{};
    std::copy(values.begin(), values.end(), parameter.values);
    device.load(
        ".const .align 16 .b8 constants[512];\n" + kHead + code +
        "\nret;\n}\n");
    if (const Symbol* symbol = device.module().symbol("constants")) {
      std::copy(
          values.begin(),
          values.end(),
          reinterpret_cast<Whole*>(symbol->address));
    }
    const Outcome outcome =
        device.run("kernel", Shape{}, in, out, mask, parameter);
    ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << code;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(
          out[lane], (mask >> lane & 1) != 0 ? values[lane] : before[lane])
          << key << ", lane " << lane;
    }
  }
  record_checked(key);
}

const std::string kOut = "@%on st.global.b128 [%out], %q;";
const std::string kIn = "ld.global.v2.u64 {%low, %high}, [%in];\n";
const std::string kParts = "@%on st.global.v2.u64 [%out], {%low, %high};";
const std::string kShared =
    ".shared .align 16 .b8 tile[512];\n"
    "mov.u64 %p, tile;\nmad.wide.u32 %p, %lane, 16, "
    "%p;\n";

TEST(Whole, IsLoadedFromEachSpace) {
  check_copy("ld.global.b128", "ld.global.b128 %q, [%in];\n" + kOut);
  check_copy(
      "ld.b128", "sub.u64 %in, %in, 32;\nld.b128 %q, [%in+32];\n" + kOut);
  check_copy(
      "ld.shared.b128",
      kShared + kIn + "st.shared.v2.u64 [%p], {%low, %high};\n" +
          "ld.shared.b128 %q, [%p];\n" + kOut);
  check_copy(
      "ld.local.b128",
      ".local .align 16 .b8 own[16];\n" + kIn +
          "st.local.v2.u64 [own], {%low, %high};\nld.local.b128 %q, [own];\n" +
          kOut);
  check_copy(
      "ld.const.b128",
      "mov.u64 %p, constants;\nmad.wide.u32 %p, %lane, 16, %p;\n"
      "ld.const.b128 %q, [%p];\n" +
          kOut);
  check_copy(
      "ld.param.b128",
      "mov.u64 %p, parameter;\nmad.wide.u32 %p, %lane, 16, %p;\n"
      "ld.param.b128 %q, [%p];\n" +
          kOut);
}

TEST(Whole, IsStoredToEachSpace) {
  check_copy(
      "st.global.b128", "ld.relaxed.gpu.global.b128 %q, [%in];\n" + kOut);
  check_copy("st.b128", "ld.global.b128 %q, [%in];\n@%on st.b128 [%out], %q;");
  check_copy(
      "st.shared.b128",
      kShared + "ld.global.b128 %q, [%in];\nst.shared.b128 [%p], %q;\n" +
          "ld.shared.v2.u64 {%low, %high}, [%p];\n" + kParts);
  check_copy(
      "st.local.b128",
      ".local .align 16 .b8 own[16];\nld.global.b128 %q, [%in];\n"
      "st.local.b128 [own], %q;\nld.local.v2.u64 {%low, %high}, [own];\n" +
          kParts);
}

TEST(Whole, IsTakenApartAndPutTogether) {
  check_copy("mov.b128", kIn + "mov.b128 %q, {%low, %high};\n" + kOut);
  check_copy(
      "mov.b128",
      "ld.global.b128 %x, [%in];\nmov.b128 %q, %x;\n"
      "mov.b128 {%low, %high}, %q;\n" +
          kParts);
  check_copy(
      "mov.b128",
      "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%in];\n"
      "mov.b128 %q, {%r0, %r1, %r2, %r3};\n" +
          kOut);
  check_copy(
      "mov.b128",
      "ld.global.b128 %q, [%in];\nmov.b128 {%r0, %r1, %r2, %r3}, %q;\n"
      "@%on st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};");
  // Inactive lanes keep what they have.
  check_copy(
      "mov.b128",
      "ld.global.b128 %q, [%out];\nld.global.b128 %x, [%in];\n"
      "@%on mov.b128 %q, %x;\nst.global.b128 [%out], %q;");
}

TEST(Whole, LiesAtAMultipleOfItsSize) {
  TestDevice device;
  auto* in = device.copy_of(random_values(1));
  device.load(
      kHead + "ld.global.b128 %q, [%in+8];\nst.global.b128 [%out], %q;\n" +
      "ret;\n}\n");
  const Outcome outcome = device.run(
      "kernel", Shape{}, in, in, std::uint32_t{0xffffffff}, Parameter{});
  EXPECT_EQ(outcome.fault, FaultKind::kMisalignedAddress);
}

// Lane i exchanges its value for that of word i % 3, in ascending order.
void check_exchange(const std::string& space, bool compares) {
  const std::string key =
      "atom" + space + (compares ? ".cas.b128" : ".exch.b128");
  for (const std::uint32_t mask : kMasks) {
    TestDevice device;
    std::vector<Whole> words = random_values(3);
    words.resize(3);
    std::vector<Whole> values = random_values(4);
    std::vector<Whole> olds = random_values(5);
    // A chain that holds where the lanes take their turn, but for every fifth:
    // there the upper half is another.
    std::vector<Whole> expected(32);
    std::vector<Whole> now = words;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      Whole& word = now[lane % 3];
      expected[lane] = word;
      expected[lane][1] += lane % 5 == 0 ? 1 : 0;
      if ((mask >> lane & 1) != 0) {
        olds[lane] = word;
        if (!compares || expected[lane] == word) {
          word = values[lane];
        }
      }
    }
    auto* d_words = device.copy_of(words);
    auto* d_values = device.copy_of(values);
    auto* d_expected = device.copy_of(expected);
    auto* d_olds = device.copy_of(random_values(5));
    const bool shared = space == ".shared";
    device.load(
        ".visible .entry kernel(.param .u64 words, .param .u64 values, "
        ".param .u64 expected, .param .u64 olds, .param .u32 mask) {\n"
        ".shared .align 16 .b8 tile[48];\n"
        ".reg .b64 %w, %p, %t;\n.reg .b32 %lane, %m, %i;\n"
        ".reg .b128 %v, %e, %o;\n.reg .pred %on, %first;\n"
        "mov.u32 %lane, %tid.x;\nld.param.u32 %m, [mask];\n"
        "shr.u32 %m, %m, %lane;\nand.b32 %m, %m, 1;\n"
        "setp.ne.u32 %on, %m, 0;\nrem.u32 %i, %lane, 3;\n"
        "setp.lt.u32 %first, %lane, 3;\n"
        "ld.param.u64 %w, [words];\nmad.wide.u32 %w, %i, 16, %w;\n"
        "mov.u64 %t, tile;\nmad.wide.u32 %t, %i, 16, %t;\n"
        "ld.global.b128 %v, [%w];\n@%first st.shared.b128 [%t], %v;\n"
        "bar.sync 0;\n"
        "ld.param.u64 %p, [values];\nmad.wide.u32 %p, %lane, 16, %p;\n"
        "ld.global.b128 %v, [%p];\n"
        "ld.param.u64 %p, [expected];\nmad.wide.u32 %p, %lane, 16, %p;\n"
        "ld.global.b128 %e, [%p];\n"
        "ld.param.u64 %p, [olds];\nmad.wide.u32 %p, %lane, 16, %p;\n"
        "ld.global.b128 %o, [%p];\n@%on " +
        key + " %o, [" + (shared ? "%t" : "%w") + "], " +
        (compares ? "%e, %v;\n" : "%v;\n") + "st.global.b128 [%p], %o;\n" +
        (shared ? "bar.sync 0;\nld.shared.b128 %v, [%t];\n"
                  "@%first st.global.b128 [%w], %v;\n"
                : "") +
        "ret;\n}\n");
    const Outcome outcome = device.run(
        "kernel", Shape{}, d_words, d_values, d_expected, d_olds, mask);
    ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
    EXPECT_EQ(std::vector<Whole>(d_words, d_words + 3), now) << key;
    EXPECT_EQ(std::vector<Whole>(d_olds, d_olds + 32), olds) << key;
  }
  record_checked(key);
}

TEST(Whole, IsExchangedAtOnce) {
  for (const std::string space : {"", ".global", ".shared"}) {
    check_exchange(space, false);
    check_exchange(space, true);
  }
}

} // namespace
} // namespace cudasim::engine::testing

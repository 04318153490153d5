// Native code for some lanes of a warp: those that have parted from others, and
// those whose others have exited or never were.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/testing/native_regions.h"

namespace cudasim::engine::testing {
namespace {

/// More than native code executes for lanes that part within it.
/// @param middle what comes in between.
std::string long_side(const std::string& middle) {
  std::string half;
  for (int i = 0; i < 65; ++i) {
    half +=
        "mad.lo.u32 %h, %h, 5, %k;\nxor.b32 %k, %k, %h;\n"
        "add.u32 %k, %k, %t;\n";
  }
  return half + middle + half;
}
const std::string kRegisters = R"(
  .reg .b32 %m, %o, %s;
  .reg .b64 %d;
  .shared .align 8 .b32 tile[64];
  mov.u32 %k, %n;
  mov.u32 %z, 9;
  mov.u32 %f, 4;
  mul.wide.u32 %d, %t, 16;
  mov.u32 %m, tile;
  mad.lo.u32 %m, %t, 4, %m;
)";
const std::string kAll = R"(
  add.u32 %h, %h, %k;
  mad.lo.u32 %h, %z, 5, %h;
  mad.lo.u32 %h, %f, 7, %h;
  cvt.u32.u64 %s, %d;
  mad.lo.u32 %h, %s, 9, %h;
)";
/// Which lanes: the first ones, some in between, all but the first, one.
const std::string kConditions[] = {
    "setp.lt.u32 %p, %t, 20;\n",
    "and.b32 %s, %t, 5;\nsetp.eq.u32 %p, %s, 4;\n",
    "and.b32 %s, %t, 31;\nsetp.ne.u32 %p, %s, 0;\n",
    "setp.eq.u32 %p, %t, 39;\n"};
/// The same ones, as words of the input: one text for all.
const std::string kCondition =
    "ld.global.u32 %s, [%in+512];\nsetp.ne.u32 %p, %s, 0;\n";
std::vector<std::vector<std::uint64_t>> lanes_of_conditions() {
  std::vector<std::vector<std::uint64_t>> inputs(4, rising(3, 5));
  for (int t = 0; t < kThreads; ++t) {
    const bool some[] = {t < 20, (t & 5) == 4, t % 32 != 0, t == 39};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].push_back(some[i] ? 1 : 0);
    }
  }
  return inputs;
}
/// What they do.
const std::string kSides[] = {
    // Values of all shapes, of which the others have others.
    "add.u32 %z, %n, 3;\nmul.lo.u32 %f, %t, 12;\nmul.wide.u32 %d, %t, 8;\n",
    "ld.global.u32 %f, [%in];\nst.shared.b32 [%m], %f;\n"
    "ld.shared.b32 %z, [%m];\nld.param.u32 %k, [n];\n",
    // Loops, of which they leave one by one.
    "mov.u32 %o, 0;\nLOOP:\nadd.u32 %z, %z, %o;\nadd.u32 %o, %o, 1;\n"
    "setp.lt.u32 %q, %o, %n;\n@%q bra LOOP;\n",
    "and.b32 %o, %t, 7;\nLOOP:\nadd.u32 %z, %z, %o;\nst.shared.b32 [%m], %z;\n"
    "add.u32 %o, %o, 1;\nsetp.lt.u32 %q, %o, 9;\n@%q bra LOOP;\n",
    // Branches, and more code that only some of them execute.
    "setp.lt.u32 %q, %e, 90;\n@%q bra MET;\nadd.u32 %z, %z, %e;\nMET:\n",
    "setp.lt.u32 %q, %e, 90;\n@%q bra MET;\n" + long_side("") + "MET:\n",
    // Those that are there exchange their values.
    "activemask.b32 %o;\nmov.u32 %s, %h;\n"
    "shfl.sync.idx.b32 %f|%q, %s, 4, 31, %o;\nvote.sync.ballot.b32 %z, %q, %o;"
    "\nbar.warp.sync %o;\n",
    // Handlers; and some exit.
    "cvt.rn.f32.u32 %f, %k;\nsin.approx.f32 %f, %f;\n"
    "setp.gt.u32 %q, %e, 60;\n@%q ret;\n",
};

TEST(SomeLanes, WhileOthersWait) {
  for (const std::string& side : kSides) {
    const std::string text = kBegin + kRegisters + kCondition +
        "@%p bra PAST;\n" + long_side(side) + "PAST:\n" + kAll + kEnd;
    for (const auto& input : lanes_of_conditions()) {
      const Result plain = compare(text, input);
      EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    }
  }
}

TEST(SomeLanes, WhenOthersHaveExited) {
  const std::string barrier = "bar.sync 0;\nadd.u32 %z, %z, %k;\n";
  for (const std::string& condition : kConditions) {
    for (const std::string& side : kSides) {
      const std::string text = kBegin + kRegisters + condition + "@%p ret;\n" +
          side + barrier + kAll + kEnd;
      const Result plain = compare(text, rising(3, 5));
      EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    }
  }
}

TEST(SomeLanes, OfBlocksThatAreNoWholeWarps) {
  const std::string barrier = "bar.sync 0;\nadd.u32 %z, %z, %k;\n";
  for (const unsigned threads : {1u, 7u, 16u, 20u, 33u, 63u}) {
    for (const std::string& side : kSides) {
      const std::string text =
          kBegin + kRegisters + barrier + side + barrier + kAll + kEnd;
      const Result plain = compare(text, rising(3, 5), 5, threads);
      EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    }
  }
}

/// Registers of lanes that have exited hold anything, and are not looked at. No
/// result would tell: code that refuses the others has the interpreter execute
/// them, and after many refusals other code is made.
TEST(SomeLanes, AreEnteredWhateverOthersHold) {
  // Behind the call, %k is the same in all lanes that are left. The first one
  // of each warp has never counted.
  const std::string text = ".func nothing() {\n  ret;\n}\n" + kBegin + R"(
    mul.lo.u32 %h, %t, %t;
    mov.u32 %k, 0;
    and.b32 %f, %t, 31;
    setp.eq.u32 %p, %f, 0;
    @%p ret;
    LOOP:
    add.u32 %k, %k, 1;
    call nothing, ();
    mad.lo.u32 %h, %h, 5, %k;
    xor.b32 %h, %h, %e;
    setp.lt.u32 %p, %k, %n;
    @%p bra LOOP;)" +
      kEnd;
  const auto regions_of = [&text](std::uint32_t rounds) {
    const std::uint64_t before = native_regions();
    const Result plain = compare(text, rising(3, 5), rounds);
    EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    return native_regions() - before;
  };
  const std::uint64_t few = regions_of(10);
  EXPECT_EQ(regions_of(200), few);
}

/// A branch without a place where its lanes meet: both sides exit.
TEST(SomeLanes, OfWhichEachSideExits) {
  for (const auto& input : lanes_of_conditions()) {
    const std::string text = kBegin + kRegisters + kCondition +
        "@%p bra OTHER;\n" + long_side("") + kAll +
        "cvt.u64.u32 %x, %h;\nst.global.u64 [%out], %x;\nret;\nOTHER:\n" +
        "add.u32 %z, %z, %t;\n" + kAll + kEnd;
    const Result plain = compare(text, input);
    EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
  }
}

/// Lanes that spin until others of their warp, which come later, write.
TEST(SomeLanes, ThatWaitForOthers) {
  const std::string text = kBegin + kRegisters + R"(
    mov.u32 %o, flag;
    mov.u32 %s, 0;
    st.shared.b32 [%o], %s;
    bar.sync 0;
    setp.eq.u32 %p, %t, 40;
    @!%p bra SPIN;
  )" + long_side("") +
      R"(
    mov.u32 %s, 1;
    st.shared.b32 [%o], %s;
    bra PAST;
    SPIN:
    add.u32 %z, %z, 1;
    ld.volatile.shared.b32 %s, [%o];
    setp.eq.u32 %q, %s, 0;
    @%q bra SPIN;
  )" + long_side("") +
      "PAST:\nmov.u32 %z, 0;\n" + kAll + kEnd;
  const Result plain = compare(text, rising(3, 5));
  EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
}

/// Three groups that take turns: which comes when is seen in what they store to
/// one word, and does not depend on whether lanes have met in native code.
TEST(SomeLanes, TakeTurns) {
  // As often as bits of n say, times ten: one text for all.
  const auto loop = [](const std::string& id, int bit) {
    return "bfe.u32 %c, %n, " + std::to_string(bit) +
        ", 9;\nmul.lo.u32 %c, %c, 10;\nmov.u32 %o, 0;\nLOOP" + id +
        ":\nadd.u32 %o, %o, 1;\nsetp.lt.u32 %q, %o, %c;\n@%q bra LOOP" + id +
        ";\n";
  };
  const std::string meet[] = {
      "",
      "setp.lt.u32 %r, %t, 9;\n@%r bra MET;\nadd.u32 %f, %f, 3;\nMET:\n",
      "and.b32 %o, %t, 3;\nROUND:\nadd.u32 %f, %f, 3;\nadd.u32 %o, %o, 1;\n"
      "setp.lt.u32 %r, %o, 5;\n@%r bra ROUND;\n"};
  const std::string store = "st.global.u32 [%b], %s;\n";
  for (const std::string& meeting : meet) {
    const std::string text = kBegin + kRegisters +
        ".reg .b32 %c;\nld.param.u64 %b, [out];\nrem.u32 %s, %t, 3;\n"
        "setp.eq.u32 %q, %s, 0;\n@!%q bra NEXT;\n" +
        meeting + loop("A", 0) + store +
        "bra.uni DONE;\nNEXT:\nsetp.eq.u32 %q, %s, 1;\n"
        "@!%q bra LAST;\n" +
        loop("B", 9) + store + "bra.uni DONE;\nLAST:\n" + loop("C", 18) +
        store + "DONE:\nret;\n}\n";
    for (const std::uint32_t first : {1, 150, 300}) {
      for (const std::uint32_t second : {1, 300}) {
        for (const std::uint32_t third : {1, 150}) {
          const Result plain =
              compare(text, rising(3, 5), first | second << 9 | third << 18);
          EXPECT_EQ(plain.outcome.fault, FaultKind::kNone)
              << plain.outcome.report;
        }
      }
    }
  }
}

/// They store behind loads of the whole block: others are to load first.
TEST(SomeLanes, ThatStoreFirst) {
  const std::string text = kBegin + kRegisters + R"(
    .reg .b64 %first;
    st.global.u64 [%out], %a;
    bar.sync 0;
    ld.param.u64 %first, [out];
    ld.global.u64 %b, [%first];
    setp.ne.u32 %p, %t, 0;
    @%p bra PAST;
  )" + long_side("") +
      R"(
    add.u64 %b, %b, 1;
    st.global.u64 [%first], %b;
    bra END;
    PAST:
    add.u64 %b, %b, 1000;
    st.global.u64 [%out], %b;
    END:
    ret;
  })";
  const Result plain = compare(text, rising(100, 7));
  EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
}

/// What a report says first: the address, the instruction and the thread.
std::string where(const std::string& report) {
  std::size_t end = 0;
  for (int line = 0; line < 3 && end != std::string::npos; ++line) {
    end = report.find('\n', end + 1);
  }
  return report.substr(0, end);
}

TEST(SomeLanes, OfWhichOneFaults) {
  for (const auto& input : lanes_of_conditions()) {
    for (const std::string end : {"PAST:\n", "ret;\nPAST:\n"}) {
      const std::string text = kBegin + kRegisters + kCondition +
          "@%p bra PAST;\n" + long_side("") +
          "mul.wide.u32 %x, %t, 64;\n"
          "setp.gt.u32 %q, %t, 9;\n@%q st.global.b32 [%x], %h;\n" +
          end + kAll + kEnd;
      const Result plain = run(NativeMode::kOff, text, input);
      const Result native = run(NativeMode::kAlways, text, input);
      EXPECT_NE(plain.outcome.fault, FaultKind::kNone);
      EXPECT_EQ(where(native.outcome.report), where(plain.outcome.report));
      EXPECT_EQ(
          native.outcome.warp_instructions, plain.outcome.warp_instructions);
    }
  }
}

} // namespace
} // namespace cudasim::engine::testing

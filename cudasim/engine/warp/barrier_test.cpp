// Barriers of a block: all threads, some of them, arrivals, reductions.
#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

class Barriers : public KernelTest {};
using U32 = std::uint32_t;

Shape block_of(U32 threads) {
  Shape shape;
  shape.block.x = threads;
  return shape;
}

/// A barrier's opcode, and what stands behind the operation.
struct Spelling {
  const char* opcode;
  const char* suffix;
};

constexpr Spelling kSpellings[] = {
    {"bar", ""},
    {"bar.cta", ""},
    {"barrier", ""},
    {"barrier.cta", ""},
    {"barrier", ".aligned"},
    {"barrier.cta", ".aligned"},
};

/// `code` with "OP.sync", "OP.red.and.pred" … in this spelling.
std::string spelled(const Spelling& spelling, std::string code) {
  for (const std::string operation :
       {".sync", ".arrive", ".red.popc", ".red.and", ".red.or"}) {
    const std::string mark = "OP" + operation;
    for (std::size_t at; (at = code.find(mark)) != std::string::npos;) {
      code.replace(
          at, mark.size(), spelling.opcode + operation + spelling.suffix);
    }
  }
  return code;
}

TEST_F(Barriers, AllThreadsSeeWhatOthersWroteBefore) {
  const std::string code = R"(
    .shared .align 4 .b32 data[192];
    mov.u32 %r0, data;
    mad.lo.u32 %r1, %t, 4, %r0;
    mul.lo.u32 %r2, %t, 3;
    st.shared.u32 [%r1], %r2;
    OP.sync NUMBER;
    sub.u32 %r3, 191, %t;
    mad.lo.u32 %r1, %r3, 4, %r0;
    ld.shared.u32 %r2, [%r1];
    st.global.u32 [%out], %r2;)";
  for (const Spelling& spelling : kSpellings) {
    // A count of no threads is all of them, as for ptxas.
    for (const char* number : {"0", "3", "15", "0, 0", "1, 192"}) {
      std::string text = spelled(spelling, code);
      text.replace(text.find("NUMBER"), 6, number);
      const auto words = words_of(text, block_of(192));
      for (U32 thread = 0; thread < 192; ++thread) {
        EXPECT_EQ(words[thread], 3 * (191 - thread))
            << spelling.opcode << spelling.suffix << " " << number;
      }
    }
    record_checked(spelled(spelling, "OP.sync"));
  }
}

TEST_F(Barriers, BothSidesOfABranchCanComeToIt) {
  const auto words = words_of(
      R"(
    .shared .align 4 .b32 data[64];
    mov.u32 %r0, data;
    mad.lo.u32 %r1, %t, 4, %r0;
    and.b32 %r2, %t, 1;
    setp.eq.u32 %p0, %r2, 0;
    st.shared.u32 [%r1], %t;
    @%p0 bra EVEN;
    bar.sync 0;
    bra OUT;
    EVEN:
    bar.sync 0;
    OUT:
    xor.b32 %r3, %t, 63;
    mad.lo.u32 %r1, %r3, 4, %r0;
    ld.shared.u32 %r2, [%r1];
    st.global.u32 [%out], %r2;)",
      block_of(64));
  for (U32 thread = 0; thread < 64; ++thread) {
    EXPECT_EQ(words[thread], thread ^ 63);
  }
}

TEST_F(Barriers, ThreadsThatHaveExitedAreNotWaitedFor) {
  const auto words = words_of(
      R"(
    .shared .align 4 .b32 sum;
    mov.u32 %r0, sum;
    setp.ge.u32 %p0, %t, 40;
    @%p0 exit;
    setp.eq.u32 %p1, %t, 0;
    @%p1 st.shared.u32 [%r0], 0;
    bar.sync 0;
    atom.shared.add.u32 %r1, [%r0], 1;
    bar.sync 0;
    ld.shared.u32 %r1, [%r0];
    st.global.u32 [%out], %r1;)",
      block_of(128));
  for (U32 thread = 0; thread < 128; ++thread) {
    EXPECT_EQ(words[thread], thread < 40 ? 40u : 0u);
  }
}

TEST_F(Barriers, PairsOfWarpsHaveBarriersOfTheirOwn) {
  // Warps 0 and 1 meet at barrier 1 three times, warps 2 and 3 at barrier 2
  // twice; nobody waits for the other pair.
  const auto words = words_of(
      R"(
    .shared .align 4 .b32 data[2];
    mov.u32 %r9, %tid.x;
    shr.u32 %r1, %r9, 6;
    add.u32 %r2, %r1, 1;
    mov.u32 %r0, data;
    mad.lo.u32 %r0, %r1, 4, %r0;
    and.b32 %r3, %r9, 63;
    setp.eq.u32 %p0, %r3, 0;
    @%p0 st.shared.u32 [%r0], 0;
    sub.u32 %r4, 3, %r1;
    LOOP:
    bar.sync %r2, 64;
    red.shared.add.u32 [%r0], 1;
    sub.u32 %r4, %r4, 1;
    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra LOOP;
    bar.sync %r2, 64;
    ld.shared.u32 %r5, [%r0];
    st.global.u32 [%out], %r5;)",
      block_of(128));
  for (U32 thread = 0; thread < 128; ++thread) {
    EXPECT_EQ(words[thread], thread < 64 ? 192u : 128u);
  }
}

TEST_F(Barriers, AProducerArrivesAndGoesOn) {
  const std::string code = R"(
    .shared .align 4 .b32 data[32];
    mov.u32 %r0, data;
    mad.lo.u32 %r0, %lane, 4, %r0;
    setp.lt.u32 %p0, %t, 32;
    @%p0 bra CONSUMER;
    mul.lo.u32 %r1, %t, 5;
    st.shared.u32 [%r0], %r1;
    OP.arrive 7, 64;
    st.global.u32 [%out], 1;
    ret;
    CONSUMER:
    OP.sync 7, 64;
    ld.shared.u32 %r1, [%r0];
    st.global.u32 [%out], %r1;)";
  for (const Spelling& spelling : kSpellings) {
    const auto words = words_of(spelled(spelling, code), block_of(64));
    for (U32 lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(words[lane], (lane + 32) * 5);
      EXPECT_EQ(words[lane + 32], 1u);
    }
    record_checked(spelled(spelling, "OP.arrive"));
  }
}

TEST_F(Barriers, ReductionsCountPredicates) {
  const std::string code = R"(
    rem.u32 %r0, %t, 3;
    setp.eq.u32 %p0, %r0, 0;
    OP.red.popc.u32 %r1, 0, %p0;
    OP.red.popc.u32 %r2, 0, 0, !%p0;
    OP.red.and.pred %p1, 0, %p0;
    OP.red.or.pred %p2, 0, %p0;
    setp.lt.u32 %p3, %t, 1000;
    OP.red.and.pred %p4, 0, %p3;
    OP.red.or.pred %p5, 1, 96, !%p3;
    selp.u32 %r3, 1, 0, %p1;
    selp.u32 %r4, 2, 0, %p2;
    selp.u32 %r5, 4, 0, %p4;
    selp.u32 %r6, 8, 0, %p5;
    add.u32 %r3, %r3, %r4;
    add.u32 %r3, %r3, %r5;
    add.u32 %r3, %r3, %r6;
    mad.lo.u32 %r3, %r1, 1000, %r3;
    mad.lo.u32 %r3, %r2, 1000000, %r3;
    st.global.u32 [%out], %r3;)";
  for (const Spelling& spelling : kSpellings) {
    const auto words = words_of(spelled(spelling, code), block_of(96));
    for (const U32 word : words) {
      EXPECT_EQ(word, 64000000u + 32000u + 2 + 4)
          << spelling.opcode << spelling.suffix;
    }
    for (const char* reduction :
         {"OP.red.popc.u32", "OP.red.and.pred", "OP.red.or.pred"}) {
      record_checked(spelled(spelling, reduction));
    }
  }
}

TEST_F(Barriers, AReductionIsForThoseThatAskForIt) {
  // PTX leaves undefined what such a barrier does; others only wait there.
  const auto words = words_of(
      R"(
    mov.u32 %r1, 5;
    setp.lt.u32 %p0, %t, 32;
    @%p0 bra REDUCES;
    bar.sync 0;
    st.global.u32 [%out], %r1;
    ret;
    REDUCES:
    bar.red.popc.u32 %r1, 0, %p0;
    st.global.u32 [%out], %r1;)",
      block_of(64));
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], 32u);
    EXPECT_EQ(words[lane + 32], 5u);
  }
}

TEST_F(Barriers, OneThatNobodyComesToIsReported) {
  const std::string report =
      report_of(FaultKind::kLaunchTimeout, "bar.sync 1, 96;", block_of(64));
  EXPECT_NE(report.find("barrier"), std::string::npos) << report;
  EXPECT_NE(report.find("kernel"), std::string::npos) << report;
}

} // namespace
} // namespace cudasim::engine::testing

// Lanes that go different ways, and where they meet again.
#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

class Divergence : public KernelTest {};
using U32 = std::uint32_t;

TEST_F(Divergence, NestedBranchesTakeTheirOwnWaysAndMeetAgain) {
  const auto words = words_of(R"(
    mov.u32 %r5, 0;
    and.b32 %r0, %lane, 1;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra EVEN;
    setp.lt.u32 %p1, %lane, 8;
    @!%p1 bra ODD_HIGH;
    mov.u32 %r5, 100;
    bra MET;
    ODD_HIGH:
    mov.u32 %r5, 200;
    bra MET;
    EVEN:
    setp.gt.u32 %p1, %lane, 20;
    @%p1 bra EVEN_HIGH;
    mov.u32 %r5, 300;
    bra MET;
    EVEN_HIGH:
    mov.u32 %r5, 400;
    MET:
    activemask.b32 %r6;
    setp.eq.u32 %p2, %r6, 0xffffffff;
    selp.u32 %r7, 1, 0, %p2;
    add.u32 %r5, %r5, %r7;
    st.global.u32 [%out], %r5;)");
  for (U32 lane = 0; lane < 32; ++lane) {
    const U32 way = lane % 2 == 1 ? (lane < 8 ? 100 : 200)
        : lane > 20               ? 400
                                  : 300;
    EXPECT_EQ(words[lane], way + 1) << "lane " << lane;
  }
  record_checked("bra");
  record_checked("ret");
}

TEST_F(Divergence, LoopsEndForEachLaneByItself) {
  // Steps of the Collatz sequence, a loop with a branch inside.
  const auto words = words_of(
      R"(
    add.u32 %r0, %t, 1;
    mov.u32 %r1, 0;
    LOOP:
    setp.eq.u32 %p0, %r0, 1;
    @%p0 bra DONE;
    and.b32 %r2, %r0, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra HALVE;
    mad.lo.u32 %r0, %r0, 3, 1;
    bra NEXT;
    HALVE:
    shr.u32 %r0, %r0, 1;
    NEXT:
    add.u32 %r1, %r1, 1;
    bra.uni LOOP;
    DONE:
    activemask.b32 %r3;
    popc.b32 %r3, %r3;
    mad.lo.u32 %r1, %r1, 64, %r3;
    st.global.u32 [%out], %r1;)",
      {{2, 1, 1}, {80, 1, 1}});
  for (U32 thread = 0; thread < 160; ++thread) {
    U32 steps = 0;
    for (std::uint64_t n = thread + 1; n != 1; ++steps) {
      n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    }
    const U32 in_block = thread % 80;
    const U32 lanes = in_block < 64 ? 32 : 16;
    EXPECT_EQ(words[thread], steps * 64 + lanes) << "thread " << thread;
  }
}

TEST_F(Divergence, LanesThatExitLeaveTheOthersAlone) {
  const auto words = words_of(R"(
    setp.lt.u32 %p0, %lane, 10;
    st.global.u32 [%out], 7;
    @%p0 exit;
    setp.gt.u32 %p1, %lane, 29;
    @%p1 bra LAST;
    activemask.b32 %r0;
    st.global.u32 [%out], %r0;
    LAST:)");
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane < 10 || lane > 29 ? 7 : 0x3ffffc00u);
  }
  record_checked("exit");
}

TEST_F(Divergence, ReturnsInsideOfALoopLeaveIt) {
  const auto words = words_of(R"(
    mov.u32 %r0, 0;
    LOOP:
    add.u32 %r0, %r0, 1;
    st.global.u32 [%out], %r0;
    setp.gt.u32 %p0, %r0, %lane;
    @%p0 ret;
    bra LOOP;)");
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane + 1);
  }
}

TEST_F(Divergence, IndexedBranchesGoToTheirTargets) {
  const auto words = words_of(R"(
    rem.u32 %r0, %lane, 4;
    mov.u32 %r1, 5;
    TARGETS: .branchtargets A, B, C, D;
    brx.idx %r0, TARGETS;
    A: mov.u32 %r1, 10; bra OUT;
    B: mov.u32 %r1, 11; bra OUT;
    C: mov.u32 %r1, 12;
    D: add.u32 %r1, %r1, 100;
    OUT:
    activemask.b32 %r2;
    popc.b32 %r2, %r2;
    mad.lo.u32 %r1, %r1, 64, %r2;
    st.global.u32 [%out], %r1;)");
  const U32 right[] = {10, 11, 112, 105};
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], right[lane % 4] * 64 + 32) << "lane " << lane;
  }
  record_checked("brx.idx");
}

TEST_F(Divergence, ALockBetweenLanesOfOneWarpDoesNotHang) {
  // The lane that has the lock waits at the end of the others' loop on a
  // machine that runs the loop until all lanes are through.
  Shape shape;
  shape.block.x = 64;
  words_of(
      R"(
    SPIN:
    mov.u64 %rd0, lock;
    atom.global.cas.b32 %r0, [%rd0], 0, 1;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra SPIN;
    ld.volatile.global.u32 %r1, [%rd0+4];
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%rd0+4], %r1;
    membar.gl;
    atom.global.exch.b32 %r0, [%rd0], 0;)",
      shape,
      ".global .align 4 .b32 lock[2];\n");
  const auto* lock =
      reinterpret_cast<const U32*>(device.module().symbol("lock")->address);
  EXPECT_EQ(lock[0], 0u);
  EXPECT_EQ(lock[1], 64u);
}

TEST_F(Divergence, ALockBeforeABarrierDoesNotHang) {
  // Lanes that are at the barrier already must not keep others from their turn.
  Shape shape;
  shape.block.x = 64;
  const auto words = words_of(
      R"(
    setp.ne.u32 %p1, %t, 0;
    @!%p1 st.shared.u32 [lock], 0;
    @!%p1 st.shared.u32 [lock+4], 0;
    bar.sync 0;
    SPIN:
    atom.shared.cas.b32 %r0, [lock], 0, 1;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra SPIN;
    ld.volatile.shared.u32 %r1, [lock+4];
    add.u32 %r1, %r1, 1;
    st.volatile.shared.u32 [lock+4], %r1;
    membar.cta;
    atom.shared.exch.b32 %r0, [lock], 0;
    bar.sync 0;
    ld.shared.u32 %r1, [lock+4];
    st.global.u32 [%out], %r1;)",
      shape,
      ".shared .align 8 .b32 lock[2];\n");
  for (const U32 word : words) {
    EXPECT_EQ(word, 64u);
  }
}

TEST_F(Divergence, ALaneWaitsForAnotherOneOfItsWarp) {
  const auto words = words_of(
      R"(
    mov.u64 %rd0, flag;
    setp.eq.u32 %p0, %lane, 0;
    @!%p0 bra OTHERS;
    WAIT:
    ld.volatile.global.u32 %r0, [%rd0];
    setp.ne.u32 %p1, %r0, 31;
    @%p1 bra WAIT;
    bra OUT;
    OTHERS:
    atom.global.add.u32 %r0, [%rd0], 1;
    mov.u32 %r0, 1;
    OUT:
    st.global.u32 [%out], %r0;)",
      {},
      ".global .align 4 .b32 flag;\n");
  EXPECT_EQ(words[0], 31u);
  EXPECT_EQ(words[31], 1u);
}

TEST_F(Divergence, AGuardedInstructionRunsForItsLanesOnly) {
  const auto words = words_of(R"(
    and.b32 %r0, %lane, 3;
    setp.eq.u32 %p0, %r0, 1;
    mov.u32 %r1, 1;
    @%p0 mov.u32 %r1, 2;
    @!%p0 add.u32 %r1, %r1, 10;
    st.global.u32 [%out], %r1;)");
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane % 4 == 1 ? 2u : 11u);
  }
}

TEST_F(Divergence, LanesThatSleepWhileTheyWaitForAnotherDoNotHang) {
  // One lane after the other: each waits for its turn, and sleeps meanwhile.
  words_of(
      R"(
    mov.u64 %rd0, served;
    WAIT:
    ld.acquire.gpu.global.u32 %r0, [%rd0];
    setp.eq.u32 %p0, %r0, %lane;
    @%p0 bra MINE;
    nanosleep.u32 20;
    bra WAIT;
    MINE:
    add.u32 %r0, %r0, 1;
    st.release.gpu.global.u32 [%rd0], %r0;)",
      {},
      ".global .align 4 .b32 served;\n");
  const auto* served =
      reinterpret_cast<const U32*>(device.module().symbol("served")->address);
  EXPECT_EQ(*served, 32u);
}

} // namespace
} // namespace cudasim::engine::testing

// Lanes of a mask that come together for an instruction: when they wait for
// each other, and when they do not.
#include "cudasim/engine/testing/kernel_test.h"

#include <string>

namespace cudasim::engine::testing {
namespace {

class Gathering : public KernelTest {};
using U32 = std::uint32_t;

TEST_F(Gathering, CollectivesWaitForTheLanesOfTheirMask) {
  // Lanes come to the vote at different times, from both sides of a branch.
  const auto words = words_of(R"(
    mov.u32 %r0, 0;
    and.b32 %r1, %lane, 7;
    LOOP:
    setp.ge.u32 %p0, %r0, %r1;
    @%p0 bra OUT;
    add.u32 %r0, %r0, 1;
    bra LOOP;
    OUT:
    bar.warp.sync 0xffffffff;
    setp.gt.u32 %p1, %r0, 3;
    vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
    st.global.u32 [%out], %r2;)");
  for (const U32 word : words) {
    EXPECT_EQ(word, 0xf0f0f0f0u);
  }
  record_checked("bar.warp.sync");
}

TEST_F(Gathering, OneCollectiveServesGroupsWithMasksOfTheirOwn) {
  // As cooperative groups' partitions have it: lanes with the same remainder.
  const auto words = words_of(R"(
    rem.u32 %r0, %lane, 3;
    match.any.sync.b32 %r1, %r0, 0xffffffff;
    redux.sync.add.u32 %r2, %lane, %r1;
    setp.gt.u32 %p0, %lane, 15;
    vote.sync.ballot.b32 %r3, %p0, %r1;
    popc.b32 %r3, %r3;
    mad.lo.u32 %r2, %r2, 100, %r3;
    st.global.u32 [%out], %r2;)");
  for (U32 lane = 0; lane < 32; ++lane) {
    U32 sum = 0;
    U32 upper = 0;
    for (U32 other = lane % 3; other < 32; other += 3) {
      sum += other;
      upper += other > 15 ? 1 : 0;
    }
    EXPECT_EQ(words[lane], 100 * sum + upper) << "lane " << lane;
  }
}

TEST_F(Gathering, GroupsWithMasksOfTheirOwnWaitForLanesOnTheirWay) {
  const auto words = words_of(R"(
    and.b32 %r0, %lane, 1;
    match.any.sync.b32 %r1, %r0, 0xffffffff;
    setp.lt.u32 %p0, %lane, 8;
    @%p0 bra EARLY;
    mov.u32 %r2, 0;
    LOOP:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %lane;
    @%p1 bra LOOP;
    EARLY:
    redux.sync.max.u32 %r3, %lane, %r1;
    st.global.u32 [%out], %r3;)");
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], 30 + lane % 2) << "lane " << lane;
  }
}

TEST_F(Gathering, MatrixProductsWaitForTheWholeWarp) {
  // Lane 0 comes late, so late that the others are let go on without it.
  const auto words = words_of(R"(
    .reg .f32 %f<8>;
    .reg .b32 %a, %b;
    mov.u32 %r0, 0;
    mov.u32 %a, 0;
    setp.ne.u32 %p0, %lane, 0;
    @%p0 bra READY;
    LOOP:
    nanosleep.u32 20;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p1, %r0, 1000;
    @%p1 bra LOOP;
    READY:
    mov.u32 %a, 0x3f800000;
    mov.u32 %b, 0x3f800000;
    mov.f32 %f0, 0f00000000;
    mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32
        {%f1, %f2, %f3, %f4}, {%a, %a}, {%b}, {%f0, %f0, %f0, %f0};
    cvt.rni.u32.f32 %r1, %f1;
    st.global.u32 [%out], %r1;)");
  for (const U32 word : words) {
    EXPECT_EQ(word, 4u);
  }
}

TEST_F(Gathering, LanesComeToOneCollectiveAtDifferentPlaces) {
  const auto words = words_of(R"(
    add.u32 %r1, %lane, 100;
    setp.lt.u32 %p0, %lane, 16;
    setp.lt.u32 %p3, %lane, 3;
    @%p0 bra LOWER;
    add.u32 %r2, %lane, 200;
    shfl.sync.bfly.b32 %r3|%p2, %r2, 16, 31, 0xffffffff;
    vote.sync.ballot.b32 %r5, !%p3, 0xffffffff;
    bra OUT;
    LOWER:
    mov.u32 %r4, 0xffffffff;
    shfl.sync.bfly.b32 %r3, %r1, 16, 31, %r4;
    setp.eq.u32 %p1, %lane, 1;
    vote.sync.ballot.b32 %r5, %p1, %r4;
    OUT:
    popc.b32 %r5, %r5;
    mad.lo.u32 %r3, %r3, 100, %r5;
    st.global.u32 [%out], %r3;)");
  for (U32 lane = 0; lane < 32; ++lane) {
    const U32 other = lane ^ 16;
    EXPECT_EQ(words[lane], (other + (other < 16 ? 100 : 200)) * 100 + 17)
        << "lane " << lane;
  }
}

TEST_F(Gathering, LanesComeToOneWarpBarrierAtPlacesBehindEachOther) {
  // The upper lanes come to their barrier only when they no longer wait for the
  // lower ones at the end of the first condition.
  const auto words = words_of(
      R"(
    .shared .align 4 .b32 s;
    mov.u32 %r5, 1;
    st.shared.u32 [s], 7;
    bar.warp.sync 0xffffffff;
    setp.ge.u32 %p0, %lane, 16;
    setp.lt.u32 %p1, %lane, 16;
    setp.eq.u32 %p2, %lane, 16;
    @%p0 bra SECOND;
    bar.warp.sync 0xffffffff;
    ld.volatile.shared.u32 %r5, [s];
    SECOND:
    @%p1 bra OUT;
    @%p2 st.volatile.shared.u32 [s], 42;
    bar.warp.sync 0xffffffff;
    OUT:
    st.global.u32 [%out], %r5;)");
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane < 16 ? 42u : 1u) << "lane " << lane;
  }
}

TEST_F(Gathering, LanesComeToOneCollectiveAtPlacesBehindEachOther) {
  // The same for instructions with a result, inside of other conditions, and
  // with lanes that have exited.
  struct Case {
    const char* instruction; // %r4 is the operand, %r5 the result
    std::uint32_t (*right)(std::uint32_t lane);
  };
  const Case cases[] = {
      {"shfl.sync.bfly.b32 %r5, %r4, 16, 31, 0xffffffff;",
       [](U32 lane) { return (lane ^ 16) + 100; }},
      {"setp.gt.u32 %p5, %r4, 109; vote.sync.ballot.b32 %r5, %p5, 0xffffffff;",
       [](U32) { return 0x0ffffc00u; }},
      {"redux.sync.max.u32 %r5, %r4, 0xffffffff;", [](U32) { return 127u; }},
      {"and.b32 %r5, %r4, 1; match.any.sync.b32 %r5, %r5, 0xffffffff;",
       [](U32 lane) { return lane % 2 == 0 ? 0x05555555u : 0x0aaaaaaau; }},
  };
  for (const Case& one : cases) {
    const std::string instruction = one.instruction;
    const auto words =
        words_of(
            R"(
      setp.ge.u32 %p4, %lane, 28;
      @%p4 exit;
      add.u32 %r4, %lane, 100;
      setp.ge.u32 %p0, %lane, 16;
      setp.lt.u32 %p1, %lane, 16;
      setp.ge.u32 %p2, %lane, 8;
      @%p0 bra SECOND;
      @%p2 bra INNER;
      )" + instruction +
            R"(
      bra MET;
      INNER:
      )" + instruction +
            R"(
      MET:
      SECOND:
      @%p1 bra OUT;
      )" + instruction +
            R"(
      OUT:
      st.global.u32 [%out], %r5;)");
    for (U32 lane = 0; lane < 28; ++lane) {
      // A shuffle from a lane that has exited is undefined.
      if (instruction[0] != 's' || lane < 12 || lane >= 16) {
        EXPECT_EQ(words[lane], one.right(lane)) << instruction << lane;
      }
    }
  }
}

TEST_F(Gathering, LanesThatNeverComeAreNotWaitedFor) {
  // What CUDA leaves undefined ends here too: half a warp shuffles with the
  // mask of all, and the others go to the block's barrier.
  Shape shape;
  shape.block.x = 64;
  const auto words = words_of(
      R"(
    mov.u32 %r5, 3;
    setp.ge.u32 %p0, %lane, 16;
    @%p0 bra OUT;
    shfl.sync.idx.b32 %r5, %lane, 5, 31, 0xffffffff;
    OUT:
    bar.sync 0;
    st.global.u32 [%out], %r5;)",
      shape);
  for (U32 thread = 0; thread < 64; ++thread) {
    EXPECT_EQ(words[thread], thread % 32 < 16 ? 5u : 3u) << thread;
  }
}

/// Lanes of groups of four, each with its mask in %r1, come to one instruction
/// in three parts: 0, 1, 4, 5 and from 8 on; then 2 and 3; and last 6 and 7.
std::string in_parts(const std::string& between, const std::string& last) {
  return R"(
    shr.u32 %r0, %lane, 2;
    match.any.sync.b32 %r1, %r0, 0xffffffff;
    and.b32 %r0, %lane, 2;
    setp.eq.u32 %p0, %r0, 0;
    setp.gt.u32 %p1, %lane, 7;
    or.pred %p0, %p0, %p1;
    setp.gt.u32 %p1, %lane, 3;
    @%p0 bra THERE;
    @%p1 bra LAST;
    )" +
      between + R"(
    bra THERE;
    LAST:
    )" +
      last + R"(
    THERE:
    redux.sync.max.u32 %r3, %lane, %r1;
    st.global.u32 [%out], %r3;)";
}

TEST_F(Gathering, GroupsThatMeetOthersStillWaitForTheirOwnLanes) {
  // So late that those before have been let go on without them.
  const auto loop = [](const std::string& label, int rounds) {
    return "mov.u32 %r2, 0;\n" + label + ":\nadd.u32 %r2, %r2, 1;\n" +
        "setp.lt.u32 %p2, %r2, " + std::to_string(rounds) + ";\n@%p2 bra " +
        label + ";\n";
  };
  const auto words =
      words_of(in_parts(loop("SECOND", 12000), loop("THIRD", 40000)));
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane | 3) << "lane " << lane;
  }
}

TEST_F(Gathering, GroupsAreNotHeldUpByOthersAtTheSameInstruction) {
  // The last lanes wait until lane 0 is behind the instruction.
  for (const std::string pause : {"", "nanosleep.u32 20;"}) {
    const std::string code = in_parts(
        "",
        R"(mov.u64 %rd0, passed;
        WAIT:
        )" + pause +
            R"(
        ld.volatile.global.u32 %r2, [%rd0];
        setp.eq.u32 %p2, %r2, 0;
        @%p2 bra WAIT;)");
    const auto words = words_of(
        code + R"(
        mov.u64 %rd0, passed;
        setp.eq.u32 %p2, %lane, 0;
        @%p2 st.volatile.global.u32 [%rd0], 1;)",
        {},
        ".global .align 4 .b32 passed;\n");
    for (U32 lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(words[lane], lane | 3) << "lane " << lane;
    }
  }
}

} // namespace
} // namespace cudasim::engine::testing

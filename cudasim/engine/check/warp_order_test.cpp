// What orders the lanes of a warp, and what does not: barriers, collectives,
// matrices.
#include <gtest/gtest.h>

#include "cudasim/engine/check/testing/checked_kernel.h"

namespace cudasim::engine::testing {
namespace {

// What waits for lanes and orders no memory stands between a lane's store and
// another lane's load: `%r5` is the place of the neighbour in the same warp.
std::string exchange(const std::string& between) {
  return std::string("  xor.b32 %r5, %r9, 4;\n  add.u32 %r5, %r5, %r8;\n") +
      kStoreOwn + between + "  ld.shared.u32 %r4, [%r5];\n";
}

TEST(Races, CollectivesOrderNoMemory) {
  for (const char* collective : {
           "shfl.sync.idx.b32 %r6, %r1, 0, 31, -1;",
           "shfl.sync.bfly.b32 %r6|%p1, %r1, 1, 31, -1;",
           "vote.sync.ballot.b32 %r6, %p0, -1;",
           "vote.sync.all.pred %p1, %p0, -1;",
           "match.any.sync.b32 %r6, %r1, -1;",
           "match.all.sync.b32 %r6, %r1, -1;",
           "redux.sync.add.s32 %r6, %r1, -1;",
           "activemask.b32 %r6;",
       }) {
    const std::string between = std::string("  ") + collective + "\n";
    const auto found =
        findings("  setp.ne.u32 %p0, %r1, 0;\n" + exchange(between));
    ASSERT_EQ(found.size(), 1u) << collective;
    EXPECT_NE(found[0].find("read after write"), std::string::npos) << found[0];
    EXPECT_TRUE(findings(
                    "  setp.ne.u32 %p0, %r1, 0;\n" +
                    exchange(between + "  bar.warp.sync -1;\n"))
                    .empty())
        << collective;
  }
}

// A lane's load, a collective, and a store of a lane to where another one read:
// what a sum over a block does. `%r5` is the place of the lane's neighbour.
std::string sum(const std::string& between) {
  return std::string("  xor.b32 %r5, %r9, 4;\n  add.u32 %r5, %r5, %r8;\n") +
      kStoreOwn + "  bar.sync 0;\n  ld.shared.u32 %r4, [%r2];\n" + between +
      "  add.u32 %r12, %r1, 77;\n  st.shared.u32 [%r5], %r12;\n";
}

TEST(Races, WhatALaneContributesIsRead) {
  for (const char* between : {
           "shfl.sync.bfly.b32 %r6, %r4, 1, 31, -1;",
           "mul.lo.u32 %r4, %r4, 3; add.u32 %r7, %r4, %r1;"
           " shfl.sync.down.b32 %r6, %r7, 16, 31, -1;",
           "setp.gt.u32 %p1, %r4, 40; vote.sync.ballot.b32 %r6, %p1, -1;",
           "setp.gt.u32 %p1, %r4, 40; mov.u32 %r7, 0; @%p1 mov.u32 %r7, 1;"
           " redux.sync.add.s32 %r6, %r7, -1;",
           "mov.u32 %r7, 0; setp.gt.u32 %p1, %r4, 40; @%p1 bra GREATER;"
           " mov.u32 %r7, 1; GREATER: match.any.sync.b32 %r6, %r7, -1;",
           "mov.u32 %r11, 0; ROUND: add.u32 %r7, %r7, %r4;"
           " add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, 3; @%p1 bra ROUND;"
           " shfl.sync.idx.b32 %r6, %r7, 0, 31, -1;",
       }) {
    const auto found = findings(sum(between));
    EXPECT_TRUE(found.empty()) << between << "\n" << found[0];
  }
}

TEST(Races, WhatACollectiveDoesNotNeedMayBeReadLater) {
  for (const char* between : {
           "shfl.sync.bfly.b32 %r6, %r1, 1, 31, -1;",
           "activemask.b32 %r6;",
           // The loaded value is gone.
           "mov.u32 %r4, %r1; shfl.sync.bfly.b32 %r6, %r4, 1, 31, -1;",
           // The value is needed after the collective.
           "shfl.sync.bfly.b32 %r6, %r1, 1, 31, -1; add.u32 %r6, %r6, %r4;",
           // Other lanes take part.
           "and.b32 %r11, %r1, 1; mov.u32 %r13, 0x55555555;"
           " shl.b32 %r13, %r13, %r11;"
           " shfl.sync.idx.b32 %r6, %r4, 0, 31, %r13;",
       }) {
    EXPECT_NE(with(findings(sum(between)), "write after read"), "") << between;
  }
}

TEST(Races, AShuffleOfATileOrdersNoMemory) {
  // Tiles of eight lanes: the mask is of the lane's own tile.
  const std::string mask =
      "  and.b32 %r11, %r1, 24;\n  shl.b32 %r12, 255, %r11;\n";
  EXPECT_EQ(
      findings(
          mask + exchange("  shfl.sync.idx.b32 %r6, %r1, 0, 6175, %r12;\n"))
          .size(),
      1u);
  EXPECT_TRUE(findings(mask + exchange("  bar.warp.sync %r12;\n")).empty());
}

TEST(Races, AWarpBarrierOrdersTheLanesThatItNamesOnly) {
  // The neighbour is in the same tile of two lanes, or in another one.
  const std::string pairs =
      "  and.b32 %r11, %r1, 30;\n  shl.b32 %r12, 3, %r11;\n";
  EXPECT_TRUE(findings(pairs + exchange("  bar.warp.sync %r12;\n")).empty());
  const std::string far = "  xor.b32 %r5, %r9, 8;\n  add.u32 %r5, %r5, %r8;\n";
  const std::string load = "  ld.shared.u32 %r4, [%r5];\n";
  EXPECT_EQ(
      findings(pairs + far + kStoreOwn + "  bar.warp.sync %r12;\n" + load)
          .size(),
      1u);
  // Lane 0 learns by way of lane 1 of what lane 3 did: pairs, then pairs of
  // pairs.
  const std::string fours =
      "  and.b32 %r11, %r1, 28;\n  shl.b32 %r13, 15, %r11;\n";
  EXPECT_TRUE(findings(
                  pairs + fours + far + kStoreOwn +
                  "  bar.warp.sync %r12;\n  bar.warp.sync %r13;\n" + load)
                  .empty());
}

// A tile of 16x16 halves that the first warp stores or loads as a whole;
// %p0: the thread is of another warp. A lane's own place is in it, too.
constexpr char kFirstWarp[] = "  setp.gt.u32 %p0, %r1, 31;\n  @%p0 bra OUT;\n";
constexpr char kStoreMatrix[] =
    "  wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r8], "
    "{%r1, %r1, %r1, %r1}, 16;\n";
constexpr char kLoadMatrix[] =
    "  wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
    "{%r4, %r5, %r6, %r7, %r11, %r12, %r13, %r14}, [%r8], 16;\n";
constexpr char kFill[] =
    "  mov.u32 %r4, 0;\nFILL:\n  shl.b32 %r5, %r4, 2;\n"
    "  add.u32 %r5, %r5, %r8;\n  st.shared.u32 [%r5], 0;\n"
    "  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, 128;\n"
    "  @%p1 bra FILL;\n  bar.sync 0;\n";

// Round by round each lane takes what it read in the round before, and reads
// what it takes in the next one.
std::string rounds(const std::string& contribution) {
  return std::string("  xor.b32 %r5, %r9, 4;\n  add.u32 %r5, %r5, %r8;\n") +
      kStoreOwn +
      "  bar.sync 0;\n  mov.u32 %r7, 0;\n  mov.u32 %r11, 0;\n"
      "ROUND:\n  mov.u32 %r6, %r7;\n  ld.shared.u32 %r7, [%r2];\n"
      "  shfl.sync.bfly.b32 %r13, " +
      contribution +
      ", 1, 31, -1;\n  add.u32 %r13, %r13, %r1;\n"
      "  st.shared.u32 [%r5], %r13;\n  bar.warp.sync -1;\n"
      "  add.u32 %r11, %r11, 1;\n  setp.lt.u32 %p1, %r11, 3;\n"
      "  @%p1 bra ROUND;\n";
}

TEST(Races, WhatIsContributedInTheNextRoundMayBeReadThen) {
  EXPECT_NE(with(findings(rounds("%r6")), "write after read"), "");
  EXPECT_TRUE(findings(rounds("%r7")).empty());
}

TEST(Races, WhatComesOutOfALocalVariableCanBeAnyValue) {
  EXPECT_TRUE(findings(
                  "  .local .align 4 .b8 place[4];\n" +
                  sum("st.local.u32 [place], %r4; ld.local.u32 %r7, [place];"
                      " shfl.sync.bfly.b32 %r6, %r7, 1, 31, -1;"))
                  .empty());
}

// All threads read a byte, and one of them writes it. In its own warp something
// orders them.
TEST(Races, ReadersOfAnotherWarpAreNotForgotten) {
  for (const char* between :
       {"bar.warp.sync -1;", "shfl.sync.idx.b32 %r6, %r4, 0, 31, -1;"}) {
    for (const char* writer : {"0", "5", "40"}) {
      const std::string body = std::string(kStoreOwn) +
          "  bar.sync 0;\n  ld.shared.u32 %r4, [%r8];\n  " + between +
          "\n  setp.ne.u32 %p1, %r1, " + writer +
          ";\n  @%p1 bra OUT;\n  add.u32 %r4, %r4, 9;\n"
          "  st.shared.u32 [%r8], %r4;\nOUT:\n";
      EXPECT_FALSE(findings(body).empty()) << between << writer;
    }
  }
}

TEST(Races, ReadersThatTakeNoPartAreNotHiddenByOthers) {
  // Lanes 8 to 31 of each warp contribute what they read, lanes 0 to 7 do not.
  const std::string body = std::string(kFirstWarp) +
      "  st.shared.u32 [%r8], 3;\n  bar.warp.sync -1;\n"
      "  ld.shared.u32 %r4, [%r8];\n  setp.lt.u32 %p1, %r1, 8;\n"
      "  @%p1 bra OUT;\n  shfl.sync.idx.b32 %r6, %r4, 8, 31, 0xffffff00;\n"
      "  setp.ne.u32 %p1, %r1, 20;\n  @%p1 bra OUT;\n"
      "  st.shared.u32 [%r8], %r1;\nOUT:\n";
  EXPECT_NE(with(findings(body), "write after read"), "");
}

TEST(Races, TheSameStoreOfAMatrixElsewhereIsOne) {
  const std::string body = std::string(kFill) + kFirstWarp +
      "  mov.u32 %r4, 0;\nAGAIN:\n" +
      "  wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r8], "
      "{%r1, %r1, %r1, %r1}, 8;\n"
      "  add.u32 %r8, %r8, MOVE;\n  add.u32 %r4, %r4, 1;\n"
      "  setp.lt.u32 %p1, %r4, 2;\n  @%p1 bra AGAIN;\nOUT:\n";
  const auto moved = [&](const std::string& bytes) {
    std::string text = body;
    return findings(text.replace(text.find("MOVE"), 4, bytes));
  };
  EXPECT_NE(with(moved("32"), "write after write"), "");
  EXPECT_TRUE(moved("0").empty());
}

TEST(Races, MatricesOfAWarpOrderNoMemory) {
  const std::string store = "  st.shared.u32 [%r2], %r1;\n";
  const std::string load = "  ld.shared.u32 %r4, [%r2];\n";
  const std::string load_rows =
      std::string("  shl.b32 %r11, %r1, 4;\n  add.u32 %r11, %r11, %r8;\n") +
      "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, "
      "[%r11];\n";
  const struct {
    const char* name;
    std::string first;
    std::string second;
    const char* found;
  } cases[] = {
      {"store, load", kStoreMatrix, load, "read after write"},
      {"store, store of a lane", kStoreMatrix, store, "write after write"},
      {"load, store of a lane", kLoadMatrix, store, "write after read"},
      {"rows, store of a lane", load_rows, store, "write after read"},
      {"store of a lane, rows", store, load_rows, "read after write"},
      {"store of a lane, load", store, kLoadMatrix, "read after write"},
      {"store of a lane, store", store, kStoreMatrix, "write after write"},
      {"load of a lane, store", load, kStoreMatrix, "write after read"},
      {"store, load of a matrix",
       kStoreMatrix,
       kLoadMatrix,
       "read after write"},
      {"load, store of a matrix",
       kLoadMatrix,
       kStoreMatrix,
       "write after read"},
  };
  for (const auto& it : cases) {
    const std::string begin = std::string(kFill) + kFirstWarp + it.first;
    const std::string end = it.second + "OUT:\n";
    EXPECT_NE(with(findings(begin + end), it.found), "") << it.name;
    EXPECT_TRUE(findings(begin + "  bar.warp.sync -1;\n" + end).empty())
        << it.name;
    EXPECT_NE(
        with(
            findings(
                begin + "  shfl.sync.idx.b32 %r6, %r1, 0, 31, -1;\n" + end),
            it.found),
        "")
        << it.name;
    // Half of the warp has not seen what the other half did.
    EXPECT_NE(
        with(
            findings(
                begin +
                "  and.b32 %r11, %r1, 16;\n  shl.b32 %r12, 65535, %r11;\n"
                "  bar.warp.sync %r12;\n" +
                end),
            it.found),
        "")
        << it.name;
  }
}

TEST(Races, OneMatrixStoredInALoopIsNone) {
  EXPECT_TRUE(findings(
                  std::string(kFill) + kFirstWarp +
                  "  mov.u32 %r6, 0;\nLOOP:\n" + kStoreMatrix +
                  "  add.u32 %r6, %r6, 1;\n  setp.lt.u32 %p1, %r6, 3;\n"
                  "  @%p1 bra LOOP;\nOUT:\n")
                  .empty());
}

} // namespace
} // namespace cudasim::engine::testing

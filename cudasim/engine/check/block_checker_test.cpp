// What CUDASIM_CHECK=1 reports, and what it must not report.
#include "cudasim/engine/check/block_checker.h"

#include <gtest/gtest.h>

#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/memory/poison.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

constexpr unsigned kThreads = 64;

/// A kernel that gets `%rd1` (memory), `%r1` (the thread), `%r2` (the thread's
/// place in the array `tile`) and `%r3` (that of the next thread).
std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 p) {
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mov.u32 %r8, tile;
  shl.b32 %r9, %r1, 2;
  add.u32 %r2, %r8, %r9;
  add.u32 %r10, %r1, 1;
  rem.u32 %r10, %r10, 64;
  shl.b32 %r10, %r10, 2;
  add.u32 %r3, %r8, %r10;
)" + body +
      "  ret;\n}\n";
}

std::vector<std::string> findings(
    const std::string& body,
    std::size_t poisoned_words = 0) {
  TestDevice device;
  device.load(kernel(body));
  Shape shape;
  shape.block.x = kThreads;
  Findings found;
  shape.findings = &found;
  auto* memory = device.zeros<std::uint32_t>(kThreads);
  poison(memory, poisoned_words * kPoisonWord);
  const Outcome outcome = device.run("k", shape, memory);
  EXPECT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  return found.take();
}

/// The finding that has these words in it; empty when there is none.
std::string with(
    const std::vector<std::string>& found,
    const std::string& words) {
  for (const std::string& text : found) {
    if (text.find(words) != std::string::npos) {
      return text;
    }
  }
  return "";
}

constexpr char kStoreOwn[] = "  st.shared.u32 [%r2], %r1;\n";
constexpr char kLoadNext[] = "  ld.shared.u32 %r4, [%r3];\n";
constexpr char kStoreResult[] =
    "  cvt.u64.u32 %rd2, %r9;\n  add.u64 %rd3, %rd1, %rd2;\n"
    "  st.global.u32 [%rd3], %r4;\n";

TEST(Races, ReadOfAnotherThreadsWriteWithoutABarrier) {
  const std::string race = with(
      findings(std::string(kStoreOwn) + kLoadNext + kStoreResult),
      "read after write");
  ASSERT_NE(race, "");
  EXPECT_NE(race.find("st.shared.u32"), std::string::npos) << race;
  EXPECT_NE(race.find("ld.shared.u32"), std::string::npos) << race;
  EXPECT_NE(race.find("PTX line"), std::string::npos) << race;
}

TEST(Races, NoneWithABarrierBetween) {
  EXPECT_TRUE(
      findings(
          std::string(kStoreOwn) + "  bar.sync 0;\n" + kLoadNext + kStoreResult)
          .empty());
}

TEST(Races, WriteOfWhatAnotherThreadReadsWithoutABarrier) {
  const auto found = findings(
      std::string(kStoreOwn) + "  bar.sync 0;\n" + kLoadNext +
      "  add.u32 %r4, %r4, 7;\n  st.shared.u32 [%r2], %r4;\n");
  EXPECT_NE(with(found, "write after read"), "");
}

TEST(Races, DifferentValuesWrittenToOnePlace) {
  const auto found = findings("  st.shared.u32 [%r8], %r1;\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("write after write"), std::string::npos) << found[0];
}

TEST(Races, TheSameValueWrittenToOnePlaceIsNone) {
  EXPECT_TRUE(
      findings("  mov.u32 %r5, 1;\n  st.shared.u32 [%r8], %r5;\n").empty());
}

TEST(Races, NeighbouringBytesAreNone) {
  EXPECT_TRUE(findings("  add.u32 %r5, %r8, %r1;\n  cvt.u16.u32 %h1, %r1;\n"
                       "  st.shared.u8 [%r5], %h1;\n")
                  .empty());
}

TEST(Races, AtomicsAreNone) {
  EXPECT_TRUE(findings("  mov.u32 %r5, 0;\n  st.shared.u32 [%r8], %r5;\n"
                       "  bar.sync 0;\n"
                       "  atom.shared.add.u32 %r4, [%r8], %r1;\n")
                  .empty());
}

TEST(Races, PlainReadBesideAnAtomicIsOne) {
  const auto found = findings(
      "  mov.u32 %r5, 0;\n  st.shared.u32 [%r8], %r5;\n  bar.sync 0;\n"
      "  atom.shared.add.u32 %r4, [%r8], %r1;\n  ld.shared.u32 %r6, [%r8];\n");
  ASSERT_FALSE(found.empty());
}

TEST(Races, LanesOfAWarpAreOrderedByAWarpBarrier) {
  // Each lane reads what its neighbour in the same warp wrote.
  const std::string neighbour =
      "  xor.b32 %r5, %r9, 4;\n  add.u32 %r5, %r5, %r8;\n";
  const std::string read = "  ld.shared.u32 %r4, [%r5];\n";
  EXPECT_TRUE(
      findings(neighbour + kStoreOwn + "  bar.warp.sync -1;\n" + read).empty());
  EXPECT_EQ(findings(neighbour + kStoreOwn + read).size(), 1u);
}

TEST(Races, EachPairOfInstructionsIsReportedOnce) {
  const auto found = findings(
      std::string("  mov.u32 %r6, 0;\nLOOP:\n") + kStoreOwn + kLoadNext +
      "  add.u32 %r6, %r6, 1;\n  setp.lt.u32 %p1, %r6, 5;\n"
      "  @%p1 bra LOOP;\n");
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(found[i], found[j]);
    }
  }
  EXPECT_FALSE(found.empty());
}

TEST(UninitializedReads, OfSharedMemory) {
  const auto found = findings(kLoadNext);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("Uninitialized read"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("shared memory"), std::string::npos) << found[0];
}

TEST(UninitializedReads, OfFreshGlobalMemory) {
  const auto found = findings(
      "  cvt.u64.u32 %rd2, %r9;\n  add.u64 %rd3, %rd1, %rd2;\n"
      "  ld.global.u32 %r4, [%rd3];\n",
      kThreads);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("global memory"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("ld.global.u32"), std::string::npos) << found[0];
}

TEST(UninitializedReads, OfTheLastWordOnly) {
  const std::string load_all =
      "  cvt.u64.u32 %rd2, %r9;\n  add.u64 %rd3, %rd1, %rd2;\n"
      "  ld.global.u32 %r4, [%rd3];\n";
  EXPECT_EQ(findings(load_all, 1).size(), 1u);
  EXPECT_TRUE(findings(load_all, 0).empty());
}

TEST(UninitializedReads, NotOfWhatTheKernelWroteItself) {
  EXPECT_TRUE(findings(
                  std::string("  mov.u32 %r4, 5;\n") + kStoreResult +
                      "  ld.global.u32 %r4, [%rd3];\n",
                  kThreads)
                  .empty());
}

TEST(UninitializedReads, AtomicsReadToo) {
  EXPECT_EQ(
      findings("  red.global.add.u32 [%rd1], %r1;\n", kThreads).size(), 1u);
}

TEST(UninitializedReads, PaddingOfAStructureThatIsCopiedWholeIsNone) {
  const std::string copy = R"(
  setp.ne.u32 %p0, %r1, 0;
  @%p0 bra OUT;
  ld.global.v2.u32 {%r4, %r5}, [%rd1];
  st.shared.v2.u32 [tile], {%r4, %r5};
OUT:
)";
  EXPECT_FALSE(findings(copy, 2).empty());
  EXPECT_TRUE(findings("  st.global.u32 [%rd1], 7;\n" + copy, 2).empty());
}

TEST(Races, AnMbarrierOrdersWhoArrivesBeforeWhoWaits) {
  EXPECT_TRUE(findings(R"(
  .shared .align 8 .b64 object;
  setp.ne.u32 %p0, %r1, 0;
  @%p0 bra READY;
  mbarrier.init.shared.b64 [object], 64;
READY:
  bar.sync 0;
  st.shared.u32 [%r2], %r1;
  mbarrier.arrive.shared.b64 %rd2, [object];
WAIT:
  mbarrier.test_wait.shared.b64 %p1, [object], %rd2;
  @!%p1 bra WAIT;
  ld.shared.u32 %r4, [%r3];
)")
                  .empty());
}

TEST(Races, AFlagWithFencesOrdersTwoWarps) {
  EXPECT_TRUE(findings(R"(
  .shared .align 4 .b32 flag;
  setp.eq.u32 %p0, %r1, 0;
  @%p0 st.volatile.shared.u32 [flag], 0;
  bar.sync 0;
  setp.eq.u32 %p1, %r1, 32;
  @!%p1 bra NOT_WRITER;
  st.shared.u32 [tile], 7;
  membar.cta;
  st.volatile.shared.u32 [flag], 1;
NOT_WRITER:
  @!%p0 bra OUT;
WAIT:
  ld.volatile.shared.u32 %r4, [flag];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra WAIT;
  membar.cta;
  ld.shared.u32 %r5, [tile];
OUT:
)")
                  .empty());
}

// A tile of 16 bytes for each of 32 rows; lanes of the first warp give their
// addresses.
constexpr char kRows[] =
    "  and.b32 %r11, %r1, 31;\n  shl.b32 %r11, %r11, 4;\n"
    "  add.u32 %r11, %r11, %r8;\n";

TEST(Races, AnAsynchronousCopyWrites) {
  const std::string copy =
      std::string(kRows) + "  cp.async.cg.shared.global [%r11], [%rd1], 16;\n";
  EXPECT_NE(with(findings(copy), "Race in shared memory"), "");
  EXPECT_NE(
      with(findings(copy + kLoadNext), "cp.async.cg.shared.global in k"), "");
}

TEST(UninitializedReads, AnAsynchronousCopyReads) {
  const std::string copy = std::string(kRows) +
      "  setp.lt.u32 %p1, %r1, 32;\n"
      "@%p1 cp.async.cg.shared.global [%r11], [%rd1], 16;\n";
  EXPECT_NE(with(findings(copy, 8), "Uninitialized read of 16 bytes"), "");
  EXPECT_EQ(with(findings(copy, 0), "Uninitialized"), "");
}

TEST(UninitializedReads, MatricesOfAWarp) {
  EXPECT_NE(
      with(
          findings(
              std::string(kRows) +
              "  ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
              "{%r4, %r5, %r6, %r7}, [%r11];\n"),
          "Uninitialized read of 16 bytes of shared memory"),
      "");
  EXPECT_NE(
      with(
          findings(
              "  wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
              "{%r4, %r5, %r6, %r7, %r11, %r12, %r13, %r14}, [%r8], 16;\n"),
          "Uninitialized read of 32 bytes of shared memory"),
      "");
}

TEST(Races, MatricesOfAWarpAreReadAndWritten) {
  // Another warp wrote, and no barrier is between.
  EXPECT_NE(
      with(
          findings(
              std::string(kStoreOwn) + kRows +
              "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r11];\n"),
          "read after write"),
      "");
  EXPECT_EQ(
      with(
          findings(
              std::string(kStoreOwn) + "  bar.sync 0;\n" + kRows +
              "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r11];\n"),
          "Race"),
      "");
  EXPECT_NE(
      with(
          findings(
              std::string(kStoreOwn) +
              "  wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%r8], "
              "{%r1, %r1, %r1, %r1}, 16;\n"),
          "write after write"),
      "");
}

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

TEST(Findings, AreReportedOnceAndCounted) {
  const std::string store = "  st.shared.u32 [%r8], %r1;\n";
  Findings found;
  Shape shape;
  shape.block.x = kThreads;
  shape.findings = &found;
  std::size_t reports = 0;
  for (int module = 0; module < 2; ++module) {
    TestDevice device;
    device.load(kernel(store));
    for (int launch = 0; launch < 3; ++launch) {
      auto* memory = device.zeros<std::uint32_t>(kThreads);
      EXPECT_EQ(device.run("k", shape, memory).fault, FaultKind::kNone);
      reports += found.take().size();
    }
  }
  EXPECT_EQ(reports, 1u);
  ASSERT_EQ(found.totals().size(), 1u);
  EXPECT_NE(found.totals()[0].find(" times in 6 launches"), std::string::npos)
      << found.totals()[0];
  // Another kernel of that name is another program.
  TestDevice device;
  device.load(kernel(store + "  mov.u32 %r4, 0;\n"));
  auto* memory = device.zeros<std::uint32_t>(kThreads);
  EXPECT_EQ(device.run("k", shape, memory).fault, FaultKind::kNone);
  EXPECT_EQ(found.take().size(), 1u);
  EXPECT_EQ(found.totals().size(), 2u);
}

} // namespace
} // namespace cudasim::engine::testing

// What CUDASIM_CHECK=1 reports, and what it must not report.
#include "cudasim/engine/check/block_checker.h"

#include <gtest/gtest.h>

#include "cudasim/engine/check/testing/checked_kernel.h"

namespace cudasim::engine::testing {
namespace {

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

// A tile of more than a warp clears bits of shared memory that nobody has
// written (cooperative_groups/details/sync.h).
TEST(UninitializedReads, BitsThatAreSetOrClearedAreNone) {
  EXPECT_TRUE(findings("  red.and.release.cta.shared::cta.b32 [%r8], -1;\n"
                       "  red.shared.or.b32 [%r8], 0;\n"
                       "  ld.acquire.cta.shared::cta.u32 %r4, [%r8];\n")
                  .empty());
  EXPECT_EQ(findings("  red.shared.add.u32 [%r8], 1;\n").size(), 1u);
  EXPECT_EQ(findings("  atom.shared.and.b32 %r4, [%r8], 1;\n").size(), 1u);
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

TEST(Findings, AreReportedOnceAndCounted) {
  const std::string store = "  st.shared.u32 [%r8], %r1;\n";
  Findings found;
  Shape shape;
  shape.block.x = kThreads;
  shape.findings = &found;
  std::size_t reports = 0;
  for (int module = 0; module < 2; ++module) {
    TestDevice device;
    device.load(checked_kernel(store));
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
  device.load(checked_kernel(store + "  mov.u32 %r4, 0;\n"));
  auto* memory = device.zeros<std::uint32_t>(kThreads);
  EXPECT_EQ(device.run("k", shape, memory).fault, FaultKind::kNone);
  EXPECT_EQ(found.take().size(), 1u);
  EXPECT_EQ(found.totals().size(), 2u);
}

} // namespace
} // namespace cudasim::engine::testing

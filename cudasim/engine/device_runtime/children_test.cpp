// Kernels that launch kernels: when children run, with what, and what a thread
// is told that asks for what there is not. The right answers are those of the
// CUDA programming guide, "CUDA Dynamic Parallelism".
#include "cudasim/engine/device_runtime/testing/launching.h"

#include <algorithm>
#include <sstream>

#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/counts/instruction_counts.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

class Children : public LaunchingTest {};

TEST_F(Children, SeeWhatTheirParentWrote) {
  Shape shape{{4, 1, 1}, {40, 1, 1}};
  shape.workers = 2;
  const Words found = words("st.global.u32 [%out], %t;\n" + append("7"), shape);
  for (U32 i = 0; i < 160; ++i) {
    EXPECT_EQ(found[i], 10 * i + 7);
  }
}

TEST_F(Children, HaveTheirOwnShapeAndSharedMemory) {
  // Each thread of 2 x 3 blocks of 4 x 2 adds its digits to a word.
  const char* const child = R"(
.extern .shared .align 4 .b32 dynamic[];
.visible .entry child(.param .u64 out) {
  .reg .b64 %p; .reg .b32 %r<6>;
  ld.param.u64 %p, [out];
  mov.u32 %r0, %nctaid.x; mov.u32 %r1, %nctaid.y;
  mov.u32 %r2, %ntid.x; mov.u32 %r3, %ntid.y;
  mad.lo.u32 %r0, %r0, 10, %r1; mad.lo.u32 %r0, %r0, 10, %r2;
  mad.lo.u32 %r0, %r0, 10, %r3;
  st.shared.u32 [dynamic+496], %r0;
  ld.shared.u32 %r1, [dynamic+496];
  red.global.add.u32 [%p], %r1;
  mov.u32 %r2, %dynamic_smem_size;
  st.global.u32 [%p+4], %r2;
  ret;
})";
  Child launched{"child", "2,3,1", "4,2,1", "500"};
  const Words found = words(
      by_first(launch(launched, {{0, {"u64", "%out"}}})),
      {{1, 1, 1}, {2, 1, 1}},
      child);
  EXPECT_EQ(found, (Words{48 * 2342, 500}));
}

TEST_F(Children, OfAStreamRunInOrder) {
  EXPECT_EQ(
      words(append("1") + append("2") + append("3") + append("4")),
      Words{1234});
}

TEST_F(Children, OfTheTailStreamRunBehindAllOthers) {
  EXPECT_EQ(
      words(append("8", "3") + append("1") + append("9", "3") + append("2")),
      Words{1289});
  // Fire and forget: any order.
  const U32 found = words(append("1", "4") + append("2", "4"))[0];
  EXPECT_TRUE(found == 12 || found == 21) << found;
}

// A grid is done when all that it has launched is.
TEST_F(Children, AreDoneWithTheirOwnChildren) {
  EXPECT_EQ(
      words(
          append("9", "3") + append("1") +
              launch({"middle"}, {{0, {"u64", "%out"}}}) + append("5"),
          {{1, 1, 1}, {1, 1, 1}},
          kAppend +
              entry("middle", append("4", "3") + append("2") + append("3"))),
      Words{123459});
}

/// A kernel that counts at its first word and launches itself, as long as its
/// count is less than `most`; notes the status of a launch that fails.
std::string itself(const std::string& most, const std::string& stream) {
  Child child{"again"};
  child.stream = stream;
  return entry(
      "again",
      "ld.global.u32 %digit, [%out];\nadd.u32 %digit, %digit, 1;\n"
      "st.global.u32 [%out], %digit;\nsetp.ge.u32 %none, %digit, " +
          most + ";\n@%none bra END;\n" +
          launch(child, {{0, {"u64", "%out"}}}) + error("%out+4") + "END:\n");
}

TEST_F(Children, AreNestedTwentyFourDeep) {
  const Shape two{{1, 1, 1}, {2, 1, 1}};
  const std::string code = by_first(launch({"again"}, {{0, {"u64", "%out"}}}));
  // cudaErrorLaunchMaxDepthExceeded
  EXPECT_EQ(words(code, two, itself("100", "0")), (Words{24, 65}));
  EXPECT_EQ(words(code, two, itself("24", "0")), (Words{24, 0}));
}

TEST_F(Children, OfTheTailStreamMayFollowEachOtherWithoutEnd) {
  const std::string code = by_first(launch({"again"}, {{0, {"u64", "%out"}}}));
  EXPECT_EQ(
      words(code, {{1, 1, 1}, {2, 1, 1}}, itself("5000", "3")),
      (Words{5000, 0}));
}

TEST_F(Children, ThatAreTooManyAreRefused) {
  Child child{"append"};
  child.limit = "3";
  std::string many = "mov.u32 %digit, 1;\n";
  for (int i = 0; i < 5; ++i) {
    many += launch(child, {{0, {"u8", "%digit"}}, {8, {"u64", "%out"}}}) +
        error("%out+" + std::to_string(4 + 4 * i));
  }
  const Shape six{{1, 1, 1}, {6, 1, 1}}; // for as many words
  // cudaErrorLaunchPendingCountExceeded
  EXPECT_EQ(words(by_first(many), six), (Words{111, 0, 0, 0, 69, 69}));
  // They count until they are done: what is launched by a child, too.
  EXPECT_EQ(
      words(
          by_first(launch({"middle"}, {{0, {"u64", "%out"}}})),
          six,
          kAppend + entry("middle", many)),
      (Words{11, 0, 0, 69, 69, 69}));
}

TEST_F(Children, NeedAValidConfiguration) {
  struct Case {
    Child child;
    U32 status;
  };
  const Case cases[] = {
      {{"limited", "1,1,1", "64,1,1"}, 0},
      {{"limited", "0,1,1"}, 9}, // cudaErrorInvalidConfiguration
      {{"limited", "1,65536,1"}, 9},
      {{"limited", "1,1,1", "1025,1,1"}, 9},
      {{"limited", "1,1,1", "1,1,65"}, 9},
      {{"limited", "1,1,1", "1,0,1"}, 9},
      {{"limited", "1,1,1", "65,1,1"}, 1}, // cudaErrorInvalidValue
      {{"limited", "1,1,1", "1,1,1", "166912"}, 0},
      {{"limited", "1,1,1", "1,1,1", "166913"}, 1},
      {{"variable"}, 98}, // cudaErrorInvalidDeviceFunction
      {{"limited", "1,1,1", "1,1,1", "0", "77"}, 400}, // InvalidResourceHandle
  };
  for (const Case& one : cases) {
    EXPECT_EQ(
        words(
            launch(one.child, {}) + error("%out"),
            {{1, 1, 1}, {1, 1, 1}},
            ".visible .entry limited() .maxntid 64 { ret; }\n"
            ".visible .global .u32 variable;\n"),
        Words{one.status})
        << one.child.kernel << "<<<" << one.child.grid << "; "
        << one.child.block << "; " << one.child.shared << "; "
        << one.child.stream << ">>>";
  }
}

TEST_F(Children, EachThreadHasItsLastError) {
  // Odd threads ask for nothing; even ones see theirs twice, then no more.
  const Words found = words(
      "and.b32 %r5, %t, 1;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 bra READ;\n" +
          launch({"append", "0,1,1"}, {}) + "READ:\n" + error("%out", true) +
          "mul.lo.u32 %r6, %status, 100;\n" +
          call("__cudaCDP2GetLastError", {}) +
          "mad.lo.u32 %r6, %status, 10, %r6;\n" +
          call("__cudaCDP2GetLastError", {}) +
          "add.u32 %r6, %status, %r6;\nst.global.u32 [%out], %r6;\n",
      {{2, 1, 1}, {66, 1, 1}});
  for (U32 i = 0; i < 132; ++i) {
    EXPECT_EQ(found[i], i % 66 % 2 == 1 ? 0u : 990u) << i;
  }
}

TEST_F(Children, ThatFaultAreNamed) {
  const std::string report = report_of(
      FaultKind::kIllegalAddress,
      kRegisters +
          ("setp.ne.u32 %p1, %t, 43;\n@%p1 bra END;\n" +
           append("1", "0", "16") + "END:\n"),
      {{2, 1, 1}, {40, 1, 1}},
      std::string(kDeclarations) + kAppend);
  EXPECT_NE(report.find("ld.global.u32 in append"), report.npos) << report;
  EXPECT_NE(
      report.find("launched by thread (3,0,0) in block (1,0,0) of kernel"),
      report.npos)
      << report;
}

TEST_F(Children, ThatCannotBeMadeReadyAreAFault) {
  const std::string report = report_of(
      FaultKind::kUnsupported,
      kRegisters + launch({"broken"}, {}),
      {{1, 1, 1}, {1, 1, 1}},
      std::string(kDeclarations) +
          ".extern .func nowhere();\n"
          ".visible .entry broken() { call.uni nowhere, (); ret; }\n");
  EXPECT_NE(report.find("the function 'nowhere' is not defined"), report.npos)
      << report;
}

TEST_F(Children, OfOlderCudaAreRefused) {
  device.load(
      ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n" +
      kernel("{ .param .b32 r; call.uni (r), cudaDeviceSynchronize, (); }"));
  try {
    device.run("kernel", {}, U64{0});
    FAIL();
  } catch (const LoweringError& error) {
    EXPECT_NE(
        std::string(error.what()).find("CUDA_FORCE_CDP1_IF_SUPPORTED"),
        std::string::npos)
        << error.what();
  }
}

TEST_F(Children, OfACooperativeLaunchLeaveItsWorkspaceAlone) {
  // Each block adds one to a word of the workspace, which is zero before, also
  // behind launches whose parameters are all ones.
  Shape shape{{3, 1, 1}, {1, 1, 1}};
  shape.cooperative = true;
  Words found = words(
      "mov.u32 %r4, %envreg1;\nmov.u32 %r5, %envreg2;\n"
      "mov.b64 %rd1, {%r5, %r4};\n" +
          append("255") + "atom.add.u32 %r6, [%rd1+8], 1;\n" + append("255") +
          "add.u32 %r6, %r6, 1;\nst.global.u32 [%out], %r6;\n",
      shape);
  // The children ran behind it: n * 100 + 255 * 11.
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (Words{2905, 3005, 3105}));
}

TEST_F(Children, AreCheckedAndCounted) {
  const std::string racy = R"(
.shared .align 4 .b32 word;
.visible .entry racy() { .reg .b32 %r0; mov.u32 %r0, %tid.x;
  st.shared.u32 [word], %r0; ret; })";
  Findings findings;
  Shape shape{{1, 1, 1}, {1, 1, 1}};
  shape.findings = &findings;
  words(launch({"racy", "1,1,1", "64,1,1"}, {}), shape, racy);
  const auto found = findings.take();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("in racy"), std::string::npos) << found[0];

  InstructionCounts counts;
  shape.findings = nullptr;
  shape.counts = &counts;
  words(launch({"racy", "3,1,1", "64,1,1"}, {}), shape, racy);
  std::ostringstream all;
  counts.write(all);
  EXPECT_NE(
      all.str().find("racy\t1\tst.shared.u32\talike\t6\t0\t192"),
      std::string::npos)
      << all.str();
}

} // namespace
} // namespace cudasim::engine::testing

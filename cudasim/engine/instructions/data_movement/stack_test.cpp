// alloca: memory of each lane that lives until its function returns.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

constexpr std::uint32_t kThreads = 64;

Outcome run(TestDevice& device, const std::string& text, std::uint32_t* out) {
  device.load(text);
  Shape shape;
  shape.block = {kThreads, 1, 1};
  return device.run("kernel", shape, out);
}

/// Each lane takes as many words as its number and one says, and fills them.
std::string words_of_lanes(const std::string& bits, const std::string& more) {
  const std::string r = ".u" + bits;
  return ".visible .entry kernel(.param .u64 out) {\n"
         ".reg .b64 %out;\n.reg .b32 %lane, %i, %n, %sum, %x;\n.reg .b" +
      bits +
      " %size, %p, %q, %before, %after, %at;\n.reg .pred %more, %odd;\n"
      ".local .align 4 .b8 own[4];\n"
      "mov.u32 %lane, %tid.x;\nst.local.u32 [own], %lane;\n"
      "ld.param.u64 %out, [out];\nmad.wide.u32 %out, %lane, 16, %out;\n"
      "add.u32 %n, %lane, 1;\nmul.lo.u32 %x, %n, 4;\ncvt" +
      r + ".u32 %size, %x;\nstacksave" + r + " %before;\nalloca" + r +
      " %p, %size" + more + ";\nalloca" + r + " %q, %size" + more +
      ";\nmov.u32 %i, 0;\n"
      "FILL:\nmad.lo.u32 %x, %i, 3, %lane;\nmul.lo.u32 %sum, %i, 4;\ncvt" +
      r + ".u32 %at, %sum;\nadd" + r +
      " %at, %at, %p;\nst.local.u32 [%at], %x;\nsub" + r +
      " %at, %at, %p;\nadd" + r +
      " %at, %at, %q;\nst.local.u32 [%at], 1000;\n"
      "add.u32 %i, %i, 1;\nsetp.lt.u32 %more, %i, %n;\n@%more bra FILL;\n"
      "mov.u32 %i, 0;\nmov.u32 %sum, 0;\n"
      "ADD:\nmul.lo.u32 %x, %i, 4;\ncvt" +
      r + ".u32 %at, %x;\nadd" + r +
      " %at, %at, %p;\nld.local.u32 %x, [%at];\nadd.u32 %sum, %sum, %x;\n"
      "add.u32 %i, %i, 1;\nsetp.lt.u32 %more, %i, %n;\n@%more bra ADD;\n"
      "st.global.u32 [%out], %sum;\nstackrestore" +
      r + " %before;\nstacksave" + r + " %after;\nsub" + r +
      " %after, %before, %after;\ncvt.u32" + r +
      " %x, %after;\nst.global.u32 [%out+4], %x;\n"
      "ld.local.u32 %x, [own];\nst.global.u32 [%out+8], %x;\nand.b" +
      bits + " %p, %p, 127;\ncvt.u32" + r +
      " %x, %p;\nst.global.u32 [%out+12], %x;\nret;\n}\n";
}

TEST(Stack, EachLaneHasItsOwn) {
  for (const std::string bits : {"32", "64"}) {
    for (const std::string more : {"", ", 128"}) {
      TestDevice device;
      auto* out = device.zeros<std::uint32_t>(4 * kThreads);
      const Outcome outcome = run(device, words_of_lanes(bits, more), out);
      ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
      for (std::uint32_t lane = 0; lane < kThreads; ++lane) {
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i <= lane; ++i) {
          sum += 3 * i + lane;
        }
        EXPECT_EQ(out[4 * lane], sum);
        EXPECT_EQ(out[4 * lane + 1], 0u) << "all of it is given back";
        EXPECT_EQ(out[4 * lane + 2], lane) << "a variable is another place";
        EXPECT_EQ(out[4 * lane + 3] % (more.empty() ? 8 : 128), 0u);
      }
      for (const char* op : {"alloca.u", "stacksave.u", "stackrestore.u"}) {
        record_checked(op + bits);
      }
    }
  }
}

// Odd lanes call what allocates; 16 KiB would not hold what a thousand calls
// take.
TEST(Stack, AFunctionGivesBackWhatItTook) {
  TestDevice device;
  auto* out = device.zeros<std::uint32_t>(4 * kThreads);
  const Outcome outcome =
      run(device,
          ".func (.param .b32 r) f(.param .b32 a) {\n.reg .b64 %p;\n"
          ".reg .b32 %x;\nalloca.u64 %p, 64;\nld.param.u32 %x, [a];\n"
          "st.local.u32 [%p+60], %x;\nld.local.u32 %x, [%p+60];\n"
          "add.u32 %x, %x, 1;\nst.param.u32 [r], %x;\nret;\n}\n"
          ".visible .entry kernel(.param .u64 out) {\n.reg .b64 %out, %p;\n"
          ".reg .b32 %lane, %x, %i;\n.reg .pred %p1;\n"
          "mov.u32 %lane, %tid.x;\nld.param.u64 %out, [out];\n"
          "mad.wide.u32 %out, %lane, 16, %out;\nalloca.u64 %p, 16;\n"
          "st.local.u32 [%p], %lane;\nmov.u32 %x, 0;\nmov.u32 %i, 0;\nNEXT:\n"
          "and.b32 %x, %lane, 1;\nsetp.ne.u32 %p1, %x, 0;\nmov.u32 %x, %i;\n"
          "@!%p1 bra AFTER;\n"
          "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %i;\n"
          "call (r), f, (a);\nld.param.b32 %x, [r]; }\nAFTER:\n"
          "add.u32 %i, %i, 1;\nsetp.lt.u32 %p1, %i, 1000;\n@%p1 bra NEXT;\n"
          "st.global.u32 [%out], %x;\nld.local.u32 %x, [%p];\n"
          "st.global.u32 [%out+4], %x;\nret;\n}\n",
          out);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  for (std::uint32_t lane = 0; lane < kThreads; ++lane) {
    EXPECT_EQ(out[4 * lane], 999 + lane % 2);
    EXPECT_EQ(out[4 * lane + 1], lane);
  }
}

TEST(Stack, MoreThanThereIsIsAFault) {
  for (const std::string code :
       {"alloca.u64 %p, 1000000;",
        "alloca.u64 %p, -16;",
        "mov.u64 %p, 0xfffffffffffffff0;\nstackrestore.u64 %p;",
        "NEXT: alloca.u64 %p, 64;\nbra NEXT;"}) {
    TestDevice device;
    auto* out = device.zeros<std::uint32_t>(4 * kThreads);
    const Outcome outcome =
        run(device,
            ".visible .entry kernel(.param .u64 out) {\n.reg .b64 %p;\n" +
                code + "\nret;\n}\n",
            out);
    EXPECT_EQ(outcome.fault, FaultKind::kStackOverflow) << code;
  }
}

} // namespace
} // namespace cudasim::engine::testing

// The functions of CUDA's device runtime: printf, assert, malloc and free.
#include <algorithm>
#include <new>

#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

class Builtins : public KernelTest {
 protected:
  /// A .global array with a text and its 0.
  static std::string text(const std::string& name, const std::string& value) {
    std::string bytes;
    for (const char c : value) {
      bytes += std::to_string(static_cast<int>(c)) + ", ";
    }
    return ".global .align 1 .b8 " + name + "[" +
        std::to_string(value.size() + 1) + "] = {" + bytes + "0};\n";
  }

  static std::string vprintf_declaration() {
    return ".extern .func (.param .b32 result) vprintf("
           ".param .b64 format, .param .b64 arguments);\n";
  }
  /// Calls vprintf with the bytes at `arguments`, a .local array; %r9 gets the
  /// result.
  static std::string call_vprintf(const std::string& format) {
    return "{ .param .b64 f; .param .b64 a; .param .b32 n;\n"
           "mov.u64 %rd8, " +
        format +
        ";\ncvta.global.u64 %rd8, %rd8;\n"
        "mov.u64 %rd9, arguments;\ncvta.local.u64 %rd9, %rd9;\n"
        "st.param.b64 [f], %rd8;\nst.param.b64 [a], %rd9;\n"
        "call (n), vprintf, (f, a);\nld.param.b32 %r9, [n]; }\n";
  }
};

TEST_F(Builtins, PrintfFormatsItsArguments) {
  // Arguments lie in memory as in a structure: an int, a double, a long long,
  // a pointer to a text.
  const auto words = words_of(
      R"(.local .align 8 .b8 arguments[40];
      setp.eq.u32 %p0, %lane, 3;
      mov.u64 %rd0, arguments;
      mov.u32 %r1, -42;
      st.local.u32 [%rd0], %r1;
      mov.f64 %rd1, 0d4004000000000000;
      st.local.f64 [%rd0+8], %rd1;
      mov.u64 %rd1, 1234567890123;
      st.local.u64 [%rd0+16], %rd1;
      mov.u64 %rd1, word;
      cvta.global.u64 %rd1, %rd1;
      st.local.u64 [%rd0+24], %rd1;
      mov.u32 %r1, 255;
      st.local.u32 [%rd0+32], %r1;
      mov.u32 %r9, 0;
      @!%p0 bra OUT;
      )" + call_vprintf("format") +
          "OUT: st.global.u32 [%out], %r9;",
      {},
      vprintf_declaration() + text("word", "hello") +
          text("format", "%5d|%.3f|%lld|%s|%x|100%%\n"));
  const std::string right = "  -42|2.500|1234567890123|hello|ff|100%\n";
  EXPECT_EQ(device.printed, right);
  EXPECT_EQ(words[3], 5u); // arguments, not characters
  EXPECT_EQ(words[4], 0u);
}

TEST_F(Builtins, PrintfNeedsNoResult) {
  // As Taichi declares and calls it, and with registers.
  words_of(
      R"(.local .align 8 .b8 arguments[8];
      setp.ne.u32 %p0, %lane, 3;
      @%p0 bra OUT;
      st.local.u32 [arguments], %lane;
      mov.u64 %rd8, format;
      cvta.global.u64 %rd8, %rd8;
      mov.u64 %rd9, arguments;
      cvta.local.u64 %rd9, %rd9;
      { .param .b64 p0; .param .b64 p1;
      st.param.b64 [p0], %rd8;
      st.param.b64 [p1], %rd9;
      call.uni vprintf, (p0, p1); }
      call vprintf, (%rd8, %rd9);
      OUT:)",
      {},
      ".extern .func vprintf (.param .b64 a, .param .b64 b);\n" +
          text("format", "lane %d\n"));
  EXPECT_EQ(device.printed, "lane 3\nlane 3\n");
}

TEST_F(Builtins, EveryLanePrintsInItsTurn) {
  words_of(
      R"(.local .align 8 .b8 arguments[8];
      mov.u64 %rd0, arguments;
      st.local.u32 [%rd0], %t;
      )" + call_vprintf("format"),
      {{1, 1, 1}, {40, 1, 1}},
      vprintf_declaration() + text("format", "%u,"));
  std::string right;
  for (int thread = 0; thread < 40; ++thread) {
    right += std::to_string(thread) + ",";
  }
  EXPECT_EQ(device.printed, right);
}

TEST_F(Builtins, PrintfReadsTextsInEverySpace) {
  // Lane 3 puts "Go" into shared and local memory and prints both, and one of
  // .const memory.
  const auto words = words_of(
      R"(.local .align 8 .b8 arguments[24];
      .local .align 4 .b8 own[8];
      .shared .align 4 .b8 common[8];
      setp.eq.u32 %p0, %lane, 3;
      mov.u32 %r9, 0;
      @!%p0 bra OUT;
      mov.u64 %rd0, arguments;
      mov.u32 %r1, 0x6f47;
      st.shared.u32 [common], %r1;
      mov.u64 %rd1, common;
      cvta.shared.u64 %rd1, %rd1;
      st.local.u64 [%rd0], %rd1;
      mov.u64 %rd2, own;
      st.local.u32 [%rd2], %r1;
      cvta.local.u64 %rd2, %rd2;
      st.local.u64 [%rd0+8], %rd2;
      mov.u64 %rd1, fixed;
      cvta.const.u64 %rd1, %rd1;
      st.local.u64 [%rd0+16], %rd1;
      )" + call_vprintf("format") +
          "OUT: st.global.u32 [%out], %r9;",
      {},
      vprintf_declaration() +
          ".const .align 1 .b8 fixed[4] = {111, 107, 33, 0};\n" +
          text("format", "%s %4s %.2s"));
  EXPECT_EQ(device.printed, "Go   Go ok");
  EXPECT_EQ(words[3], 3u);
}

TEST_F(Builtins, PrintfOfALongTextPrintsAllOfIt) {
  const std::string word(3000, 'x');
  const auto words = words_of(
      R"(.local .align 8 .b8 arguments[8];
      mov.u64 %rd0, arguments;
      mov.u64 %rd1, word;
      cvta.global.u64 %rd1, %rd1;
      st.local.u64 [%rd0], %rd1;
      )" + call_vprintf("format") +
          "st.global.u32 [%out], %r9;",
      {{1, 1, 1}, {1, 1, 1}},
      vprintf_declaration() + text("word", word) + text("format", "%s"));
  EXPECT_EQ(device.printed, word);
  EXPECT_EQ(words[0], 1u);
}

TEST_F(Builtins, PrintfWithoutWhatItsFormatAsksForPrintsZeros) {
  // nvcc passes a null pointer when there are no arguments.
  const auto words = words_of(
      R"({ .param .b64 f; .param .b64 a; .param .b32 n;
      mov.u64 %rd8, format;
      cvta.global.u64 %rd8, %rd8;
      st.param.b64 [f], %rd8;
      st.param.b64 [a], 0;
      call (n), vprintf, (f, a);
      ld.param.b32 %r9, [n]; }
      { .param .b64 f; .param .b64 a; .param .b32 n;
      st.param.b64 [f], 0;
      st.param.b64 [a], 0;
      call (n), vprintf, (f, a);
      ld.param.b32 %r8, [n]; }
      mad.lo.u32 %r9, %r9, 100, %r8;
      st.global.u32 [%out], %r9;)",
      {{1, 1, 1}, {1, 1, 1}},
      vprintf_declaration() + text("format", "%d %s %g %*u|"));
  EXPECT_EQ(device.printed, "0 (null) 0 0|");
  EXPECT_EQ(words[0], 5u * 100 - 1); // a format that is null: -1
}

TEST_F(Builtins, AFailedAssertionStopsTheKernelAndSaysWhere) {
  ::testing::internal::CaptureStderr();
  report_of(
      FaultKind::kAssert,
      R"(setp.ne.u32 %p0, %t, 37;
      @%p0 bra OUT;
      { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d;
        .param .b64 e;
      mov.u64 %rd0, message; cvta.global.u64 %rd0, %rd0;
      st.param.b64 [a], %rd0;
      mov.u64 %rd0, file; cvta.global.u64 %rd0, %rd0;
      st.param.b64 [b], %rd0;
      st.param.b32 [c], 12;
      mov.u64 %rd0, function; cvta.global.u64 %rd0, %rd0;
      st.param.b64 [d], %rd0;
      st.param.b64 [e], 1;
      call __assertfail, (a, b, c, d, e); }
      OUT: st.global.u32 [%out], 1;)",
      {{2, 1, 1}, {32, 1, 1}},
      ".extern .func __assertfail(.param .b64 a, .param .b64 b,"
      " .param .b32 c, .param .b64 d, .param .b64 e);\n" +
          text("message", "i < n") + text("file", "kernel.cu") +
          text("function", "void f(int)"));
  EXPECT_EQ(
      ::testing::internal::GetCapturedStderr(),
      "kernel.cu:12: void f(int): block: [1,0,0], thread: [5,0,0] "
      "Assertion `i < n` failed.\n");
}

const char* const kHeap =
    ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"
    ".extern .func free(.param .b64 memory);\n";

TEST_F(Builtins, MemoryOfTheHeapIsUsableByAllLanes) {
  const auto words = words_of(
      R"({ .param .b64 size; .param .b64 memory;
      st.param.b64 [size], 16;
      call (memory), malloc, (size);
      ld.param.b64 %rd0, [memory]; }
      mul.lo.u32 %r0, %t, 7;
      st.global.u32 [%rd0+12], %r0;
      ld.u32 %r1, [%rd0+12];
      st.global.u32 [%out], %r1;
      { .param .b64 memory;
      st.param.b64 [memory], %rd0;
      call free, (memory); })",
      {{3, 1, 1}, {64, 1, 1}},
      kHeap);
  for (std::uint32_t thread = 0; thread < words.size(); ++thread) {
    EXPECT_EQ(words[thread], 7 * thread);
  }
}

TEST_F(Builtins, FreedMemoryIsNoMemory) {
  report_of(
      FaultKind::kIllegalAddress,
      R"({ .param .b64 size; .param .b64 memory;
      st.param.b64 [size], 16;
      call (memory), malloc, (size);
      ld.param.b64 %rd0, [memory]; }
      { .param .b64 memory;
      st.param.b64 [memory], %rd0;
      call free, (memory); }
      st.global.u32 [%rd0], %t;)",
      {{1, 1, 1}, {1, 1, 1}},
      kHeap);
}

/// Calls of malloc and free: %rd0 is the memory.
const char* const kMalloc16 =
    "{ .param .b64 size; .param .b64 memory;\n"
    "st.param.b64 [size], 16;\n"
    "call (memory), malloc, (size);\n"
    "ld.param.b64 %rd0, [memory]; }\n";
const char* const kFreeIt =
    "{ .param .b64 memory;\nst.param.b64 [memory], %rd0;\n"
    "call free, (memory); }\n";

TEST_F(Builtins, WhatOneWarpFreesIsNoMemoryForTheOthers) {
  // Both warps have used it when warp 0 frees it.
  Shape shape;
  shape.block.x = 64;
  const std::string report = report_of(
      FaultKind::kIllegalAddress,
      R"(.shared .align 8 .b64 pointer;
      setp.ne.u32 %p0, %t, 0;
      @%p0 bra SHARED;
      )" + std::string(kMalloc16) +
          R"(st.shared.u64 [pointer], %rd0;
      SHARED:
      bar.sync 0;
      ld.shared.u64 %rd0, [pointer];
      st.volatile.global.u32 [%rd0+4], %t;
      bar.sync 0;
      @%p0 bra FREED;
      )" + kFreeIt +
          R"(FREED:
      bar.sync 0;
      setp.lt.u32 %p1, %t, 32;
      @!%p1 st.global.u32 [%rd0+4], %t;)",
      shape,
      kHeap);
  EXPECT_NE(report.find("by thread (32,0,0)"), std::string::npos) << report;
  EXPECT_NE(report.find("the heap of malloc in kernels"), std::string::npos)
      << report;
}

TEST_F(Builtins, WhatOneBlockFreesIsNoMemoryForTheOthers) {
  // Block 1 uses what block 0 gave it, lets block 0 free it, and uses it again:
  // at the same time on two host threads, and in turns on one.
  for (const unsigned workers : {1u, 2u}) {
    Shape shape;
    shape.grid.x = 2;
    shape.block.x = 1;
    shape.workers = workers;
    shape.cooperative = true;
    const std::string report = report_of(
        FaultKind::kIllegalAddress,
        R"(mov.u64 %rd5, step;
        setp.ne.u32 %p0, %t, 0;
        @%p0 bra OTHER;
        )" + std::string(kMalloc16) +
            R"(st.global.u64 [%rd5+8], %rd0;
        st.global.u32 [%rd0], 1;
        atom.global.exch.b32 %r0, [%rd5], 1;
        WAIT_FOR_USE:
        ld.acquire.gpu.global.u32 %r0, [%rd5];
        setp.ne.u32 %p1, %r0, 2;
        @%p1 bra WAIT_FOR_USE;
        )" + kFreeIt +
            R"(atom.global.exch.b32 %r0, [%rd5], 3;
        bra OUT;
        OTHER:
        ld.acquire.gpu.global.u32 %r0, [%rd5];
        setp.ne.u32 %p1, %r0, 1;
        @%p1 bra OTHER;
        ld.global.u64 %rd0, [%rd5+8];
        st.global.u32 [%rd0], 2;
        atom.global.exch.b32 %r0, [%rd5], 2;
        WAIT_FOR_FREE:
        ld.acquire.gpu.global.u32 %r0, [%rd5];
        setp.ne.u32 %p1, %r0, 3;
        @%p1 bra WAIT_FOR_FREE;
        st.global.u32 [%rd0], 4;
        OUT:)",
        shape,
        std::string(kHeap) + ".global .align 8 .b32 step[4];\n");
    EXPECT_NE(report.find("in block (1,0,0)"), std::string::npos) << report;
  }
}

TEST_F(Builtins, TheHeapIsAsLargeAsItsLimit) {
  // Each of 40 threads takes 1 MB.
  const std::string code =
      R"({ .param .b64 size; .param .b64 memory;
      st.param.b64 [size], 1048576;
      call (memory), malloc, (size);
      ld.param.b64 %rd0, [memory]; }
      setp.eq.u64 %p0, %rd0, 0;
      @!%p0 st.global.u32 [%rd0+1048572], %t;
      selp.u32 %r0, 0, 1, %p0;
      st.global.u32 [%out], %r0;)";
  Shape shape;
  shape.block.x = 40;
  const auto given = [](const std::vector<std::uint32_t>& words) {
    return std::count(words.begin(), words.end(), 1u);
  };
  EXPECT_EQ(given(words_of(code, shape, kHeap)), 8);
  EXPECT_FALSE(device.heap().set_limit(64 << 20)) << "it is in use";
  device.heap().reset();
  EXPECT_TRUE(device.heap().set_limit(64 << 20));
  EXPECT_EQ(given(words_of(code, shape, kHeap)), 40);
  EXPECT_EQ(given(words_of(code, shape, kHeap)), 24) << "the rest";
}

TEST_F(Builtins, FreeOfWhatWasNotAllocatedIsAFault) {
  report_of(
      FaultKind::kIllegalAddress,
      R"({ .param .b64 memory;
      st.param.b64 [memory], %out;
      call free, (memory); })",
      {},
      kHeap);
}

TEST_F(Builtins, WhatAWorkerThrowsReachesTheCaller) {
  // When all of them have stopped, and not as the end of the process.
  for (const unsigned workers : {1u, 3u}) {
    device.print = [](std::string_view) { throw std::bad_alloc(); };
    Shape shape;
    shape.grid.x = 64;
    shape.workers = workers;
    const std::string code =
        ".local .align 8 .b8 arguments[8];\n" + call_vprintf("format");
    const std::string before =
        vprintf_declaration() + text("format", "something");
    EXPECT_THROW(words_of(code, shape, before), std::bad_alloc);
    device.print = nullptr;
    words_of(code, shape, before);
  }
}

} // namespace
} // namespace cudasim::engine::testing

// The functions of CUDA's device runtime: printf, assert, malloc and free.
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
  EXPECT_EQ(words[3], right.size());
  EXPECT_EQ(words[4], 0u);
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

TEST_F(Builtins, FreeOfWhatWasNotAllocatedIsAFault) {
  report_of(
      FaultKind::kIllegalAddress,
      R"({ .param .b64 memory;
      st.param.b64 [memory], %out;
      call free, (memory); })",
      {},
      kHeap);
}

} // namespace
} // namespace cudasim::engine::testing

// Programs that were not the same optimized once, or might not be.
#include <gtest/gtest.h>

#include <string>

#include "cudasim/engine/optimization/testing/comparison.h"

namespace cudasim::engine::optimization {
namespace {

/// A program that was not the same once.
struct Example {
  const char* name;
  std::string functions; // before the kernel
  std::string code; // of the kernel: from %t to %r1
};

std::string kernel_of(const Example& example) {
  return example.functions +
      ".visible .entry kernel(.param .u64 out) {\n"
      ".reg .b64 %out, %a<10>; .reg .b32 %t, %r<10>; .reg .f32 %f<4>;\n"
      ".reg .f64 %g<4>; .reg .pred %p<4>;\n"
      ".local .align 8 .b8 kept[16];\n"
      "mov.u32 %t, %tid.x;\nld.param.u64 %out, [out];\n"
      "mad.wide.u32 %out, %t, 4, %out;\nst.local.u32 [kept], %t;\n" +
      example.code + "\nst.global.u32 [%out], %r1;\nret;\n}\n";
}

/// Calls of a function with 8 KiB of local memory, which stay there.
std::string many_calls() {
  std::string code = "mov.u32 %r1, 0;\n";
  for (int i = 0; i < 80; ++i) {
    code +=
        "{ .param .b32 give; .param .b32 taken; st.param.b32 [give], %t;\n"
        "call (taken), large, (give); ld.param.b32 %r2, [taken];\n"
        "add.u32 %r1, %r1, %r2; }\n";
  }
  return code;
}

const Example kExamples[] = {
    {"carry of a sum that nobody reads",
     "",
     "add.cc.u32 %r2, %t, 0xFFFFFFF0;\naddc.u32 %r1, 0, 0;"},
    {"borrow of a difference that nobody reads",
     "",
     "sub.cc.u32 %r2, %t, 16;\nsubc.u32 %r1, 0, 0;"},
    {"carry of a product that nobody reads",
     "",
     "mad.lo.cc.u32 %r2, %t, 0x10000000, 0xF0000000;\naddc.u32 %r1, 0, 0;"},
    {"register of 8 bits that is stored and loaded",
     "",
     ".reg .u8 %c<4>;\ncvt.u8.u32 %c0, %t;\nst.local.u8 [kept], %c0;\n"
     "ld.local.u8 %c1, [kept];\ncvt.u32.u8 %r1, %c1;"},
    {"signed register of 8 bits",
     "",
     ".reg .s8 %c<4>;\nsub.u32 %r2, %t, 20;\ncvt.s8.s32 %c0, %r2;\n"
     "st.local.s8 [kept], %c0;\nld.local.s8 %r1, [kept];"},
    {"register of 8 bits with a number that is known",
     "",
     ".reg .u8 %c<4>;\nmov.u32 %r2, 5;\ncvt.u8.u32 %c0, %r2;\n"
     "st.global.u8 [%out], %c0;\nld.local.u32 %r1, [kept];"},
    {"32 bits that a register of type .f64 gets",
     "",
     "ld.local.b32 %g0, [kept];\nmov.b64 {%r1, %r2}, %g0;"},
    {"8 bits that a register of type .f32 gets",
     "",
     "ld.local.b8 %f0, [kept];\nmov.b32 %r1, %f0;"},
    {"local memory of functions that are called one behind the other",
     ".func (.param .b32 taken) large(.param .b32 given) {\n"
     ".local .align 8 .b8 kept[8192]; .reg .b32 %r<4>; .reg .b64 %a<4>;\n"
     "ld.param.u32 %r0, [given];\nmul.wide.u32 %a0, %r0, 4;\n"
     "mov.u64 %a1, kept;\nadd.u64 %a1, %a1, %a0;\nst.local.u32 [%a1], %r0;\n"
     "ld.local.u32 %r1, [%a1];\nst.param.b32 [taken], %r1;\nret;\n}\n",
     many_calls()},
    {"argument that is not stored in each round",
     ".func (.param .b32 taken) f(.param .b32 given) {\n"
     ".reg .b32 %r<4>; .reg .b64 %a;\nmov.b64 %a, given;\n"
     "ld.local.u32 %r0, [%a];\nadd.u32 %r1, %r0, 100;\n"
     "st.local.u32 [%a], %r1;\nst.param.b32 [taken], %r0;\nret;\n}\n",
     ".param .b32 give; .param .b32 taken;\nmov.u32 %r1, 0;\n"
     "mov.u32 %r2, 0;\nagain: setp.eq.u32 %p0, %r2, 0;\n"
     "@%p0 st.param.b32 [give], %t;\ncall (taken), f, (give);\n"
     "ld.param.b32 %r3, [taken];\nadd.u32 %r1, %r1, %r3;\n"
     "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 3;\n@%p1 bra again;"},
};

TEST(Functions, AreTheSameOptimized) {
  for (const Example& example : kExamples) {
    expect_same(kernel_of(example), 1, example.name);
  }
}

/// Nothing is there for a generic address that is one of local memory.
TEST(Functions, HaveTheSameFaultsOptimized) {
  const std::string text =
      kernel_of({"", "", "mov.u64 %a0, kept;\nld.u32 %r1, [%a0];"});
  EXPECT_NE(run_kernel("0", text, 1).trouble, "");
  EXPECT_NE(run_kernel("1", text, 1).trouble, "");
}

} // namespace
} // namespace cudasim::engine::optimization

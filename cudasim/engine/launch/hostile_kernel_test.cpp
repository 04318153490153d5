// Kernels that PTX allows and that access what they must not, or stand at its
// border.
#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

using Hostile = KernelTest;

TEST_F(Hostile, TheByteBeforeNullIsNoMemory) {
  for (const char* access :
       {"st.global.u8 [%rd1+-1], %r1;",
        "st.u8 [%rd1+-1], %r1;",
        "ld.global.u8 %r1, [%rd1+-1];",
        "ld.u32 %r1, [%rd1+-4];",
        "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1+-16];",
        "red.global.add.u32 [%rd1+-4], 1;"}) {
    report_of(
        FaultKind::kIllegalAddress,
        std::string("mov.u64 %rd1, 0;\nmov.u32 %r1, 1;\n") + access);
  }
}

TEST_F(Hostile, AnAddressInSharedMemoryHas32Bits) {
  const std::vector<std::uint32_t> words = words_of(
      ".shared .align 4 .b32 word[2];\n"
      "mov.u32 %r1, word;\nmov.u32 %r2, 77;\nst.shared.u32 [%r1], %r2;\n"
      "sub.u32 %r3, %r1, 4;\nld.shared.u32 %r4, [%r3+4];\n"
      "st.global.u32 [%out], %r4;");
  EXPECT_EQ(words[0], 77u);
  EXPECT_EQ(words[31], 77u);
}

TEST_F(Hostile, TheAddressOfALocalVariableFitsItsRegister) {
  // The registers beside it keep their values.
  const std::vector<std::uint32_t> words = words_of(
      ".local .align 8 .b32 own[4];\n"
      "mov.u32 %r1, 11;\nmov.u32 %r3, 33;\n"
      "mov.u32 %r2, own;\nst.local.u32 [%r2+4], %r1;\n"
      "mov.u64 %rd1, own;\nld.local.u32 %r4, [%rd1+4];\n"
      "mul.lo.u32 %r4, %r4, 1000;\nadd.u32 %r4, %r4, %r3;\n"
      "st.global.u32 [%out], %r4;");
  EXPECT_EQ(words[0], 11033u);
  EXPECT_EQ(words[31], 11033u);
}

TEST_F(Hostile, ACopyReadsItsWholeSource) {
  const std::string begin =
      ".shared .align 16 .b8 room[1024];\n"
      "mov.u32 %r1, %laneid;\nmov.u32 %r2, room;\nmad.lo.u32 %r2, %r1, 16, "
      "%r2;\n";
  // 32 words: from behind the last, and from the last one on.
  for (const char* source :
       {"add.u64 %rd1, %rd1, 128;\n"
        "cp.async.cg.shared.global [%r2], [%rd1], 16;\n",
        "add.u64 %rd1, %rd1, 124;\n"
        "cp.async.ca.shared.global [%r2], [%rd1], 16, 8;\n"}) {
    report_of(
        FaultKind::kIllegalAddress,
        begin + "ld.param.u64 %rd1, [out];\n" + source);
  }
  // What is asked for less is zeros, and not read.
  words_of(
      begin +
      "ld.param.u64 %rd1, [out];\nadd.u64 %rd1, %rd1, 120;\n"
      "cp.async.ca.shared.global [%r2], [%rd1], 16, 8;\n");
  words_of(
      begin +
      "mov.u64 %rd1, 0;\nsetp.eq.u32 %p1, %r1, %r1;\n"
      "cp.async.ca.shared.global [%r2], [%rd1], 16, 0;\n"
      "cp.async.ca.shared.global [%r2], [%rd1], 16, %p1;\n");
}

TEST_F(Hostile, WhatIsDiscardedHasAPlace) {
  // "_" in place of each kind of result.
  const std::vector<std::uint32_t> words = words_of(
      "mov.u32 %r1, 5;\nmov.b64 {%r2, _}, 42;\n"
      "atom.global.add.u32 _, [%out], %r2;\n"
      ".reg .b16 %half;\nld.global.v2.u16 {_, %half}, [%out];\n");
  EXPECT_EQ(words[0], 42u);
}

TEST_F(Hostile, ConversionsFindTheirFloatsInWiderRegisters) {
  const std::vector<std::uint32_t> words = words_of(
      ".reg .f32 %f<3>;\n.reg .b16 %h<3>;\n"
      "cvt.rn.f32.u32 %f1, %lane;\n"
      // f16 in 32 bits, and back; f32 in 64 bits.
      "cvt.rn.f16.f32 %r1, %f1;\ncvt.f32.f16 %f2, %r1;\n"
      "mov.b32 %r2, %f2;\ncvt.u64.u32 %rd1, %r2;\n"
      "cvt.rzi.u32.f32 %r3, %rd1;\nst.global.u32 [%out], %r3;");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(words[i], i);
  }
}

TEST_F(Hostile, AFunctionWithOtherParametersIsNotCalled) {
  report_of(
      FaultKind::kIllegalInstruction,
      ".param .b32 little;\n"
      "P: .callprototype _ (.param .b32 _);\n"
      "mov.u64 %rd1, large;\ncall %rd1, (little), P;",
      {},
      ".func large(.param .align 8 .b8 all[4096]) {\nret;\n}\n");
}

TEST_F(Hostile, ABranchPastTheEndOfItsListGoesOn) {
  report_of(
      FaultKind::kIllegalInstruction,
      "T: .branchtargets A, B;\nmov.u32 %r1, 7;\nbrx.idx %r1, T;\nA: B:");
}

} // namespace
} // namespace cudasim::engine::testing

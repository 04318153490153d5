// Calls of functions: parameters, recursion, addresses, divergence.
#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

class Calls : public KernelTest {};
using U32 = std::uint32_t;

/// add_mul(a, b) = a + 3 b, and fibonacci(n).
const std::string kFunctions = R"(
.func (.param .b32 result) add_mul(.param .b32 a, .param .b32 b) {
  .reg .b32 %x, %y;
  ld.param.u32 %x, [a];
  ld.param.u32 %y, [b];
  mad.lo.u32 %x, %y, 3, %x;
  st.param.b32 [result], %x;
  ret;
}
.func (.param .b32 result) fibonacci(.param .b32 n) {
  .reg .b32 %n, %a, %b;
  .reg .pred %small;
  ld.param.u32 %n, [n];
  setp.lt.u32 %small, %n, 2;
  @%small bra SMALL;
  sub.u32 %a, %n, 1;
  { .param .b32 argument; .param .b32 answer;
    st.param.b32 [argument], %a;
    call (answer), fibonacci, (argument);
    ld.param.b32 %a, [answer]; }
  sub.u32 %b, %n, 2;
  { .param .b32 argument; .param .b32 answer;
    st.param.b32 [argument], %b;
    call.uni (answer), fibonacci, (argument);
    ld.param.b32 %b, [answer]; }
  add.u32 %n, %a, %b;
  SMALL:
  st.param.b32 [result], %n;
  ret;
}
)";

std::string call_add_mul(const std::string& guard) {
  return "{ .param .b32 x; .param .b32 y; .param .b32 z;\n"
         "st.param.b32 [x], %r0;\nst.param.b32 [y], %r1;\n"
         "st.param.b32 [z], 9;\n" +
      guard +
      "call (z), add_mul, (x, y);\nld.param.b32 %r2, [z]; }\n"
      "st.global.u32 [%out], %r2;";
}

TEST_F(Calls, PassArgumentsAndResults) {
  const auto words = words_of(
      "mov.u32 %r0, %t;\nmul.lo.u32 %r1, %t, %t;\n" + call_add_mul(""),
      {{2, 1, 1}, {40, 1, 1}},
      kFunctions);
  for (U32 thread = 0; thread < 80; ++thread) {
    EXPECT_EQ(words[thread], thread + 3 * thread * thread);
  }
  record_checked("call");
}

TEST_F(Calls, AGuardedCallIsMadeByItsLanes) {
  const auto words = words_of(
      "mov.u32 %r0, %t;\nmov.u32 %r1, 1;\nsetp.gt.u32 %p0, %lane, 11;\n" +
          call_add_mul("@%p0 "),
      {},
      kFunctions);
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane > 11 ? lane + 3 : 9);
  }
}

TEST_F(Calls, CanBeRecursiveAndEndAtDifferentDepths) {
  const auto words = words_of(
      R"(and.b32 %r0, %lane, 15;
      { .param .b32 x; .param .b32 y;
      st.param.b32 [x], %r0;
      call (y), fibonacci, (x);
      ld.param.b32 %r1, [y]; }
      activemask.b32 %r2;
      popc.b32 %r2, %r2;
      mad.lo.u32 %r1, %r1, 64, %r2;
      st.global.u32 [%out], %r1;)",
      {},
      kFunctions);
  const U32 fibonacci[] = {
      0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], fibonacci[lane % 16] * 64 + 32) << lane;
  }
}

const std::string kOperations = R"(
.func (.param .b32 result) twice(.param .b32 a) {
  .reg .b32 %x; ld.param.u32 %x, [a]; shl.b32 %x, %x, 1;
  st.param.b32 [result], %x; ret; }
.func (.param .b32 result) square(.param .b32 a) {
  .reg .b32 %x; ld.param.u32 %x, [a]; mul.lo.u32 %x, %x, %x;
  st.param.b32 [result], %x; ret; }
.func (.param .b32 result) minus(.param .b32 a) {
  .reg .b32 %x; ld.param.u32 %x, [a]; neg.s32 %x, %x;
  st.param.b32 [result], %x; ret; }
.global .align 8 .u64 table[3] = {twice, square, minus};
)";

std::string indirect_call(const std::string& guard) {
  return R"(
    rem.u32 %r0, %lane, 3;
    mov.u64 %rd0, table;
    mad.wide.u32 %rd0, %r0, 8, %rd0;
    ld.global.u64 %rd1, [%rd0];
    mov.u32 %r1, 77;
    setp.lt.u32 %p0, %lane, 20;
    { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %lane;
    st.param.b32 [y], 77;
    PROTOTYPE: .callprototype (.param .b32 _) _ (.param .b32 _);
    )" +
      guard + R"(call (y), %rd1, (x), PROTOTYPE;
    ld.param.b32 %r1, [y]; }
    activemask.b32 %r2;
    setp.eq.u32 %p1, %r2, 0xffffffff;
    @!%p1 add.u32 %r1, %r1, 100000;
    st.global.u32 [%out], %r1;)";
}

U32 operation(U32 lane) {
  return lane % 3 == 0 ? 2 * lane : lane % 3 == 1 ? lane * lane : 0 - lane;
}

TEST_F(Calls, LanesCallFunctionsByTheirAddresses) {
  const auto words = words_of(indirect_call(""), {}, kOperations);
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], operation(lane)) << lane;
  }
}

TEST_F(Calls, GuardedCallsByAddressAreMadeByTheirLanes) {
  const auto words = words_of(indirect_call("@%p0 "), {}, kOperations);
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane < 20 ? operation(lane) : 77) << lane;
  }
}

TEST_F(Calls, AnAddressOfNoFunctionIsAFault) {
  const std::string report = report_of(
      FaultKind::kIllegalAddress,
      R"(mov.u64 %rd1, 4096;
      { .param .b32 x; .param .b32 y;
      st.param.b32 [x], %lane;
      PROTOTYPE: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (y), %rd1, (x), PROTOTYPE; })",
      {},
      kOperations);
  EXPECT_NE(report.find("call"), std::string::npos) << report;
}

TEST_F(Calls, StructuresAndLocalArraysArePassedByValue) {
  const auto words = words_of(
      R"({ .param .align 8 .b8 s[24]; .param .b32 y;
      st.param.u32 [s], %t;
      st.param.u64 [s+8], 1000;
      st.param.u8 [s+16], 7;
      call (y), total, (s);
      ld.param.b32 %r1, [y]; }
      st.global.u32 [%out], %r1;)",
      {{1, 1, 1}, {50, 1, 1}},
      R"(.func (.param .b32 result) total(.param .align 8 .b8 s[24]) {
        .local .align 4 .b8 copy[8];
        .reg .b32 %a, %c; .reg .b64 %b, %p; .reg .b16 %h;
        ld.param.u32 %a, [s];
        ld.param.u64 %b, [s+8];
        ld.param.u8 %h, [s+16];
        mov.u64 %p, copy;
        st.local.u32 [%p+4], %a;
        cvt.u32.u16 %c, %h;
        mul.lo.u32 %c, %c, 100000;
        cvt.u32.u64 %a, %b;
        add.u32 %c, %c, %a;
        ld.local.u32 %a, [%p+4];
        add.u32 %c, %c, %a;
        st.param.b32 [result], %c;
        ret; })");
  for (U32 thread = 0; thread < 50; ++thread) {
    EXPECT_EQ(words[thread], 700000 + 1000 + thread);
  }
}

TEST_F(Calls, ALaneCanExitInsideOfAFunction) {
  const auto words = words_of(
      R"(st.global.u32 [%out], 1;
      { .param .b32 x;
      st.param.b32 [x], %lane;
      call stop_if_odd, (x); }
      activemask.b32 %r0;
      st.global.u32 [%out], %r0;)",
      {},
      R"(.func stop_if_odd(.param .b32 a) {
        .reg .b32 %x; .reg .pred %p;
        ld.param.u32 %x, [a];
        and.b32 %x, %x, 1;
        setp.eq.u32 %p, %x, 1;
        @%p exit;
        ret; })");
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(words[lane], lane % 2 == 0 ? 0x55555555u : 1u);
  }
}

TEST_F(Calls, EndlessRecursionIsAStackOverflow) {
  const std::string report = report_of(
      FaultKind::kStackOverflow,
      "call deeper;",
      {},
      R"(.func deeper() {
        .local .align 4 .b8 room[256];
        .reg .b64 %p; .reg .b32 %x;
        mov.u64 %p, room;
        st.local.u32 [%p], 1;
        call deeper;
        ret; })");
  EXPECT_NE(report.find("Stack overflow"), std::string::npos) << report;
  EXPECT_NE(report.find("deeper"), std::string::npos) << report;
}

} // namespace
} // namespace cudasim::engine::testing

// What becomes of calls and of local variables, and that results stay.
#include "cudasim/engine/optimization/optimizer.h"

#include <cstdlib>

#include "cudasim/engine/testing/kernel_test.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::engine::testing {
namespace {

using Words = std::vector<std::uint32_t>;

/// What is left in the kernel of a module.
struct Left {
  std::size_t calls = 0; // of functions with a body
  std::size_t variables = 0; // in local memory
  std::size_t branches = 0;
};

class Optimizer : public KernelTest {
 protected:
  ~Optimizer() override {
    unsetenv("CUDASIM_OPTIMIZE");
  }

  /// Runs a kernel as it is and optimized, and expects the same words.
  /// @returns what is left of the optimized one.
  Left left_of(const std::string& code, const std::string& before = "") {
    Shape shape;
    shape.block = {40, 1, 1};
    setenv("CUDASIM_OPTIMIZE", "0", 1);
    plain = words_of(code, shape, before);
    setenv("CUDASIM_OPTIMIZE", "1", 1);
    EXPECT_EQ(words_of(code, shape, before), plain);
    return count(before + kernel(code));
  }

  static Left count(const std::string& text) {
    const std::string header =
        ".version 9.1\n.target sm_80\n.address_size 64\n";
    const auto module = ptx::parse_module(header + text, "test");
    auto* entry = const_cast<ptx::Function*>(module->find("kernel"));
    const auto shorter = optimization::optimized(*module, *entry);
    Left left;
    for (const ptx::Statement& statement :
         (shorter != nullptr ? *shorter : *entry).body) {
      left.variables +=
          statement.kind == ptx::Statement::Kind::kVariable ? 1 : 0;
      if (statement.kind == ptx::Statement::Kind::kInstruction) {
        const ptx::Instruction& instruction = *statement.instruction;
        left.branches += instruction.opcode == "bra" ? 1 : 0;
        left.calls += instruction.call != nullptr &&
                module->find(instruction.call->target.name)->has_body
            ? 1
            : 0;
      }
    }
    return left;
  }

  static void expect_none(const Left& left) {
    EXPECT_EQ(left.calls, 0u);
    EXPECT_EQ(left.variables, 0u);
    EXPECT_EQ(left.branches, 0u);
  }

  Words plain;
};

// A constructor that writes through `this`, and a function that is given the
// object by value: as compilers that do not inline write them.
constexpr const char* kObject = R"(
.func make(.param .b64 self, .param .b32 first) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [self];
  cvta.to.local.u64 %rd2, %rd1;
  ld.param.u32 %r1, [first];
  st.local.u32 [%rd2], %r1;
  st.local.u8 [%rd2+4], %r1;
  ret;
}
.func (.param .b32 sum) use(.param .align 8 .b8 object[8]) {
  .reg .b32 %r<4>; .reg .b16 %h;
  ld.param.u32 %r1, [object];
  ld.param.s8 %r2, [object+4];
  add.s32 %r3, %r1, %r2;
  st.param.b32 [sum], %r3;
  ret;
}
)";

TEST_F(Optimizer, ObjectsOfFunctionsAreRegisters) {
  const Left left = left_of(
      R"(.local .align 8 .b8 depot[8];
      .reg .b64 %sp, %spl, %whole; .reg .b16 %h;
      mov.u64 %spl, depot; cvta.local.u64 %sp, %spl;
      { .param .b64 p0; st.param.b64 [p0], %sp;
        .param .b32 p1; st.param.b32 [p1], %t;
        call.uni make, (p0, p1); }
      ld.local.u32 %r3, [%spl]; ld.local.u8 %h, [%spl+4];
      { .param .align 8 .b8 p0[8]; st.param.b32 [p0], %r3;
        st.param.b8 [p0+4], %h; .param .b32 r0;
        call.uni (r0), use, (p0); ld.param.b32 %r4, [r0]; }
      st.global.u32 [%out], %r4;)",
      kObject);
  expect_none(left);
  EXPECT_EQ(plain[7], 14u);
}

TEST_F(Optimizer, ALoopOverAnArrayIsUnrolled) {
  const Left left = left_of(R"(.local .align 8 .b8 depot[32];
      .reg .b64 %a, %end; .reg .b32 %sum;
      mov.u64 %a, depot; mov.u32 %r2, 0;
    FILL: mul.lo.u32 %r3, %r2, %t; st.local.u32 [%a], %r3;
      add.s64 %a, %a, 4; add.s32 %r2, %r2, 1;
      setp.ne.s32 %p1, %r2, 8; @%p1 bra FILL;
      mov.u32 %sum, 0; mov.u64 %a, depot; add.s64 %end, %a, 32;
    ADD: setp.eq.s64 %p2, %a, %end; @%p2 bra DONE;
      ld.local.u32 %r3, [%a]; add.u32 %sum, %sum, %r3;
      add.s64 %a, %a, 4; bra ADD;
    DONE: st.global.u32 [%out], %sum;)");
  expect_none(left);
  EXPECT_EQ(plain[3], 84u);
}

TEST_F(Optimizer, PiecesOfValuesAreRead) {
  const Left left = left_of(R"(.local .align 8 .b8 depot[24];
      .reg .b64 %a, %v; .reg .f64 %d; .reg .b16 %h<4>;
      mov.u64 %a, depot; cvt.rn.f64.u32 %d, %t;
      st.local.f64 [%a], %d; st.local.u64 [%a+8], 0x8182838485868788;
      ld.local.u32 %r2, [%a+4]; ld.local.s16 %r3, [%a+6];
      ld.local.s8 %r4, [%a+9]; ld.local.u16 %h1, [%a+12];
      ld.local.v2.u8 {%h2, %h3}, [%a+14];
      st.local.u8 [%a+1], %t; ld.local.u64 %v, [%a];
      cvt.u32.u64 %r5, %v; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;
      add.u32 %r2, %r2, %r5;
      cvt.u32.u16 %r3, %h1; add.u32 %r2, %r2, %r3;
      cvt.u32.u16 %r3, %h2; mad.lo.u32 %r2, %r3, 3, %r2;
      cvt.u32.u16 %r3, %h3; mad.lo.u32 %r2, %r3, 5, %r2;
      st.global.u32 [%out], %r2;)");
  expect_none(left);
}

TEST_F(Optimizer, WhatLanesDoApartStaysApart) {
  expect_none(left_of(R"(.local .align 8 .b8 depot[8]; .reg .b64 %a;
      mov.u64 %a, depot; st.local.u32 [%a], 1;
      setp.lt.u32 %p1, %t, 9; @%p1 st.local.u32 [%a], %t;
      @!%p1 ld.local.u32 %r2, [%a]; @%p1 mov.u32 %r2, 77;
      st.global.u32 [%out], %r2;)"));
}

TEST_F(Optimizer, AnAddressIsNotNull) {
  expect_none(left_of(R"(.local .align 8 .b8 depot[16]; .reg .b64 %a, %b, %n;
      mov.u64 %a, depot; cvta.local.u64 %b, %a; add.s64 %n, %b, 8;
      setp.eq.s64 %p1, %b, 0; selp.b64 %n, 0, %n, %p1;
      st.u32 [%n], %t; ld.local.u32 %r2, [%a+8];
      st.global.u32 [%out], %r2;)"));
}

TEST_F(Optimizer, WhatOthersCanSeeStaysInMemory) {
  // Its address goes to memory, to arithmetic, or it has an unknown index.
  for (const char* code :
       {R"(st.global.u32 [%out], 5; .local .align 8 .b8 box[8];
           .reg .b64 %g; cvta.local.u64 %g, %a; mov.u64 %b, box;
           st.volatile.local.u64 [%b], %g; ld.volatile.local.u64 %g, [%b];
           st.u32 [%g], 9;)",
        "not.b64 %b, %a; not.b64 %b, %b; st.local.u32 [%b], 9;",
        "and.b32 %r3, %t, 1; mad.wide.u32 %b, %r3, 4, %a; "
        "st.local.u32 [%b], 9;",
        "st.volatile.local.u32 [%a], 9;"}) {
    const Left left = left_of(
        std::string(".local .align 8 .b8 depot[8]; .reg .b64 %a, %b;\n"
                    "mov.u64 %a, depot; st.local.u32 [%a], %t;\n"
                    "st.local.u32 [%a+4], 3;\n") +
        code + "ld.local.u32 %r2, [%a]; st.global.u32 [%out], %r2;");
    EXPECT_GE(left.variables, 1u) << code;
  }
}

TEST_F(Optimizer, FunctionsThatCallThemselvesStay) {
  const Left left = left_of(
      R"({ .param .b32 p0; st.param.b32 [p0], %t; .param .b32 r0;
        call.uni (r0), sum, (p0); ld.param.b32 %r4, [r0]; }
      st.global.u32 [%out], %r4;)",
      R"(.func (.param .b32 r) sum(.param .b32 n) {
      .reg .b32 %r<5>; .reg .pred %p;
      ld.param.u32 %r1, [n]; setp.eq.u32 %p, %r1, 0;
      mov.u32 %r3, 0; @%p bra DONE; sub.u32 %r2, %r1, 1;
      { .param .b32 p0; st.param.b32 [p0], %r2; .param .b32 r0;
        call.uni (r0), sum, (p0); ld.param.b32 %r3, [r0]; }
      add.u32 %r3, %r3, %r1;
    DONE: st.param.b32 [r], %r3; ret; })");
  EXPECT_EQ(left.calls, 1u);
  EXPECT_EQ(plain[10], 55u);
}

TEST_F(Optimizer, ArgumentsThatAreReadAgainStayApart) {
  // The callee changes its copy; the caller passes the same again.
  left_of(
      R"({ .param .align 4 .b8 p0[4]; st.param.b32 [p0], %t; .param .b32 r0;
        call.uni (r0), next, (p0); ld.param.b32 %r4, [r0];
        call.uni (r0), next, (p0); ld.param.b32 %r5, [r0]; }
      mad.lo.u32 %r4, %r4, 100, %r5; st.global.u32 [%out], %r4;)",
      R"(.func (.param .b32 r) next(.param .align 4 .b8 n[4]) {
      .reg .b32 %r<3>; .reg .b64 %a;
      mov.u64 %a, n; ld.local.u32 %r1, [%a]; add.u32 %r1, %r1, 1;
      st.local.u32 [%a], %r1; ld.param.u32 %r2, [n];
      st.param.b32 [r], %r2; ret; })");
  EXPECT_EQ(plain[10], 1111u);
}

TEST_F(Optimizer, CarriesOfUnusedSumsStay) {
  left_of(
      R"(mov.u32 %r2, 0xFFFFFFFF;
      { .param .b32 r0; call.uni (r0), one, (); ld.param.b32 %r4, [r0]; }
      add.cc.u32 %r3, %r2, %t; addc.u32 %r4, %r4, 0;
      st.global.u32 [%out], %r4;)",
      R"(.func (.param .b32 r) one() {
      .reg .b32 %r; mov.u32 %r, 1; st.param.b32 [r], %r; ret; })");
  EXPECT_EQ(plain[0], 1u);
  EXPECT_EQ(plain[1], 2u);
}

TEST_F(Optimizer, EarlyReturnsEndTheCalleeAlone) {
  const Left left = left_of(
      R"({ .param .b32 p0; st.param.b32 [p0], %t; .param .b32 r0;
        call (r0), half, (p0); ld.param.b32 %r4, [r0]; }
      shfl.sync.idx.b32 %r5, %r4, 6, 31, -1;
      add.u32 %r4, %r4, %r5; st.global.u32 [%out], %r4;)",
      R"(.func (.param .b32 r) half(.param .b32 n) {
      .reg .b32 %r<3>; .reg .pred %p;
      ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 1; setp.eq.u32 %p, %r2, 0;
      shr.u32 %r2, %r1, 1; st.param.b32 [r], %r2; @%p ret;
      st.param.b32 [r], %r1; ret; })");
  EXPECT_EQ(left.calls, 0u);
  EXPECT_EQ(plain[8], 4u + 3u);
}

} // namespace
} // namespace cudasim::engine::testing

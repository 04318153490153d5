// What short forms of PTX do when they run, against the same in long forms or
// in C++.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/testing/test_device.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::engine {
namespace {

using testing::Shape;
using testing::TestDevice;

const std::string kBegin =
    ".visible .entry k(.param .u64 p, .param .u32 a[4]) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %d<6>; .reg .f32 %f<6>;\n"
    ".reg .b16 %h<6>; .reg .f64 %e<4>;\n"
    "ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x;\n"
    "mad.wide.u32 %d0, %r0, 32, %d0;\n"; // 8 numbers a thread

/// Runs a kernel by 32 threads; each has 8 numbers to write at %d0, and its
/// index in %r0.
std::vector<std::uint32_t> run(
    const std::string& before,
    const std::string& body) {
  TestDevice device;
  device.load(before + kBegin + body + "\nret;\n}\n");
  auto* results = device.zeros<std::uint32_t>(256);
  struct {
    std::uint32_t values[4] = {100, 101, 102, 103};
  } array;
  const Outcome outcome = device.run("k", Shape{}, results, array);
  EXPECT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  return {results, results + 256};
}

/// What thread `thread` writes, `count` numbers of it.
std::vector<std::uint32_t> of_thread(
    const std::vector<std::uint32_t>& results,
    std::size_t thread,
    std::size_t count) {
  const auto begin = results.begin() + static_cast<std::ptrdiff_t>(thread * 8);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

using Numbers = std::vector<std::uint32_t>;

TEST(Elements, OfGlobalMemoryCountTheArraysType) {
  const auto results =
      run(".global .u32 g[40] = {7, 8, 9};\n.global .u16 h[3] = {1, 2, 3};\n"
          ".const .f32 c[2] = {1.5, 2.5};\n",
          "st.global.u32 g[%r0+3], %r0;\n"
          "ld.global.u32 %r1, g[2]; st.global.u32 [%d0], %r1;\n"
          "ld.global.u32 %r1, g[%r0+3]; st.global.u32 [%d0+4], %r1;\n"
          "ld.global.u16 %r1, h[1+1]; st.global.u32 [%d0+8], %r1;\n"
          "ld.const.f32 %f1, c[1]; cvt.rni.u32.f32 %r1, %f1;\n"
          "st.global.u32 [%d0+12], %r1;\n"
          "mov.u64 %d1, g[1]; ld.global.u32 %r1, [%d1];\n"
          "st.global.u32 [%d0+16], %r1;\n"
          "mov.u64 %d1, g[%r0]; mov.u64 %d2, g; sub.u64 %d1, %d1, %d2;\n"
          "st.global.u32 [%d0+20], %d1;\n"
          "cvta.global.u64 %d1, g[%r0+-1]; cvta.global.u64 %d2, g;\n"
          "sub.u64 %d1, %d1, %d2; st.global.u64 [%d0+24], %d1;");
  EXPECT_EQ(of_thread(results, 5, 8), (Numbers{9, 5, 3, 2, 8, 20, 16, 0}));
  // The sum of index and constant has 32 bits, and no sign.
  EXPECT_EQ(of_thread(results, 0, 8)[6], 0xFFFFFFFCu);
  EXPECT_EQ(of_thread(results, 0, 8)[7], 3u);
}

TEST(Elements, OfSharedLocalAndParameterMemory) {
  const auto results = run(
      ".shared .u32 s[32];\n",
      ".local .u32 l[4]; .shared .u64 t[32];\n"
      "st.shared.u32 s[%r0], %r0; st.shared.u64 t[%r0], 5; bar.sync 0;\n"
      "xor.b32 %r2, %r0, 1; ld.shared.u32 %r1, s[%r2];\n"
      "st.global.u32 [%d0], %r1;\n"
      "and.b32 %r2, %r0, 3; st.local.u32 l[%r2], 40; st.local.u32 l[0], 41;\n"
      "ld.local.u32 %r1, l[%r2]; st.global.u32 [%d0+4], %r1;\n"
      "ld.param.u32 %r1, a[2]; st.global.u32 [%d0+8], %r1;\n"
      "ld.param.u32 %r1, a[%r2]; st.global.u32 [%d0+12], %r1;\n"
      "mov.u32 %r1, s[3]; ld.shared.u32 %r1, [%r1];\n"
      "st.global.u32 [%d0+16], %r1;\n"
      "cvt.u16.u32 %h1, %r0; ld.shared.u32 %r1, s[%h1];\n"
      "st.global.u32 [%d0+20], %r1;\n"
      "cvt.u64.u32 %d1, %r0; ld.shared.u32 %r1, t[%d1];\n"
      "st.global.u32 [%d0+24], %r1;");
  EXPECT_EQ(of_thread(results, 6, 7), (Numbers{7, 40, 102, 102, 3, 6, 5}));
}

TEST(Elements, OfVariablesThatTellTheStateSpace) {
  const auto results =
      run(".shared .u32 s[32];\n",
          ".local .u32 l[4];\n"
          "st.u32 s[%r0], %r0; bar.sync 0; ld.u32 %r1, [s+12];\n"
          "st.u32 [%d0], %r1; xor.b32 %r2, %r0, 1; ld.u32 %r1, s[%r2];\n"
          "st.u32 [%d0+4], %r1; st.u32 l[2], %r0; ld.u32 %r1, [l+8];\n"
          "st.u32 [%d0+8], %r1; bar.sync 0; atom.add.u32 %r1, [s+4], 1;\n"
          "bar.sync 0; ld.shared.u32 %r1, s[1]; st.u32 [%d0+12], %r1;");
  EXPECT_EQ(of_thread(results, 8, 4), (Numbers{3, 9, 8, 33}));
}

TEST(Elements, OfWhatACallPasses) {
  const auto results = run(
      ".func (.param .b32 r[2]) f(.param .b32 x[4]) {\n"
      ".reg .b32 %a<3>;\nld.param.b32 %a0, x[1]; mov.u32 %a2, 3;\n"
      "ld.param.b32 %a1, x[%a2]; st.param.b32 r[0], %a0;\n"
      "st.param.b32 r[1], %a1; ret;\n}\n",
      "{ .param .b32 x[4]; .param .b32 y[2];\n"
      "st.param.b32 x[0], 1; st.param.b32 x[1], %r0; st.param.b32 x[2], 3;\n"
      "mov.u32 %r1, 3; st.param.b32 x[%r1], 77;\n"
      "call (y), f, (x);\nld.param.b32 %r1, y[0]; ld.param.b32 %r2, y[1]; }\n"
      "st.global.v2.u32 [%d0], {%r1, %r2};");
  EXPECT_EQ(of_thread(results, 9, 2), (Numbers{9, 77}));
}

TEST(Vectors, HaveARegisterForEachComponent) {
  const auto results = run(
      ".global .v4 .f32 g = {1.0, 2.0, 3.0, 4.0};\n",
      ".reg .v4 .f32 %v, %w; .reg .v2 .u32 %t<3>; .reg .v4 .u32 %i;\n"
      "ld.global.v4.f32 %v, [g]; mov.v4.f32 %w, {%v.w, %v.z, %v.y, %v.x};\n"
      "add.f32 %w.x, %w.x, %v.r; cvt.rni.u32.f32 %t0.x, %w.x;\n"
      "cvt.rni.u32.f32 %t0.y, %w.a; st.global.v2.u32 [%d0], %t0;\n"
      "mov.v2.u32 %t1, {%r0, 5}; mov.v2.u32 %t1, {%t1.y, %t1.x};\n"
      "st.global.v2.u32 [%d0+8], %t1;\n"
      "mov.v4.u32 %i, %tid; mov.v4.u32 {%r1, _, %r2, %r3}, %ntid;\n"
      "st.global.u32 [%d0+16], %i.x; st.global.u32 [%d0+20], %r1;\n"
      "mov.b64 %d1, %t1; shr.u64 %d1, %d1, 32; st.global.u32 [%d0+24], %d1;\n"
      "st.global.u32 [%d0+28], %r3;");
  EXPECT_EQ(of_thread(results, 11, 8), (Numbers{5, 1, 5, 11, 11, 32, 11, 0}));
}

TEST(Parameters, InRegistersArePassed) {
  const auto results = run(
      ".func (.reg .u32 y) f(.reg .u32 x) {\nadd.u32 y, x, 1;\n"
      ".reg .pred %q; setp.gt.u32 %q, x, 20; @%q ret; add.u32 y, y, 100;\n}\n"
      ".func (.reg .u32 y, .reg .f32 z) two(.reg .f32 x, .param .b32 w) {\n"
      "ld.param.u32 y, [w]; add.f32 z, x, x; ret;\n}\n"
      ".func (.param .b32 r) plain(.param .b32 a) {\n.reg .b32 %x;\n"
      "ld.param.b32 %x, [a]; add.u32 %x, %x, 3; st.param.b32 [r], %x; ret;\n}\n",
      ".param .b32 s;\n"
      "call (%r1), f, (%r0); st.global.u32 [%d0], %r1;\n"
      "call (%r1), f, (5); st.global.u32 [%d0+4], %r1;\n"
      "mov.f32 %f1, 1.5; call (%r1, %f2), two, (%f1, %r0);\n"
      "cvt.rni.u32.f32 %r2, %f2; st.global.v2.u32 [%d0+8], {%r1, %r2};\n"
      "call (%r1), plain, (%r0); st.global.u32 [%d0+16], %r1;\n"
      "st.param.b32 [s], 30; call (%r1), f, (s); st.global.u32 [%d0+20], %r1;\n"
      "mov.u32 %r1, 9; setp.lt.u32 %p1, %r0, 16; @%p1 call (%r1), f, (%r0);\n"
      "st.global.u32 [%d0+24], %r1;\n"
      "call (_), f, (%r0); call (%r1, _), two, (2.5, %r0);\n"
      "st.global.u32 [%d0+28], %r1;");
  EXPECT_EQ(
      of_thread(results, 10, 8), (Numbers{111, 106, 10, 3, 13, 31, 111, 10}));
  EXPECT_EQ(
      of_thread(results, 25, 8), (Numbers{26, 106, 25, 3, 28, 31, 9, 25}));
}

TEST(Parameters, InRegistersOfIndirectCalls) {
  const auto results = run(
      ".global .b32 m;\n"
      ".func (.reg .u32 y) f(.reg .u32 x) {\nadd.u32 y, x, 1;\nret;\n}\n"
      ".func (.param .b32 r) g(.param .b32 a) {\n.reg .b32 %x;\n"
      "ld.param.b32 %x, [a]; st.global.b32 [m], %x; st.param.b32 [r], %x;\n"
      "ret;\n}\n",
      "mov.u64 %d1, f; p: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n"
      "call (%r1), %d1, (%r0), p; st.global.u32 [%d0], %r1;\n"
      "mov.u64 %d1, g; q: .callprototype _ (.param .b32 _);\n"
      "call %d1, (17), q; ld.global.u32 %r1, [m]; st.global.u32 [%d0+4], %r1;");
  EXPECT_EQ(of_thread(results, 4, 2), (Numbers{5, 17}));
}

TEST(Sinks, StandBesideAPredicate) {
  const auto results = run(
      "",
      "setp.lt.u32 _|%p1, %r0, 10; selp.u32 %r1, 1, 2, %p1;\n"
      "st.global.u32 [%d0], %r1;\n"
      "setp.lt.u32 %p1|_, %r0, 10; selp.u32 %r1, 1, 2, %p1;\n"
      "st.global.u32 [%d0+4], %r1;\n"
      "match.all.sync.b32 _|%p1, 5, -1; selp.u32 %r1, 1, 2, %p1;\n"
      "st.global.u32 [%d0+8], %r1; setp.eq.u32 _, %r0, 1;\n"
      "mov.f32 %f1, 0fFFC00000; mov.f32 %f2, 0f80000001;\n"
      "slct.f32.f32 %f3, 1.0, 2.0, %f2; slct.ftz.f32.f32 %f4, 1.0, 2.0, %f2;\n"
      "cvt.rni.u32.f32 %r1, %f3; cvt.rni.u32.f32 %r2, %f4;\n"
      "st.global.u32 [%d0+12], %r1; st.global.u32 [%d0+16], %r2;");
  EXPECT_EQ(of_thread(results, 3, 5), (Numbers{2, 1, 1, 2, 1}));
}

TEST(SpecialRegisters, AreAsWideAsWhatReadsThem) {
  const auto results = run(
      "",
      "mov.u16 %h1, %tid.x; cvt.u32.u16 %r1, %h1; st.global.u32 [%d0], %r1;\n"
      "mov.u64 %d1, %gridid; mov.u32 %r2, %gridid; cvt.u64.u32 %d2, %r2;\n"
      "sub.u64 %d1, %d1, %d2; st.global.u64 [%d0+8], %d1;\n"
      "mov.b32 %r1, %envreg31; mov.u32 %r2, %pm7; mov.u64 %d1, %pm3_64;\n"
      "or.b32 %r1, %r1, %r2; st.global.u32 [%d0+16], %r1;\n"
      "st.global.u64 [%d0+24], %d1;");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(of_thread(results, i, 8), (Numbers{i, 0, 0, 0, 0, 0, 0, 0}));
  }
}

TEST(Refusal, OfShortFormsSaysWhatBelongsThere) {
  struct Case {
    const char* body;
    const char* says;
  };
  const Case cases[] = {
      {"ld.global.u32 %r1, [g[1]];", "found '[', expected ']'"},
      {"ld.global.u32 %r1, w[1];", "expected the name of an array"},
      {"ld.global.u32 %r1, g[%f1];", "expected an index"},
      {"ld.global.u32 %r1, g[1.0];", "expected an index that is an integer"},
      {"atom.global.add.u32 %r1, g[1], 1;", "no element of an array"},
      {"st.global.u64 [g], g[1];", "no element of an array"},
      {"ld.shared.u32 %r1, g[1];", "an array in the state space of"},
      {"ld.shared.u32 %r1, g[%r1];", "an array in the state space of"},
      {"cvta.shared.u64 %d1, g[%r1];", "an array in the state space of"},
      {".reg .v4 .b64 %v;", "found '.v4', expected a vector of at most 16"},
      {".reg .v4 .pred %v;", "found '%v', expected a vector"},
      {".reg .v2 .f32 %v; mov.f32 %f1, %v.z;", "a component that"},
      {".reg .v2 .f32 %v; mov.f32 %f1, %v;", "found '{"},
      {"mov.v4.u32 {%r1, %r2}, %tid;", "expected 4 values"},
      {"mov.v2.u32 {%r1, %r2}, %tid;", "expected 2 values"},
      {"mov.v2.f32 {%r1, %f2}, {%f1, 1};", "values of one type in braces"},
      {"call (%f1), f, (%r1);", "found '%f1', expected a value of type .u32"},
      {"call (%r1), f, (%d1);", "found '%d1', expected a value of type .u32"},
      {"call (%r1), f, (1.5);", "expected a value of type .u32 to pass"},
      {"call f, (%r1);", "expected 1 results, not 0"},
      {"setp.eq.u32 _|_, %r1, %r2;", "expected a register beside '_'"},
  };
  for (const Case& one : cases) {
    TestDevice device;
    std::string said = "taken";
    try {
      device.load(
          ".global .u32 g[4]; .global .u32 w;\n"
          ".func (.reg .u32 y) f(.reg .u32 x) { mov.u32 y, x; ret; }\n" +
          kBegin + one.body + "\nret;\n}\n");
    } catch (const ptx::ParseError& error) {
      said = error.what();
    }
    EXPECT_NE(said.find(one.says), std::string::npos)
        << one.body << ": " << said;
  }
}

} // namespace
} // namespace cudasim::engine

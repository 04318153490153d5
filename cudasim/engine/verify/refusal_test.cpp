// Modules that ptxas refuses, and what is said of them: each was, or could have
// been, a way to make the engine read or write where it must not.
#include <gtest/gtest.h>

#include <string>

#include "cudasim/engine/testing/test_device.h"
#include "cudasim/ptx/parser.h"

namespace cudasim::engine {
namespace {

struct Case {
  const char* name;
  std::string body; // behind the three lines of the head
  const char* says; // ":LINE:COLUMN: found 'WHAT'", as far as it matters
};

std::string kernel(const std::string& code) {
  return ".visible .entry k(.param .u64 p) {\n"
         ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .pred %q;\n" +
      code + "\nret;\n}\n";
}

const Case kCases[] = {
    {"an operand too few",
     kernel("add.s32 %r1,%r2;"),
     ":6:1: found 'add.s32', expected 3 operands, not 2"},
    {"an operand too many",
     kernel("neg.s32 %r1,%r2,%r3;"),
     ":6:17: found '%r3'"},
    {"64 bits in registers of 32",
     kernel("add.s64 %r1,%r2,%r3;"),
     ":6:9: found '%r1', expected a register of type .s64 as operand 1 of "
     "'add.s64'"},
    {"integers in registers of floats",
     kernel("add.s32 %f1,%f2,%f3;"),
     ":6:9: found '%f1'"},
    {"a guard that is no predicate",
     kernel("@%r1 add.s32 %r1,%r2,%r3;"),
     "found '%r1', expected a predicate"},
    {"a predicate as a number", kernel("add.s32 %r1,%q,1;"), "found '%q'"},
    {"a label that is not there",
     kernel("bra NOWHERE;"),
     ":6:5: found 'NOWHERE'"},
    {"a label twice", kernel("L: add.s32 %r1,%r1,1; L:"), "found 'L'"},
    {"a label of an inner scope", kernel("{ L: } bra L;"), "found 'L'"},
    {"a register that is not declared",
     kernel("add.s32 %r1,%r2,%r9;"),
     ":6:17: found '%r9'"},
    {"a register before its declaration",
     kernel("mov.b32 %x, 1; .reg .b32 %x;"),
     "found '%x'"},
    {"a register out of its scope",
     kernel("{ .reg .b32 %x; } mov.b32 %x, 1;"),
     "found '%x'"},
    {"a register twice", kernel(".reg .b32 %r1;"), "found '%r1'"},
    {"an instruction that is none",
     kernel("frobnicate %r1;"),
     "found 'frobnicate'"},
    {"a form that is none", kernel("shl.f32 %f1,%f2,%r1;"), "found 'shl.f32'"},
    {"local memory of a terabyte",
     kernel(".local .b8 b[1099511627776]; mov.u64 %d1, b;"),
     "found 'b', expected at most 524288 bytes of local memory"},
    {"local memory that is too much together",
     kernel(".local .b8 b[400000]; .local .b8 c[400000];"),
     "found 'c'"},
    {"too much shared memory",
     kernel(".shared .b8 s[49153]; mov.u64 %d1, s;"),
     "found 's', expected at most 49152 bytes"},
    {"constants that are too many",
     ".const .b8 c[65537];\n" + kernel(""),
     "found 'c', expected at most 65536 bytes"},
    {"parameters that are too many",
     ".visible .entry k(.param .b8 p[32765]) {\nret;\n}\n",
     "found 'p', expected at most 32764 bytes"},
    {"a store to constants", kernel("st.const.u32 [p], %r1;"), ""},
    {"a store to a parameter", kernel("st.param.u64 [p], %d1;"), ""},
    {"a shared variable as global memory",
     kernel(".shared .b32 s; ld.global.u32 %r1, [s];"),
     "found '[s]', expected an address in .global memory"},
    {"an address in a float",
     kernel("ld.global.u32 %r1, [%f1];"),
     "found '[%f1]'"},
    {"a vector of three",
     kernel("ld.global.v4.u32 {%r1,%r2,%r3}, [%d1];"),
     "expected 4 values in braces"},
    {"two of one value in braces",
     kernel("mov.b32 {%r1}, {%r2};"),
     "found '{%r1}'"},
    {"one value in braces to add",
     kernel("add.u32 {%r1}, %r1, 1;"),
     "found '{%r1}'"},
    {"nothing in braces", kernel("ld.global.u32 {_}, [%d1];"), "found '{_}'"},
    {"a vector of nothing",
     kernel("ld.global.v2.u32 {_,_}, [%d1];"),
     "expected at least one value"},
    {"a vector of 32 bytes",
     kernel("ld.global.v4.u64 {%d0,%d1,%d2,%d3}, [%d1];"),
     ""},
    {"a barrier that no block has", kernel("bar.sync 16;"), "found '16'"},
    {"half a warp at a barrier",
     kernel("bar.sync 1, 63;"),
     "found '63', expected a multiple of 32"},
    {"a copy of five bytes",
     kernel("cp.async.ca.shared.global [%r1], [%d1], 5;"),
     "found '5', expected one of 4, 8, 16"},
    {"a list of targets that is not there",
     kernel("brx.idx %r1, LIST;"),
     "found 'LIST'"},
    {"targets that are not there",
     kernel("T: .branchtargets A; brx.idx %r1, T;"),
     "found 'T'"},
    {"a call of what is not there", kernel("call nowhere;"), "found 'nowhere'"},
    {"a call of a kernel", kernel("call k;"), "found 'k', expected a function"},
    {"an argument too few",
     ".func f(.param .b32 a) {\nret;\n}\n" + kernel("call f;"),
     "found 'f', expected 1 arguments, not 0"},
    {"an argument of another size",
     ".func f(.param .b64 a) {\nret;\n}\n" +
         kernel(".param .b32 x; call f, (x);"),
     "found 'x', expected a variable of 8 bytes"},
    {"printf with one argument",
     ".extern .func (.param .b32 r) vprintf(.param .b64 a);\n" +
         kernel(".param .b64 x; .param .b32 y; call (y), vprintf, (x);"),
     "found 'vprintf', expected the parameters that the device runtime's"},
    {"an indirect call of anything",
     kernel("call %d1;"),
     "found '%d1', expected an indirect call to name its .callprototype"},
    {"an initial value that is not there",
     ".global .u64 x = nothing;\n" + kernel(""),
     "found 'nothing', expected a variable or function"},
    {"a variable twice",
     ".global .b32 x;\n.global .b32 x;\n" + kernel(""),
     "found 'x', expected each variable once"},
    {"a function twice",
     ".func f() {\nret;\n}\n.func f() {\nret;\n}\n" + kernel(""),
     "found 'f', expected each function once"},
    {"a predicate in memory",
     ".global .pred x;\n" + kernel(""),
     "found 'x', expected a predicate in a register only"},
};

TEST(Refusal, SaysWhatWasFoundAndWhere) {
  for (const Case& one : kCases) {
    testing::TestDevice device;
    std::string said;
    try {
      device.load(one.body, "sm_90");
      // Shared memory is counted for a kernel as a whole.
      device.module().kernel("k");
    } catch (const ptx::ParseError& error) {
      said = error.what();
      EXPECT_GT(error.location().line, 3u) << one.name;
    }
    EXPECT_NE(said, "") << one.name << " was taken";
    EXPECT_NE(said.find(one.says), std::string::npos)
        << one.name << ": " << said << ", not " << one.says;
  }
}

TEST(Refusal, MillionsOfRegistersAreNoneUntilTheyAreUsed) {
  testing::TestDevice device;
  device.load(
      kernel(".reg .b64 %many<16777216>;\n"
             "mov.u64 %many16777215, 7;\nadd.s64 %many5, %many16777215, 1;"));
  const Kernel* k = device.module().kernel("k");
  ASSERT_NE(k, nullptr);
  EXPECT_LT(device.module().info(*k).registers, 64u);
}

TEST(Refusal, AChainOfCallsDoesNotTakeTheHostsStack) {
  // Each function calls the next.
  constexpr int kFunctions = 5000;
  std::string text;
  for (int i = 0; i < kFunctions; ++i) {
    text += ".func f" + std::to_string(i) + "();\n";
  }
  for (int i = 0; i < kFunctions; ++i) {
    text += ".func f" + std::to_string(i) + "() {\n" +
        (i + 1 < kFunctions ? "call f" + std::to_string(i + 1) + ";\n" : "") +
        "ret;\n}\n";
  }
  testing::TestDevice device;
  device.load(text + kernel("call f0;"));
  EXPECT_NE(device.module().kernel("k"), nullptr);
}

} // namespace
} // namespace cudasim::engine

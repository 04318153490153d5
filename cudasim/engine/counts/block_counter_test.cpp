// What CUDASIM_COUNT counts.
#include "cudasim/engine/counts/block_counter.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>

#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

/// The lines of instructions that begin with `opcode`, without their index.
/// @param blocks of 40 threads, so that the second warp has 8.
std::string counted(
    const std::string& body,
    const std::string& opcode,
    unsigned blocks = 1,
    unsigned workers = 1) {
  TestDevice device;
  device.load(
      ".func twice(.param .b32 x) {\n.reg .b32 %x;\n"
      "ld.param.u32 %x, [x];\nshl.b32 %x, %x, 1;\nret;\n}\n"
      ".visible .entry k(.param .u64 p) {\n.reg .pred %q;\n"
      ".reg .b32 %t, %v;\n.reg .b64 %p, %a, %o;\n"
      "ld.param.u64 %p, [p];\nmov.u32 %t, %tid.x;\n" +
      body + "ret;\n}\n");
  InstructionCounts counts;
  Shape shape;
  shape.grid.x = blocks;
  shape.block.x = 40;
  shape.workers = workers;
  shape.counts = &counts;
  auto* memory = device.zeros<std::uint32_t>(1024);
  const Outcome outcome = device.run("k", shape, memory);
  EXPECT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  std::ostringstream all;
  counts.write(all);
  std::istringstream lines(all.str());
  std::string found;
  std::string function;
  std::string index;
  std::string rest;
  while (std::getline(lines, function, '\t') &&
         std::getline(lines, index, '\t') && std::getline(lines, rest)) {
    if (rest.rfind(opcode, 0) == 0) {
      found += function + " " + rest + "\n";
    }
  }
  return found;
}

TEST(BlockCounter, FullWarpsAndOthers) {
  EXPECT_EQ(
      counted("add.u32 %v, %t, 1;\n", "add.u32"),
      "k add.u32\tnone\t1\t1\t40\n");
  EXPECT_EQ(
      counted("add.u32 %v, %t, 1;\n", "add.u32", 6, 3),
      "k add.u32\tnone\t6\t6\t240\n");
  // Lanes 0 to 4 of each warp.
  EXPECT_EQ(
      counted(
          "and.b32 %v, %t, 31;\nsetp.lt.u32 %q, %v, 5;\n"
          "@%q add.u32 %v, %t, 1;\n",
          "add.u32"),
      "k add.u32\tnone\t0\t2\t10\n");
  // A guard that no lane meets.
  EXPECT_EQ(
      counted("setp.eq.u32 %q, %t, 99;\n@%q add.u32 %v, %t, 1;\n", "add.u32"),
      "");
}

TEST(BlockCounter, Functions) {
  EXPECT_EQ(
      counted(
          "{\n.param .b32 x;\nst.param.b32 [x], %t;\ncall twice, (x);\n}\n",
          "shl.b32"),
      "twice shl.b32\tnone\t1\t1\t40\n");
}

TEST(BlockCounter, PatternsOfAddresses) {
  const auto load = [](const std::string& offset) {
    return counted(
        offset +
            "cvt.u64.u32 %o, %v;\nadd.u64 %a, %p, %o;\n"
            "ld.global.u32 %v, [%a];\n",
        "ld.global");
  };
  const std::string begin = "k ld.global.u32\t";
  const std::string end = "\t1\t1\t40\n";
  EXPECT_EQ(load("mov.u32 %v, 8;\n"), begin + "alike" + end);
  EXPECT_EQ(load("shl.b32 %v, %t, 2;\n"), begin + "consecutive" + end);
  EXPECT_EQ(load("shl.b32 %v, %t, 3;\n"), begin + "strided" + end);
  EXPECT_EQ(
      load("mul.lo.u32 %v, %t, %t;\nand.b32 %v, %v, 31;\nshl.b32 %v, %v, 2;\n"),
      begin + "scattered" + end);
  // Lanes alike in each row of 16, and every second lane.
  EXPECT_EQ(
      load("and.b32 %v, %t, 16;\nshl.b32 %v, %v, 2;\n"), begin + "alike" + end);
  EXPECT_EQ(
      counted(
          "and.b32 %v, %t, 1;\nsetp.eq.u32 %q, %v, 0;\nshl.b32 %v, %t, 2;\n"
          "cvt.u64.u32 %o, %v;\nadd.u64 %a, %p, %o;\n"
          "@%q ld.global.u32 %v, [%a];\n",
          "ld.global"),
      begin + "consecutive\t0\t2\t20\n");
  // Two rows of 16 lanes, 512 bytes apart, of the first warp; the second has
  // lanes of the first row alone.
  EXPECT_EQ(
      load("and.b32 %v, %t, 16;\nshl.b32 %v, %v, 5;\nand.b32 %t, %t, 15;\n"
           "shl.b32 %t, %t, 2;\nadd.u32 %v, %v, %t;\n"),
      begin + "consecutive" + end);
}

} // namespace
} // namespace cudasim::engine::testing

// 8x8 matrices between registers and shared memory. Lane i of a group of eight
// names row i of its matrix, anywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

using Words = std::vector<std::uint16_t>;
using Order = std::vector<std::uint32_t>;

constexpr std::size_t kSide = 8;
/// Four matrices' rows, which is what the lanes of a warp can name.
constexpr std::size_t kRows = 32;

std::string number(std::size_t value) {
  return std::to_string(value);
}

/// "%r0, %r1".
std::string registers(std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    list += (i == 0 ? "%r" : ", %r") + number(i);
  }
  return list;
}

/// Loads or stores of a lane's registers, one behind the other, at [%q].
std::string move_registers(const std::string& format, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string place = "[%q+" + number(4 * i) + "]";
    const std::string reg = "%r" + number(i);
    text += format == "load" ? "ld.global.u32 " + reg + ", " + place + ";\n"
                             : "st.global.u32 " + place + ", " + reg + ";\n";
  }
  return text;
}

/// Rows in some order: row i of the matrices is row order[i] of the memory.
Order shuffled_rows() {
  Order rows(kRows);
  std::iota(rows.begin(), rows.end(), 0u);
  std::shuffle(rows.begin(), rows.end(), std::mt19937(6));
  return rows;
}

Words counting_words(std::size_t count) {
  Words words(count);
  std::iota(words.begin(), words.end(), std::uint16_t{1000});
  return words;
}

/// Where element e of a lane's register of matrix m is in memory.
std::size_t place_of(
    const Order& order,
    std::size_t lane,
    std::size_t m,
    std::size_t e,
    bool transposed) {
  std::size_t row = lane / 4;
  std::size_t column = 2 * (lane % 4) + e;
  if (transposed) {
    std::swap(row, column);
  }
  return order[kSide * m + row] * kSide + column;
}

std::string key_of(
    const std::string& opcode,
    std::size_t count,
    bool transposed) {
  return opcode + ".sync.aligned.m8n8.x" + number(count) +
      (transposed ? ".trans" : "") + ".shared.b16";
}

/// A kernel that copies `words` to shared memory, executes an instruction with
/// the address %s of each lane's row, and copies shared memory back.
/// @param before, after with %q at each lane's registers.
std::string kernel_text(
    std::size_t count,
    const std::string& before,
    const std::string& instruction,
    const std::string& after) {
  return ".visible .entry kernel(.param .u64 words, .param .u64 order,"
         " .param .u64 fragments) {\n.shared .align 16 .b8 data[512];\n"
         ".reg .b64 %p, %q;\n.reg .b32 %lane, %s, %own, %row, %r<4>, %w<4>;\n"
         "mov.u32 %lane, %tid.x;\nld.param.u64 %p, [words];\n"
         "mad.wide.u32 %p, %lane, 16, %p;\nmov.u32 %own, data;\n"
         "mad.lo.u32 %own, %lane, 16, %own;\n"
         "ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%p];\n"
         "st.shared.v4.u32 [%own], {%w0, %w1, %w2, %w3};\nbar.sync 0;\n"
         "ld.param.u64 %q, [order];\nmad.wide.u32 %q, %lane, 4, %q;\n"
         "ld.global.u32 %row, [%q];\nmov.u32 %s, data;\n"
         "mad.lo.u32 %s, %row, 16, %s;\nld.param.u64 %q, [fragments];\n"
         "mad.wide.u32 %q, %lane, " +
      number(4 * count) + ", %q;\n" + before + instruction + ";\n" + after +
      "bar.sync 0;\nld.shared.v4.u32 {%w0, %w1, %w2, %w3}, [%own];\n"
      "st.global.v4.u32 [%p], {%w0, %w1, %w2, %w3};\nret;\n}\n";
}

void check_load(std::size_t count, bool transposed) {
  const std::string key = key_of("ldmatrix", count, transposed);
  const Words words = counting_words(kRows * kSide);
  const Order rows = shuffled_rows();
  TestDevice device;
  auto* memory = device.copy_of(words);
  auto* order = device.copy_of(rows);
  auto* fragments = device.zeros<std::uint32_t>(32 * count);
  device.load(kernel_text(
      count,
      "",
      key + " {" + registers(count) + "}, [%s]",
      move_registers("store", count)));
  const Outcome outcome =
      device.run("kernel", Shape{}, memory, order, fragments);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t m = 0; m < count; ++m) {
      const std::uint32_t low = words[place_of(rows, lane, m, 0, transposed)];
      const std::uint32_t high = words[place_of(rows, lane, m, 1, transposed)];
      EXPECT_EQ(fragments[lane * count + m], high << 16 | low)
          << key << " lane " << lane << " matrix " << m;
    }
  }
  EXPECT_EQ(Words(memory, memory + words.size()), words);
  record_checked(key);
}

void check_store(std::size_t count, bool transposed) {
  const std::string key = key_of("stmatrix", count, transposed);
  const Words before(kRows * kSide, 7);
  const Words values = counting_words(32 * count * 2);
  const Order rows = shuffled_rows();
  TestDevice device;
  auto* memory = device.copy_of(before);
  auto* order = device.copy_of(rows);
  auto* fragments = device.copy_of(values);
  device.load(kernel_text(
      count,
      move_registers("load", count),
      key + " [%s], {" + registers(count) + "}",
      ""));
  const Outcome outcome =
      device.run("kernel", Shape{}, memory, order, fragments);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  Words right = before;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t m = 0; m < count; ++m) {
      for (std::size_t e = 0; e < 2; ++e) {
        right[place_of(rows, lane, m, e, transposed)] =
            values[2 * (lane * count + m) + e];
      }
    }
  }
  EXPECT_EQ(Words(memory, memory + before.size()), right) << key;
  record_checked(key);
}

TEST(MatrixMemory, LoadsMatrices) {
  for (const std::size_t count : {1u, 2u, 4u}) {
    check_load(count, false);
    check_load(count, true);
  }
}

TEST(MatrixMemory, StoresMatrices) {
  for (const std::size_t count : {1u, 2u, 4u}) {
    check_store(count, false);
    check_store(count, true);
  }
}

TEST(MatrixMemory, TransposesAMatrixInRegisters) {
  const std::string key = "movmatrix.sync.aligned.m8n8.trans.b16";
  const Words values = counting_words(kSide * kSide);
  TestDevice device;
  auto* fragments = device.copy_of(values);
  device.load(
      ".visible .entry kernel(.param .u64 fragments) {\n.reg .b64 %q;\n"
      ".reg .b32 %lane, %r;\nmov.u32 %lane, %tid.x;\n"
      "ld.param.u64 %q, [fragments];\nmad.wide.u32 %q, %lane, 4, %q;\n"
      "ld.global.u32 %r, [%q];\n" +
      key + " %r, %r;\nst.global.u32 [%q], %r;\nret;\n}\n");
  const Outcome outcome = device.run("kernel", Shape{}, fragments);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  for (std::size_t row = 0; row < kSide; ++row) {
    for (std::size_t column = 0; column < kSide; ++column) {
      EXPECT_EQ(fragments[row * kSide + column], values[column * kSide + row]);
    }
  }
  record_checked(key);
}

TEST(MatrixMemory, ARowOutsideOfSharedMemoryIsAFault) {
  for (const std::string instruction :
       {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r}, [%s]",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%r}"}) {
    TestDevice device;
    device.load(
        ".visible .entry kernel() {\n.shared .align 16 .b8 data[112];\n"
        ".reg .b32 %lane, %s, %r;\nmov.u32 %lane, %tid.x;\nmov.u32 %s, data;\n"
        "mad.lo.u32 %s, %lane, 16, %s;\nmov.u32 %r, 0;\n" +
        instruction + ";\nst.shared.u32 [data], %r;\nret;\n}\n");
    const Outcome outcome = device.run("kernel", Shape{});
    EXPECT_EQ(outcome.fault, FaultKind::kIllegalAddress) << instruction;
  }
}

} // namespace
} // namespace cudasim::engine::testing

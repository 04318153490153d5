// Asynchronous copies to shared memory, and ldmatrix.
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

std::string number(std::size_t value) {
  return std::to_string(value);
}

constexpr std::size_t kBytes = 1024;

std::vector<unsigned char> random_bytes(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(kBytes);
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(random());
  }
  return bytes;
}

/// Copies 32 places of global memory to shared memory by cp.async and back.
/// @param size bytes of a copy, @param extra what follows the size, such as
/// the size of the source.
std::vector<unsigned char> copy_asynchronously(
    const std::vector<unsigned char>& bytes,
    std::size_t size,
    const std::string& cache,
    const std::string& extra,
    const std::string& wait) {
  TestDevice device;
  auto* in = device.copy_of(bytes);
  auto* out = device.zeros<unsigned char>(32 * size);
  std::string text =
      ".visible .entry kernel(.param .u64 in, .param .u64 out) {\n"
      ".shared .align 16 .b8 data[512];\n"
      ".reg .b64 %p, %q;\n.reg .b32 %lane, %size, %s, %x, %bytes;\n"
      ".reg .pred %ignore;\nmov.u32 %lane, %tid.x;\nmov.u32 %size, " +
      number(size) +
      ";\nld.param.u64 %p, [in];\nmad.wide.u32 %p, %lane, %size, %p;\n"
      "and.b32 %x, %lane, 1;\nsetp.eq.u32 %ignore, %x, 1;\n"
      // Sizes of sources: from 0 to size and back.
      "rem.u32 %bytes, %lane, " +
      number(size + 1) +
      ";\n"
      "mov.u32 %s, data;\nmad.lo.u32 %s, %lane, %size, %s;\n"
      "cp.async." +
      cache + ".shared.global [%s], [%p], " + number(size) + extra + ";\n" +
      wait +
      "\nbar.sync 0;\n"
      "ld.param.u64 %q, [out];\nmad.wide.u32 %q, %lane, %size, %q;\n";
  for (std::size_t i = 0; i < size; i += 4) {
    text += "ld.shared.u32 %x, [%s+" + number(i) + "];\nst.global.u32 [%q+" +
        number(i) + "], %x;\n";
  }
  device.load(text + "ret;\n}\n");
  const Outcome outcome = device.run("kernel", Shape{}, in, out);
  EXPECT_EQ(outcome.fault, FaultKind::kNone) << outcome.report << text;
  return {out, out + 32 * size};
}

TEST(MemoryCopy, AsynchronousCopiesArrive) {
  const std::vector<unsigned char> bytes = random_bytes(21);
  const std::string waits[] = {
      "cp.async.wait_all;", "cp.async.commit_group;\ncp.async.wait_group 0;"};
  for (const std::string& wait : waits) {
    for (const std::size_t size : {4u, 8u, 16u}) {
      const std::vector<unsigned char> right(
          bytes.begin(),
          bytes.begin() + static_cast<std::ptrdiff_t>(32 * size));
      EXPECT_EQ(copy_asynchronously(bytes, size, "ca", "", wait), right);
    }
    EXPECT_EQ(
        copy_asynchronously(bytes, 16, "cg.L2::128B", "", wait),
        std::vector<unsigned char>(bytes.begin(), bytes.begin() + 512));
  }
  record_checked("cp.async.shared.global");
  record_checked("cp.async.wait_all");
  record_checked("cp.async.commit_group");
  record_checked("cp.async.wait_group");
}

TEST(MemoryCopy, AsynchronousCopiesFillUpWithZeros) {
  const std::vector<unsigned char> bytes = random_bytes(22);
  for (const std::size_t size : {4u, 8u, 16u}) {
    std::vector<unsigned char> right(32 * size);
    for (std::size_t i = 0; i < right.size(); ++i) {
      const std::size_t given = i / size % (size + 1);
      right[i] = i % size < given ? bytes[i] : 0;
    }
    EXPECT_EQ(
        copy_asynchronously(
            bytes, size, "ca", ", %bytes", "cp.async.wait_all;"),
        right);
  }
}

/// Matrices of 8 x 8 16-bit words in shared memory; lane i of a group of eight
/// names row i of its matrix, anywhere.
void check_ldmatrix(std::size_t count, bool transposed) {
  const std::string key = "ldmatrix.sync.aligned.m8n8.x" + number(count) +
      (transposed ? ".trans" : "") + ".shared.b16";
  TestDevice device;
  std::vector<std::uint16_t> words(32 * 8);
  std::iota(words.begin(), words.end(), std::uint16_t{1000});
  std::vector<std::uint32_t> rows(32);
  std::iota(rows.begin(), rows.end(), 0u);
  std::shuffle(rows.begin(), rows.end(), std::mt19937(6));
  auto* in = device.copy_of(words);
  auto* order = device.copy_of(rows);
  auto* out = device.zeros<std::uint32_t>(32 * count);
  std::string stores;
  for (std::size_t i = 0; i < count; ++i) {
    stores +=
        "st.global.u32 [%q+" + number(4 * i) + "], %r" + number(i) + ";\n";
  }
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    list += (i == 0 ? "%r" : ", %r") + number(i);
  }
  device.load(
      ".visible .entry kernel(.param .u64 in, .param .u64 order,"
      " .param .u64 out) {\n.shared .align 16 .b8 data[512];\n"
      ".reg .b64 %p, %q;\n.reg .b32 %lane, %s, %row, %r<4>;\n"
      "mov.u32 %lane, %tid.x;\nld.param.u64 %p, [in];\n"
      "mad.wide.u32 %p, %lane, 16, %p;\nmov.u32 %s, data;\n"
      "mad.lo.u32 %s, %lane, 16, %s;\n"
      "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%p];\n"
      "st.shared.v4.u32 [%s], {%r0, %r1, %r2, %r3};\nbar.sync 0;\n"
      "ld.param.u64 %p, [order];\nmad.wide.u32 %p, %lane, 4, %p;\n"
      "ld.global.u32 %row, [%p];\nmov.u32 %s, data;\n"
      "mad.lo.u32 %s, %row, 16, %s;\n" +
      key + " {" + list +
      "}, [%s];\nld.param.u64 %q, [out];\n"
      "mad.wide.u32 %q, %lane, " +
      number(4 * count) + ", %q;\n" + stores + "ret;\n}\n");
  const Outcome outcome = device.run("kernel", Shape{}, in, order, out);
  ASSERT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t m = 0; m < count; ++m) {
      std::uint32_t right = 0;
      for (std::size_t e = 0; e < 2; ++e) {
        std::size_t row = lane / 4;
        std::size_t column = 2 * (lane % 4) + e;
        if (transposed) {
          std::swap(row, column);
        }
        right |= std::uint32_t{words[rows[8 * m + row] * 8 + column]}
            << (16 * e);
      }
      EXPECT_EQ(out[lane * count + m], right)
          << key << " lane " << lane << " matrix " << m;
    }
  }
  record_checked(key);
}

TEST(MemoryCopy, LoadsMatrices) {
  for (const std::size_t count : {1u, 2u, 4u}) {
    check_ldmatrix(count, false);
    check_ldmatrix(count, true);
  }
}

} // namespace
} // namespace cudasim::engine::testing

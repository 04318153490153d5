// Asynchronous copies to shared memory.
#include <gtest/gtest.h>

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
      "mov.u32 %x, -1;\n";
  for (std::size_t i = 0; i < size; i += 4) {
    text += "st.shared.u32 [%s+" + number(i) + "], %x;\n";
  }
  text += "cp.async." + cache + ".shared.global [%s], [%p], " + number(size) +
      extra + ";\n" + wait +
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
    EXPECT_EQ(
        copy_asynchronously(bytes, size, "ca", ", 0", "cp.async.wait_all;"),
        std::vector<unsigned char>(32 * size));
  }
}

} // namespace
} // namespace cudasim::engine::testing

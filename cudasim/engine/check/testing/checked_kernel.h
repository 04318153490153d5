// A kernel that CUDASIM_CHECK=1 looks at, and what it finds.
#pragma once

#include <string>
#include <vector>

#include "cudasim/engine/check/findings.h"
#include "cudasim/engine/memory/poison.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {

inline constexpr unsigned kThreads = 64;

/// A kernel that gets `%rd1` (memory), `%r1` (the thread), `%r2` (the thread's
/// place in the array `tile`) and `%r3` (that of the next thread).
inline std::string checked_kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 p) {
  .reg .pred %p<4>;
  .reg .b16 %h<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mov.u32 %r8, tile;
  shl.b32 %r9, %r1, 2;
  add.u32 %r2, %r8, %r9;
  add.u32 %r10, %r1, 1;
  rem.u32 %r10, %r10, 64;
  shl.b32 %r10, %r10, 2;
  add.u32 %r3, %r8, %r10;
)" + body +
      "  ret;\n}\n";
}

/// What is found where the kernel has this body.
/// @param poisoned_words of `%rd1`'s memory that nobody has written.
inline std::vector<std::string> findings(
    const std::string& body,
    std::size_t poisoned_words = 0) {
  TestDevice device;
  device.load(checked_kernel(body));
  Shape shape;
  shape.block.x = kThreads;
  Findings found;
  shape.findings = &found;
  auto* memory = device.zeros<std::uint32_t>(kThreads);
  poison(memory, poisoned_words * kPoisonWord);
  const Outcome outcome = device.run("k", shape, memory);
  EXPECT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
  return found.take();
}

/// The finding that has these words in it; empty when there is none.
inline std::string with(
    const std::vector<std::string>& found,
    const std::string& words) {
  for (const std::string& text : found) {
    if (text.find(words) != std::string::npos) {
      return text;
    }
  }
  return "";
}

inline constexpr char kStoreOwn[] = "  st.shared.u32 [%r2], %r1;\n";
inline constexpr char kLoadNext[] = "  ld.shared.u32 %r4, [%r3];\n";
inline constexpr char kStoreResult[] =
    "  cvt.u64.u32 %rd2, %r9;\n  add.u64 %rd3, %rd1, %rd2;\n"
    "  st.global.u32 [%rd3], %r4;\n";

} // namespace cudasim::engine::testing

// A kernel of one instruction on textures or surfaces: each thread has words of
// its own, and a handle.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {

/// What a thread has: %i0 to %i15, and %t, the handle.
struct ThreadInput {
  std::array<std::uint32_t, 16> words = {};
  std::uint64_t handle = 0;
};
/// What it leaves: %d0 to %d3, and %p as 0 or 1.
struct ThreadOutput {
  std::array<std::uint32_t, 4> words = {};
  std::uint32_t predicate = 0;
};

/// The thread that does not execute the instruction.
inline constexpr std::uint32_t kIdleThread = 7;
/// What %d0 to %d3 are before.
inline constexpr std::uint32_t kBefore = 0xaaaaaaaa;

inline std::string texture_kernel(const std::string& code) {
  std::string text = R"(
.visible .entry kernel(.param .u64 out, .param .u64 in) {
.reg .b64 %out, %in, %t, %w<4>;
.reg .b32 %i<16>, %d<4>, %x;
.reg .b16 %h<4>;
.reg .pred %p, %q;
mov.u32 %x, %tid.x;
ld.param.u64 %in, [in];
ld.param.u64 %out, [out];
mad.wide.u32 %in, %x, 72, %in;
mad.wide.u32 %out, %x, 20, %out;
ld.global.u64 %t, [%in+64];
setp.ne.u32 %p, %x, %x;
setp.ne.u32 %q, %x, 7;
)";
  const auto number = [](int value) { return std::to_string(value); };
  for (int i = 0; i < 16; ++i) {
    text += "ld.global.b32 %i" + number(i) + ", [%in+" + number(4 * i) + "];\n";
  }
  for (int i = 0; i < 4; ++i) {
    text += "mov.b32 %d" + number(i) + ", 0xaaaaaaaa;\n" + "mov.b16 %h" +
        number(i) + ", 0xaaaa;\n";
  }
  text += code + "\n";
  for (int i = 0; i < 4; ++i) {
    text +=
        "st.global.b32 [%out+" + number(4 * i) + "], %d" + number(i) + ";\n";
  }
  return text +
      "selp.b32 %x, 1, 0, %p;\nst.global.b32 [%out+16], %x;\nret;\n}\n";
}

/// Runs it with a thread for each input; empty, and a failed expectation, for a
/// fault.
inline std::vector<ThreadOutput> run_texture_kernel(
    TestDevice& device,
    const std::string& code,
    const std::vector<ThreadInput>& inputs) {
  device.load(texture_kernel(code));
  Shape shape;
  shape.block.x = static_cast<std::uint32_t>(inputs.size());
  auto* out = device.zeros<ThreadOutput>(inputs.size());
  const Outcome outcome =
      device.run("kernel", shape, out, device.copy_of(inputs));
  EXPECT_EQ(outcome.fault, FaultKind::kNone) << code << "\n" << outcome.report;
  return outcome.fault == FaultKind::kNone
      ? std::vector<ThreadOutput>(out, out + inputs.size())
      : std::vector<ThreadOutput>();
}

/// The report of the fault that it ends with.
inline std::string texture_fault(
    TestDevice& device,
    const std::string& code,
    const std::vector<ThreadInput>& inputs,
    FaultKind kind) {
  device.load(texture_kernel(code));
  Shape shape;
  shape.block.x = static_cast<std::uint32_t>(inputs.size());
  auto* out = device.zeros<ThreadOutput>(inputs.size());
  const Outcome outcome =
      device.run("kernel", shape, out, device.copy_of(inputs));
  EXPECT_EQ(outcome.fault, kind) << code << "\n" << outcome.report;
  return outcome.report;
}

} // namespace cudasim::engine::testing

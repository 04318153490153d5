// What tests of whole kernels share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {

/// A test with a device, and kernels that write one word for each thread.
class KernelTest : public ::testing::Test {
 protected:
  /// Runs `kernel(.param .u64 out)` of a module; its text may use %out, the
  /// address of the thread's word, and %t, the number of the thread in the
  /// grid.
  /// @param code of the kernel, without ret at the end.
  /// @param before declarations and functions in front of the kernel.
  /// @returns one word for each thread; fails the test on a fault.
  std::vector<std::uint32_t> words_of(
      const std::string& code,
      const Shape& shape = {},
      const std::string& before = "") {
    const std::size_t threads = shape.grid.count() * shape.block.count();
    auto* out = device.zeros<std::uint32_t>(threads);
    device.load(before + kernel(code));
    outcome = device.run("kernel", shape, out);
    EXPECT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
    return {out, out + threads};
  }

  /// Runs the same and expects it to end with a fault.
  /// @returns the report.
  std::string report_of(
      FaultKind fault,
      const std::string& code,
      const Shape& shape = {},
      const std::string& before = "") {
    auto* out =
        device.zeros<std::uint32_t>(shape.grid.count() * shape.block.count());
    device.load(before + kernel(code));
    outcome = device.run("kernel", shape, out);
    EXPECT_EQ(outcome.fault, fault) << outcome.report;
    return outcome.report;
  }

  static std::string kernel(const std::string& code) {
    return ".visible .entry kernel(.param .u64 out) {\n"
           ".reg .b64 %out, %rd<10>;\n.reg .b32 %t, %lane, %r<20>;\n"
           ".reg .pred %p<10>;\n"
           "mov.u32 %lane, %laneid;\n"
           "mov.u32 %r0, %ntid.y;\nmov.u32 %r1, %tid.z;\n"
           "mov.u32 %r2, %tid.y;\nmad.lo.u32 %t, %r1, %r0, %r2;\n"
           "mov.u32 %r0, %ntid.x;\nmov.u32 %r1, %tid.x;\n"
           "mad.lo.u32 %t, %t, %r0, %r1;\n"
           "mov.u32 %r1, %ntid.y;\nmul.lo.u32 %r0, %r0, %r1;\n"
           "mov.u32 %r1, %ntid.z;\nmul.lo.u32 %r0, %r0, %r1;\n"
           "mov.u32 %r1, %ctaid.x;\nmad.lo.u32 %t, %r1, %r0, %t;\n"
           "ld.param.u64 %out, [out];\nmad.wide.u32 %out, %t, 4, %out;\n" +
        code + "\nret;\n}\n";
  }

  TestDevice device;
  Outcome outcome;
};

} // namespace cudasim::engine::testing

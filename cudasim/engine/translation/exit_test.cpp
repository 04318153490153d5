// The end of a process while its regions are compiled.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "cudasim/engine/testing/test_device.h"
#include "cudasim/engine/translation/regions.h"

namespace cudasim::engine::testing {
namespace {

/// Loops that are worth their compilation, each with code of another kind.
std::string loops() {
  const char* const bodies[] = {
      "fma.rn.f32 %f1, %f1, %f2, %f2;\n  mul.lo.u32 %r4, %r4, %r3;",
      "div.rn.f64 %d1, %d1, %d2;\n  mul.wide.u32 %rd3, %r3, %r4;",
      "sqrt.rn.f32 %f1, %f2;\n  popc.b32 %r4, %r3;",
      "cvt.rn.f32.u32 %f1, %r3;\n  min.s32 %r4, %r4, %r3;",
      "@%p2 add.u32 %r4, %r4, 1;\n  selp.b32 %r4, %r3, %r4, %p2;",
      "st.global.u32 [%rd2], %r4;\n  ld.global.u32 %r4, [%rd2];"};
  std::string text =
      ".visible .entry kernel(.param .u64 out) {\n"
      "  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<4>;\n"
      "  .reg .f32 %f<3>; .reg .f64 %d<3>;\n"
      "  mov.u32 %r1, %tid.x;\n  mov.u32 %r4, 3;\n  mov.f32 %f1, 0f3F800000;\n"
      "  mov.f32 %f2, 0f3F000000;\n  mov.f64 %d1, 0d3FF0000000000000;\n"
      "  mov.f64 %d2, 0d3FF8000000000000;\n  setp.lt.u32 %p2, %r1, 7;\n"
      "  mul.wide.u32 %rd1, %r1, 4;\n  ld.param.u64 %rd2, [out];\n"
      "  add.s64 %rd2, %rd2, %rd1;\n";
  int n = 0;
  for (const char* const body : bodies) {
    const std::string label = "$L" + std::to_string(n++);
    text += "  mov.u32 %r3, 0;\n" + label + ":\n  " + body +
        "\n  add.u32 %r3, %r3, 1;\n  setp.lt.u32 %p1, %r3, 66000;\n  @%p1 bra " +
        label + ";\n";
  }
  return text + "  st.global.u32 [%rd2], %r4;\n  ret;\n}\n";
}

/// @returns the thread that launches, as streams do.
std::thread begin_kernel(NativeMode mode) {
  set_native_mode(mode);
  auto* const device = new TestDevice; // outlives exit(), as streams do
  device->load(loops());
  device->module().kernel("kernel"); // looked up by whoever launches it
  auto* out = device->zeros<std::uint32_t>(32);
  return std::thread([device, out] {
    Shape shape;
    shape.block = {32, 1, 1};
    shape.timeout_seconds = 60;
    for (int launch = 0; launch < 6; ++launch) {
      device->run("kernel", shape, out);
    }
  });
}

/// @param waits for the kernel; else it runs on while the process ends.
void run_and_exit(NativeMode mode, bool waits, int milliseconds) {
  std::thread kernel = begin_kernel(mode);
  if (waits) {
    kernel.join();
  } else {
    kernel.detach();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  std::exit(0);
}

TEST(Exit, InTheMiddleOfCompilations) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const NativeMode mode : {NativeMode::kAuto, NativeMode::kAlways}) {
    for (const bool waits : {false, true}) {
      for (const int milliseconds : {0, 60, 130}) {
        EXPECT_EXIT(
            run_and_exit(mode, waits, milliseconds),
            ::testing::ExitedWithCode(0),
            "")
            << static_cast<int>(mode) << waits << milliseconds;
      }
    }
  }
}

/// @param milliseconds after which a child is made, and ends.
void run_fork_and_exit(NativeMode mode, int milliseconds) {
  begin_kernel(mode).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

TEST(Exit, OfAChildInTheMiddleOfCompilations) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const NativeMode mode : {NativeMode::kAuto, NativeMode::kAlways}) {
    for (const int milliseconds : {30, 60, 90, 130}) {
      EXPECT_EXIT(
          run_fork_and_exit(mode, milliseconds),
          ::testing::ExitedWithCode(0),
          "")
          << static_cast<int>(mode) << milliseconds;
    }
  }
}

} // namespace
} // namespace cudasim::engine::testing

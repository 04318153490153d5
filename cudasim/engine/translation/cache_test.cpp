// Native code that an earlier process left in the folder of objects.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cudasim/engine/testing/test_device.h"
#include "cudasim/engine/translation/regions.h"
#include "cudasim/native/background.h"

namespace cudasim::engine::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kRounds = 70000; // worth their compilation

/// Calls handlers (ex2), too, and loads variables of the module, which are
/// elsewhere in each process.
const char* const kLoop = R"(
.global .align 8 .u32 numbers[4] = {3, 5, 7, 11};
.visible .entry kernel(.param .u64 out, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r4, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  mov.u32 %r2, 0;
  mov.f32 %f1, 0f3F000000;
  mov.u64 %rd3, numbers;
LOOP:
  ld.global.u32 %r5, [numbers+4];
  add.u32 %r3, %r3, %r5;
  and.b32 %r5, %r2, 3;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r5, [%rd2];
  add.u32 %r3, %r3, %r5;
  mov.u64 %rd2, numbers+8;
  ld.u32 %r5, [%rd2];
  xor.b32 %r3, %r3, %r5;
  mad.lo.u32 %r3, %r2, %r1, %r3;
  xor.b32 %r3, %r3, %r2;
  shf.l.wrap.b32 %r3, %r3, %r3, 5;
  fma.rn.f32 %f1, %f1, 0f3F7FFFFF, 0f3A83126F;
  mul.f32 %f2, %f1, 0f3E800000;
  ex2.approx.f32 %f2, %f2;
  add.u32 %r3, %r3, 7;
  st.global.u32 [%rd1], %r3;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, %r4;
  @%p bra LOOP;
  st.global.f32 [%rd1+128], %f2;
  ret;
}
)";

const std::string& folder() {
  // Before anything asks for it; the same in the processes of this test.
  static const std::string place = [] {
    const std::string temporary = ::testing::TempDir() + "/objects";
    setenv("CUDASIM_NATIVE_CACHE", temporary.c_str(), 1);
    return temporary;
  }();
  return place;
}

std::vector<std::uint32_t> run(NativeMode mode, std::uint32_t rounds) {
  set_native_mode(mode);
  TestDevice device;
  device.load(kLoop);
  auto* out = device.zeros<std::uint32_t>(2 * kLanes);
  Shape shape;
  shape.timeout_seconds = 60;
  for (int launch = 0; launch < 2; ++launch) {
    const Outcome outcome = device.run("kernel", shape, out, rounds);
    EXPECT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
    cudasim::native::Background::instance().wait();
  }
  return {out, out + std::size_t{2} * kLanes};
}

/// In a process of its own.
/// @param finds whether code is there already. @returns to the test: 0 as
/// expected; 1 other results; 2 other code.
void run_and_exit(NativeMode mode, bool finds) {
  constexpr std::uint32_t kFew = 500;
  const std::uint32_t rounds = mode == NativeMode::kAuto && !finds ? kRounds
      : mode == NativeMode::kAuto ? kRounds / 10
                                  : kFew;
  const std::vector<std::uint32_t> native = run(mode, rounds);
  const bool as_expected = native_regions() > 0 &&
      (finds ? found_native_regions() == native_regions()
             : found_native_regions() == 0);
  std::exit(!as_expected ? 2 : native != run(NativeMode::kOff, rounds) ? 1 : 0);
}

class Cache : public ::testing::TestWithParam<NativeMode> {
 protected:
  Cache() {
    folder();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  static void expect(bool finds) {
    EXPECT_EXIT(
        run_and_exit(GetParam(), finds), ::testing::ExitedWithCode(0), "");
  }
};

TEST_P(Cache, ServesLaterProcesses) {
  const auto expect = [](bool finds) { Cache::expect(finds); };
  if (!::testing::internal::InDeathTestChild()) {
    fs::remove_all(folder());
  }
  expect(false);
  expect(true);
  // What is damaged is compiled anew, and replaced.
  if (!::testing::internal::InDeathTestChild()) {
    for (const auto& entry : fs::directory_iterator(folder())) {
      std::ofstream(entry.path(), std::ios::binary) << "nothing";
    }
  }
  expect(false);
  expect(true);
}

INSTANTIATE_TEST_SUITE_P(
    Modes,
    Cache,
    ::testing::Values(NativeMode::kAlways, NativeMode::kAuto),
    [](const auto& info) {
      return info.param == NativeMode::kAuto ? "Auto" : "Always";
    });

} // namespace
} // namespace cudasim::engine::testing

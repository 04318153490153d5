// For tests of regions of native code as a whole: a program in both modes, of
// two warps.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/testing/kept_objects.h"
#include "cudasim/engine/testing/test_device.h"
#include "cudasim/engine/translation/regions.h"

namespace cudasim::engine::testing {

constexpr int kThreads = 64;

/// A kernel's end and memory.
struct Result {
  Outcome outcome;
  std::vector<std::uint64_t> words;
};

/// Runs kernel(out, in, n) several times in one mode: with native code, warps
/// begin in the interpreter only as long as there is none.
/// @param threads of the block; of two warps, if not said otherwise.
inline std::vector<Result> run_often(
    NativeMode mode,
    int times,
    const std::string& text,
    const std::vector<std::uint64_t>& input,
    std::uint32_t n = 5,
    unsigned threads = kThreads) {
  set_native_mode(mode);
  TestDevice device;
  device.load(text);
  Shape shape;
  shape.block = {threads, 1, 1};
  shape.timeout_seconds = 10;
  std::vector<Result> results;
  for (int i = 0; i < times; ++i) {
    auto* in = device.copy_of(input);
    auto* out = device.zeros<std::uint64_t>(kThreads);
    Result result;
    result.outcome = device.run("kernel", shape, out, in, n);
    result.words.assign(out, out + kThreads);
    results.push_back(std::move(result));
  }
  set_native_mode(NativeMode::kOff);
  return results;
}

/// The same once.
inline Result run(
    NativeMode mode,
    const std::string& text,
    const std::vector<std::uint64_t>& input,
    std::uint32_t n = 5,
    unsigned threads = kThreads) {
  return run_often(mode, 1, text, input, n, threads)[0];
}

/// The same with both, which must not differ.
inline Result compare(
    const std::string& text,
    const std::vector<std::uint64_t>& input,
    std::uint32_t n = 5,
    unsigned threads = kThreads) {
  Result plain = run(NativeMode::kOff, text, input, n, threads);
  const std::uint64_t before = native_regions();
  const auto natives =
      run_often(NativeMode::kAlways, 2, text, input, n, threads);
  EXPECT_GT(native_regions(), before);
  EXPECT_EQ(refused_native_regions(), 0u);
  for (const Result& native : natives) {
    EXPECT_EQ(native.outcome.fault, plain.outcome.fault)
        << native.outcome.report;
    EXPECT_EQ(
        native.outcome.warp_instructions, plain.outcome.warp_instructions);
    EXPECT_EQ(
        native.outcome.thread_instructions, plain.outcome.thread_instructions);
    EXPECT_EQ(native.words, plain.words);
  }
  return plain;
}

inline const std::string kBegin = R"(
.visible .entry kernel(.param .u64 out, .param .u64 in, .param .u32 n) {
  .reg .b64 %out, %in, %a, %b, %x, %y;
  .reg .b32 %t, %k, %n, %e, %f, %h, %z;
  .reg .pred %p, %q, %r;
  .shared .align 8 .b32 flag;
  ld.param.u64 %out, [out];
  ld.param.u64 %in, [in];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %x, %t, 8;
  add.u64 %out, %out, %x;
  add.u64 %in, %in, %x;
  ld.global.u64 %a, [%in];
  ld.global.u32 %e, [%in];
  mov.u32 %h, 7;
)";
inline const std::string kEnd = R"(
  cvt.u64.u32 %x, %h;
  st.global.u64 [%out], %x;
  ret;
}
)";

inline std::vector<std::uint64_t> rising(
    std::uint64_t base,
    std::uint64_t stride) {
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    words.push_back(base + stride * i);
  }
  return words;
}

} // namespace cudasim::engine::testing

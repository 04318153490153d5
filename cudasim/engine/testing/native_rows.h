// For tests of native code against the interpreter: the same kernel with both,
// and all that it leaves in memory compared byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/kept_objects.h"
#include "cudasim/engine/testing/test_device.h"
#include "cudasim/engine/translation/regions.h"

namespace cudasim::engine::testing {

constexpr int kThreads = 64;
constexpr unsigned kRounds = 4; // so many kinds of input
/// Instructions of one kernel: it takes longer to compile than to run.
constexpr std::size_t kBatch = 32;

/// A kernel's end and memory.
struct Result {
  Outcome outcome;
  std::vector<std::uint64_t> words;
};

/// Runs kernel(out, in, n) in one mode. Three words of 64 bits of input for
/// each thread, and `columns` of output. @param width of the block.
inline Result run(
    NativeMode mode,
    const std::string& text,
    const std::vector<std::uint64_t>& input,
    std::size_t columns,
    unsigned width = kThreads) {
  set_native_mode(mode);
  TestDevice device;
  device.load(text);
  auto* in = device.copy_of(input);
  auto* out = device.zeros<std::uint64_t>(columns * kThreads);
  Shape shape;
  shape.block = {width, kThreads / width, 1};
  Result result;
  result.outcome = device.run("kernel", shape, out, in, 5);
  result.words.assign(out, out + columns * kThreads);
  set_native_mode(NativeMode::kOff);
  return result;
}

/// Which values the lanes have: all kinds of layouts, and values at the edges.
inline std::vector<std::uint64_t> inputs(unsigned seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t edges[] = {
      0,
      1,
      0x7f800000,
      0xff800000,
      0x7fc00000,
      0x80000000,
      0x7fffffff,
      0xffffffff,
      0x3f800000,
      0x00000001,
      0x7ff0000000000000,
      0xfff0000000000000,
      0x7ff8000000000000,
      0x8000000000000000,
      0x7fffffffffffffff,
      0xffffffffffffffff,
      0x3ff0000000000000,
      31,
      32,
      63,
      64};
  std::vector<std::uint64_t> words;
  for (int column = 0; column < 3; ++column) {
    const std::uint64_t base = random() % 3 == 0
        ? edges[random() % std::size(edges)]
        : random() >> random() % 64;
    const std::uint64_t stride = random() % 4 == 0 ? random() : random() % 9;
    const auto kind = (seed + static_cast<unsigned>(column)) % 4;
    for (int i = 0; i < kThreads; ++i) {
      const auto lane = static_cast<std::uint64_t>(i);
      words.push_back(
          kind == 0       ? base
              : kind == 1 ? base + stride * lane
              : kind == 2 ? edges[random() % std::size(edges)]
                          : random() >> random() % 64);
    }
  }
  return words;
}

inline const std::string kBegin = R"(
.visible .entry kernel(.param .u64 out, .param .u64 in, .param .u32 n) {
  .reg .b64 %out, %in, %d, %a, %b, %c, %x, %y;
  .reg .b32 %t, %k, %n, %e, %f, %g, %h, %z;
  .reg .b16 %s, %u, %v;
  .reg .pred %p, %q, %r;
  .shared .align 8 .b8 tile[1024];
  ld.param.u64 %out, [out];
  ld.param.u64 %in, [in];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %x, %t, 8;
  add.u64 %out, %out, %x;
  add.u64 %in, %in, %x;
  ld.global.u64 %a, [%in];
  ld.global.u64 %b, [%in+512];
  ld.global.u64 %c, [%in+1024];
  cvt.u32.u64 %e, %a;
  cvt.u32.u64 %f, %b;
  cvt.u32.u64 %g, %c;
  cvt.u16.u64 %s, %a;
  cvt.u16.u64 %u, %b;
)";
/// Whether an instruction reads or writes a register.
inline bool is_named(const std::string& code, const std::string& name) {
  return code.empty() || code.find(name) != std::string::npos;
}

/// Before each of the instructions.
/// @param code only what it names is set; empty: all.
inline std::string reset(const std::string& code = "") {
  std::string text;
  for (const char* const line :
       {"mov.u64 %d, 77;\n",
        "mov.u32 %h, 7;\n",
        "mov.u16 %v, 3;\n",
        "setp.lt.s32 %p, %e, %f;\n",
        "setp.gt.u32 %q, %t, 40;\n",
        "setp.lt.s32 %r, %e, %f;\n"}) {
    const std::string set = line;
    if (is_named(code, set.substr(set.find('%'), 2))) {
      text += set;
    }
  }
  return text;
}

/// Behind it: what it has written goes to two columns of the output.
/// @param code only what it names is stored; empty: all.
inline std::string results_to(
    std::size_t column,
    const std::string& code = "") {
  const auto place = [](std::size_t at) {
    return "[%out+" + std::to_string(at) + "], ";
  };
  const std::size_t first = 8 * kThreads * column;
  const std::size_t second = first + 8 * kThreads;
  std::string text;
  if (is_named(code, "%d")) {
    text += "st.global.u64 " + place(first) + "%d;\n";
  }
  if (is_named(code, "%h")) {
    text += "st.global.u32 " + place(second) + "%h;\n";
  }
  if (is_named(code, "%v")) {
    text += "st.global.u16 " + place(second + 4) + "%v;\n";
  }
  if (is_named(code, "%r")) {
    text +=
        "selp.b32 %z, 1, 0, %r;\nst.global.u8 " + place(second + 6) + "%z;\n";
  }
  return text;
}
inline const std::string kEnd = "ret;\n}\n";

inline bool same_or_nan(
    std::uint64_t a,
    std::uint64_t b,
    const std::string& code) {
  if (a == b) {
    return true;
  }
  double x = 0;
  double y = 0;
  std::memcpy(&x, &a, sizeof(x));
  std::memcpy(&y, &b, sizeof(y));
  if (code.find("f64") != std::string::npos && std::isnan(x) && std::isnan(y)) {
    return true;
  }
  // %h, the result of 32 bits, is the lower half of the second word.
  const auto low = static_cast<std::uint32_t>(a);
  const auto other = static_cast<std::uint32_t>(b);
  float v = 0;
  float w = 0;
  std::memcpy(&v, &low, sizeof(v));
  std::memcpy(&w, &other, sizeof(w));
  return code.find("f32") != std::string::npos && std::isnan(v) &&
      std::isnan(w) && a >> 32 == b >> 32;
}

/// Instructions, which are compared in kernels of several at the end.
class NativeRows : public ::testing::Test {
 protected:
  void compare(const std::string& code) {
    codes_.push_back(code);
  }
  /// Of an instruction that no handler executes.
  void compare_native(const std::string& code) {
    native_codes_.push_back(code);
  }
  /// Plain, and with a guard that some lanes, all, or none have.
  void compare_guarded(const std::string& code) {
    compare(code);
    compare("@%p " + code);
    compare("@!%q " + code);
  }

  /// In a kernel of its own, where some inputs leave native code: that is
  /// compiled again from there to the kernel's end, with all that follows.
  static void compare_alone(const std::string& code) {
    compare_kernel({code});
  }

  /// In a kernel that has nothing else.
  static void compare_together(const std::vector<std::string>& codes) {
    compare_kernel(codes);
  }

  void TearDown() override {
    compare_batches(codes_, false);
    compare_batches(native_codes_, true);
  }

 private:
  static void compare_batches(
      const std::vector<std::string>& codes,
      bool are_native) {
    for (std::size_t first = 0; first < codes.size(); first += kBatch) {
      const auto begin = codes.begin() + static_cast<std::ptrdiff_t>(first);
      const std::size_t count = std::min(kBatch, codes.size() - first);
      compare_kernel(
          {begin, begin + static_cast<std::ptrdiff_t>(count)}, are_native);
    }
  }

  static void compare_kernel(
      const std::vector<std::string>& codes,
      bool are_native = false) {
    for (unsigned seed = 0; seed <= kRounds; ++seed) {
      compare_round(codes, seed, are_native && seed != kRounds);
    }
  }

  /// @param is_native whether no handler executes any of it.
  static void compare_round(
      const std::vector<std::string>& codes,
      unsigned seed,
      bool is_native) {
    std::string text = kBegin + reset();
    if (seed == kRounds) {
      // For some lanes: others have exited, or wait with what they have. (With
      // plain instructions alone it would be code for all lanes.)
      text +=
          "and.b32 %z, %t, 5;\nsetp.eq.u32 %r, %z, 4;\n@%r ret;\n"
          "setp.lt.u32 %r, %t, 3;\n@%r bra PAST;\nactivemask.b32 %z;\n";
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
      text += reset(codes[i]) + "{\n" + codes[i] + "\n}\n" +
          results_to(2 * i, codes[i]);
    }
    text += "PAST:\n" + results_to(2 * codes.size()) + kEnd;
    const auto input = inputs(seed);
    const std::size_t columns = 2 * codes.size() + 2;
    const Result plain = run(NativeMode::kOff, text, input, columns);
    const std::uint64_t before = native_regions();
    const std::uint64_t handled = handled_native_instructions();
    const Result native = run(NativeMode::kAlways, text, input, columns);
    EXPECT_GT(native_regions(), before) << codes[0];
    if (is_native) {
      EXPECT_EQ(handled_native_instructions(), handled) << codes[0];
    }
    ASSERT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    ASSERT_EQ(native.outcome.fault, FaultKind::kNone) << native.outcome.report;
    EXPECT_EQ(plain.outcome.warp_instructions, native.outcome.warp_instructions)
        << codes[0];
    EXPECT_EQ(
        plain.outcome.thread_instructions, native.outcome.thread_instructions)
        << codes[0];
    // Behind all of them is what any of them may have left.
    std::string all = "all of them";
    for (const std::string& code : codes) {
      all += "\n" + code;
    }
    for (std::size_t i = 0; i < plain.words.size(); ++i) {
      const std::size_t number = i / (2 * kThreads);
      const std::string& code = number < codes.size() ? codes[number] : all;
      if (!same_or_nan(plain.words[i], native.words[i], code)) {
        ADD_FAILURE() << code << ": thread " << i % kThreads << ", round "
                      << seed << ", column " << i / kThreads % 2 << std::hex
                      << ": interpreted " << plain.words[i] << ", native "
                      << native.words[i];
        i += kThreads; // the next column will do
      }
    }
  }

  std::vector<std::string> codes_;
  std::vector<std::string> native_codes_;
};

} // namespace cudasim::engine::testing

// Native code against the interpreter: the same kernel with both, and all that
// it leaves in memory compared byte by byte.
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

#include "cudasim/engine/testing/test_device.h"
#include "cudasim/engine/translation/regions.h"

namespace cudasim::engine::testing {
namespace {

constexpr int kThreads = 64;
constexpr unsigned kRounds = 4; // so many kinds of input
/// Instructions of one kernel: it takes longer to compile than to run.
constexpr std::size_t kBatch = 16;

/// A kernel's end and memory.
struct Result {
  Outcome outcome;
  std::vector<std::uint64_t> words;
};

/// Runs kernel(out, in, n) in one mode. Three words of 64 bits of input for
/// each thread, and `columns` of output. @param width of the block.
Result run(
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
std::vector<std::uint64_t> inputs(unsigned seed) {
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

const std::string kBegin = R"(
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
/// Before each of the instructions.
const std::string kReset = R"(
  mov.u64 %d, 77;
  mov.u32 %h, 7;
  mov.u16 %v, 3;
  setp.lt.s32 %p, %e, %f;
  setp.gt.u32 %q, %t, 40;
  mov.pred %r, %p;
)";

/// Behind it: what it has written goes to two columns of the output.
std::string results_to(std::size_t column) {
  const auto place = [](std::size_t at) {
    return "[%out+" + std::to_string(8 * kThreads * at) + "]";
  };
  return R"(
  selp.b32 %z, 1, 0, %r;
  cvt.u64.u32 %x, %h;
  shl.b64 %y, %x, 16;
  cvt.u64.u16 %x, %v;
  or.b64 %y, %y, %x;
  shl.b64 %y, %y, 1;
  cvt.u64.u32 %x, %z;
  or.b64 %y, %y, %x;
  st.global.u64 )" +
      place(column) + ", %d;\n  st.global.u64 " + place(column + 1) + ", %y;\n";
}
const std::string kEnd = "ret;\n}\n";

bool same_or_nan(std::uint64_t a, std::uint64_t b, const std::string& code) {
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
  // %h, the result of 32 bits, is 17 bits up in the second word.
  const auto low = static_cast<std::uint32_t>(a >> 17);
  const auto other = static_cast<std::uint32_t>(b >> 17);
  float v = 0;
  float w = 0;
  std::memcpy(&v, &low, sizeof(v));
  std::memcpy(&w, &other, sizeof(w));
  return code.find("f32") != std::string::npos && std::isnan(v) &&
      std::isnan(w) && (a & 0x1ffff) == (b & 0x1ffff);
}

/// Instructions, which are compared in kernels of several at the end.
class NativeRows : public ::testing::Test {
 protected:
  void compare(const std::string& code) {
    codes_.push_back(code);
  }
  /// Plain, and with a guard that some lanes, all, or none have.
  void compare_guarded(const std::string& code) {
    compare(code);
    compare("@%p " + code);
    compare("@!%q " + code);
  }

  void TearDown() override {
    for (std::size_t first = 0; first < codes_.size(); first += kBatch) {
      const std::vector<std::string> batch(
          codes_.begin() + static_cast<std::ptrdiff_t>(first),
          codes_.begin() +
              static_cast<std::ptrdiff_t>(
                  std::min(first + kBatch, codes_.size())));
      for (unsigned seed = 0; seed < kRounds; ++seed) {
        compare_batch(batch, seed);
      }
    }
  }

 private:
  static void compare_batch(
      const std::vector<std::string>& codes,
      unsigned seed) {
    std::string text = kBegin;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      text += kReset + "{\n" + codes[i] + "\n}\n" + results_to(2 * i);
    }
    text += kEnd;
    const auto input = inputs(seed);
    const Result plain = run(NativeMode::kOff, text, input, 2 * codes.size());
    const std::uint64_t before = native_regions();
    const Result native =
        run(NativeMode::kAlways, text, input, 2 * codes.size());
    EXPECT_GT(native_regions(), before) << codes[0];
    ASSERT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    ASSERT_EQ(native.outcome.fault, FaultKind::kNone) << native.outcome.report;
    EXPECT_EQ(plain.outcome.warp_instructions, native.outcome.warp_instructions)
        << codes[0];
    EXPECT_EQ(
        plain.outcome.thread_instructions, native.outcome.thread_instructions)
        << codes[0];
    for (std::size_t i = 0; i < plain.words.size(); ++i) {
      const std::string& code = codes[i / (2 * kThreads)];
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
};

TEST_F(NativeRows, Integers) {
  for (const std::string type : {"s32", "u32"}) {
    for (const std::string op : {"add", "sub", "min", "max", "mul.lo"}) {
      compare_guarded(op + "." + type + " %h, %e, %f;");
      compare(op + "." + type + " %h, %e, 12345;");
      compare(op + "." + type + " %h, %t, %n;");
    }
    compare_guarded("mad.lo." + type + " %h, %e, %f, %g;");
    compare("mad.lo." + type + " %h, %t, 12, %n;");
    compare_guarded("mul.wide." + type + " %d, %e, %f;");
    compare("mul.wide." + type + " %d, %e, 4;");
    compare("mad.wide." + type + " %d, %e, 4, %b;");
    compare("mul.hi." + type + " %h, %e, %f;"); // by its handler
    compare("div." + type + " %h, %e, %f;");
  }
  // By what all lanes have alike; at the edges of what is positive, too.
  for (const std::string type : {"s32", "u32", "s64", "u64"}) {
    const bool wide = type[1] == '6';
    for (const std::string base :
         {wide ? "9223372036854775777" : "2147483617",
          wide ? "9223372036854775800" : "2147483640",
          wide ? "18446744073709551590" : "4294967270",
          wide ? "9223372036854775808" : "2147483648",
          "0",
          "64",
          "-5"}) {
      for (const std::string divisor :
           {wide ? "9223372036854775807" : "2147483647", "100", "33", "-1"}) {
        const std::string result = wide ? "%d" : "%h";
        compare(
            (wide ? "cvt.u64.u32 %x, %t;\nadd.u64 %x, %x, "
                  : "add.u32 %z, %t, ") +
            base + ";\ndiv." + type + " " + result + ", " +
            (wide ? "%x, " : "%z, ") + divisor + ";\nrem." + type + " " +
            (wide ? "%x, %x, " : "%z, %z, ") + divisor + ";\nmad.lo." + type +
            " " + result + ", " + (wide ? "%x" : "%z") + ", 7, " + result +
            ";");
      }
    }
  }
  for (const std::string type : {"s64", "u64"}) {
    for (const std::string op : {"add", "sub", "min", "max", "mul.lo"}) {
      compare(op + "." + type + " %d, %a, %b;");
      compare(op + "." + type + " %d, %a, -3;");
    }
    compare("mad.lo." + type + " %d, %a, %b, %c;");
  }
  compare("add.s16 %v, %s, %u;");
  compare("mul.lo.u16 %v, %s, %u;");
  compare("mul.wide.s16 %h, %s, %u;");
  compare("neg.s32 %h, %e;");
  compare("neg.s64 %d, %a;");
  compare("add.cc.u32 %h, %e, %f;\naddc.u32 %h, %h, %g;");
}

TEST_F(NativeRows, Logic) {
  for (const std::string op : {"and", "or", "xor"}) {
    compare_guarded(op + ".b32 %h, %e, %f;");
    compare(op + ".b64 %d, %a, %b;");
    compare(op + ".b16 %v, %s, %u;");
    compare_guarded(op + ".pred %r, %p, %q;");
    compare(op + ".pred %r, %p, !%q;");
  }
  // Bits of what rises from lane to lane.
  for (const std::string mask : {"31", "96", "127", "508", "5", "0xffffff80"}) {
    compare("and.b32 %h, %t, " + mask + ";");
    compare("shl.b32 %h, %t, 2;\nand.b32 %h, %h, " + mask + ";");
    compare("and.b32 %h, %e, " + mask + ";");
  }
  for (const std::string bits : {"64", "512", "1", "0x80000000", "%n"}) {
    compare("or.b32 %h, %t, " + bits + ";");
    compare("shl.b32 %h, %t, 4;\nor.b32 %h, %h, " + bits + ";");
    compare("xor.b32 %h, " + bits + ", %t;");
    compare("or.b32 %h, %e, " + bits + ";");
  }
  for (const std::string amount : {"3", "5", "6", "8"}) {
    compare("shr.u32 %h, %t, " + amount + ";");
    compare("add.u32 %h, %t, 100;\nshr.s32 %h, %h, " + amount + ";");
    compare("sub.u32 %h, %t, 100;\nshr.u32 %h, %h, " + amount + ";");
  }
  compare("not.b32 %h, %e;");
  compare("not.b64 %d, %a;");
  compare("not.b16 %v, %s;");
  compare("not.pred %r, %q;");
  for (const std::string amount : {"0", "1", "31", "32", "40", "%f"}) {
    compare_guarded("shl.b32 %h, %e, " + amount + ";");
    compare("shr.u32 %h, %e, " + amount + ";");
    compare("shr.s32 %h, %e, " + amount + ";");
    compare("shl.b64 %d, %a, " + amount + ";");
    compare("shr.s64 %d, %a, " + amount + ";");
    compare("shl.b16 %v, %s, " + amount + ";");
    compare("shr.u16 %v, %s, " + amount + ";");
  }
}

TEST_F(NativeRows, Floats) {
  const auto both = [this](const std::string& op, const std::string& rest) {
    const bool two = rest == "2";
    const bool three = rest == "3";
    compare_guarded(
        op + ".f32 %h, %e" + (two || three ? ", %f" : "") +
        (three ? ", %g;" : ";"));
    compare(
        op + ".f64 %d, %a" + (two || three ? ", %b" : "") +
        (three ? ", %c;" : ";"));
  };
  for (const char* op :
       {"add", "sub", "mul", "add.rn", "div.rn", "min", "max"}) {
    both(op, "2");
  }
  both("fma.rn", "3");
  for (const char* op : {"neg", "abs", "sqrt.rn", "rcp.rn"}) {
    both(op, "1");
  }
  compare("add.ftz.f32 %h, %e, %f;");
  compare("mul.rz.f32 %h, %e, %f;");
  compare("add.sat.f32 %h, %e, %f;");
  compare("ex2.approx.f32 %h, %e;");
  for (const std::string op : {"rcp", "sqrt", "rsqrt"}) {
    compare_guarded(op + ".approx.f32 %h, %e;");
    compare(op + ".approx.ftz.f32 %h, %e;");
  }
  compare("rsqrt.approx.f64 %d, %a;");
  compare_guarded("div.full.f32 %h, %e, %f;");
  compare("div.approx.f32 %h, %n, %e;");
  compare("div.approx.ftz.f32 %h, %e, %f;");
  compare("fma.rn.f32 %h, %e, 0f40000000, %n;");
}

TEST_F(NativeRows, Comparisons) {
  for (const std::string how : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    for (const std::string type : {"s32", "u32"}) {
      compare("setp." + how + "." + type + " %r, %e, %f;");
      compare("setp." + how + "." + type + " %r, %t, %n;");
    }
    compare_guarded("setp." + how + ".s64 %r, %a, %b;");
    compare("setp." + how + ".u64 %r, %a, %b;");
    compare("setp." + how + ".s16 %r, %s, %u;");
    compare("setp." + how + ".f32 %r, %e, %f;");
    compare("setp." + how + "u.f32 %r, %e, %f;");
    compare("setp." + how + ".f64 %r, %a, %b;");
    compare("setp." + how + ".and.s32 %r, %e, %f, %q;");
    compare("setp." + how + ".s32 %r|%p, %e, %f;");
  }
  for (const std::string how : {"lo", "ls", "hi", "hs"}) {
    compare("setp." + how + ".u32 %r, %e, %f;");
  }
  compare("setp.num.f32 %r, %e, %f;");
  compare("setp.nan.f64 %r, %a, %b;");
  compare_guarded("selp.b32 %h, %e, %f, %q;");
  compare("selp.f32 %h, %e, %f, %p;");
  compare("selp.b64 %d, %a, %b, %q;");
  compare("selp.b32 %h, 5, 6, %q;");
}

TEST_F(NativeRows, Conversions) {
  for (const std::string from : {"s32", "u32"}) {
    compare_guarded("cvt.s64." + from + " %d, %e;");
    compare("cvt.u64." + from + " %d, %t;");
    compare("cvt.rn.f32." + from + " %h, %e;");
    compare("cvt.rn.f64." + from + " %d, %e;");
  }
  compare("cvt.u32.u64 %h, %a;");
  compare("cvt.s32.s64 %h, %a;");
  compare("cvt.rn.f32.s64 %h, %a;");
  compare("cvt.rn.f32.u64 %h, %a;");
  compare("cvt.f64.f32 %d, %e;");
  compare("cvt.rn.f32.f64 %h, %a;");
  compare("cvt.rzi.s32.f32 %h, %e;");
  compare("cvt.u16.u32 %v, %e;");
  compare("cvt.s8.s32 %h, %e;");
  compare("mov.b32 %h, %e;");
  compare_guarded("mov.b64 %d, %a;");
  compare("mov.b64 {%h, %z}, %a;");
  compare("mov.b64 %d, {%e, %f};");
  compare("mov.u32 %h, %laneid;");
}

TEST_F(NativeRows, LoadsAndStores) {
  // Lane after lane, the same for all, apart, and beyond a word.
  for (const std::string type : {"u8", "s8", "u16", "s16", "b32", "f32"}) {
    compare_guarded("ld.global." + type + " %h, [%in+8];");
    compare("ld.global.nc." + type + " %h, [%in+16];");
  }
  compare("ld.param.u64 %y, [in];\nld.global.b32 %h, [%y+12];");
  compare("ld.param.u64 %y, [in];\n@%p ld.global.b32 %h, [%y+12];");
  compare(
      "mul.wide.u32 %x, %t, 4;\nsub.u64 %y, %in, %x;\n"
      "ld.global.b32 %h, [%y+4];");
  compare(
      "mul.wide.u32 %x, %t, 8;\nadd.u64 %y, %in, %x;\n"
      "ld.global.v4.b32 {%h, %z, %e, %f}, [%y];\n"
      "add.s32 %h, %h, %z;\nadd.s32 %h, %h, %e;\nadd.s32 %h, %h, %f;");
  compare(
      "ld.global.v2.b32 {%h, %z}, [%in];\n"
      "st.global.v2.b32 [%in], {%z, %h};\nld.global.b64 %d, [%in];");
  compare_guarded("st.global.b64 [%in], %b;");
  compare("ld.global.b64 %d, [%in];");
  for (const std::string stride : {"4", "8", "12"}) {
    compare(
        "mov.u32 %z, tile;\nmad.lo.u32 %z, %t, " + stride +
        ", %z;\nst.shared.b32 [%z], %e;\nbar.sync 0;\n"
        "ld.shared.b32 %h, [%z];");
  }
  compare(
      "mov.u32 %z, tile;\nmad.lo.u32 %z, %t, 8, %z;\n"
      "st.shared.v2.b32 [%z], {%e, %f};\nbar.sync 0;\n"
      "ld.shared.v2.b32 {%h, %k}, [%z];\nxor.b32 %h, %h, %k;");
  compare("ld.volatile.global.b32 %h, [%in];");
  compare("atom.global.add.u32 %h, [%in], 3;");
}

TEST_F(NativeRows, ControlFlow) {
  // Loops of the same length for all lanes, and of their own.
  compare(R"(
    mov.u32 %k, 0;
    LOOP:
    mad.lo.u32 %h, %h, 3, %k;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %n;
    @%p bra LOOP;)");
  compare(R"(
    and.b32 %z, %e, 15;
    mov.u32 %k, 0;
    LOOP:
    mad.lo.u32 %h, %h, 3, %k;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %z;
    @%p bra LOOP;
    add.u32 %h, %h, %k;)");
  compare(R"(
    @%p bra THEN;
    add.s32 %h, %e, %f;
    bra MET;
    THEN:
    mul.lo.s32 %h, %e, %f;
    MET:
    add.s32 %h, %h, 1;)");
  compare(R"(
    setp.eq.u32 %p, %n, 5;
    @!%p bra ELSE;
    add.s32 %h, %e, %f;
    bra MET;
    ELSE:
    mov.u32 %h, %t;
    MET:
    add.s32 %h, %h, 1;)");
  // A register that is the same for all on one way, and not on the other.
  compare(R"(
    mov.u32 %h, %n;
    mov.u32 %k, 0;
    LOOP:
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, 3;
    @!%p bra OUT;
    add.u32 %h, %h, %e;
    bra LOOP;
    OUT:)");
}

TEST_F(NativeRows, Collectives) {
  for (const std::string bounds : {"31", "0", "0x1c1f", "0x1807", "0x10ff"}) {
    for (const std::string form : {"up", "down", "bfly", "idx"}) {
      for (const std::string amount : {"1", "5", "16", "40", "%n"}) {
        compare(
            "shfl.sync." + form + ".b32 %h|%r, %e, " + amount + ", " + bounds +
            ", -1;");
      }
      compare(
          "shfl.sync." + form + ".b32 %h, %t, 3, " + bounds +
          ", -1;\nshfl.sync." + form + ".b32 %z, %n, 3, " + bounds +
          ", 0xffffffff;\nadd.u32 %h, %h, %z;");
    }
  }
  for (const std::string form : {"all", "any", "uni"}) {
    compare("vote.sync." + form + ".pred %r, %p, -1;");
    compare("vote.sync." + form + ".pred %r, !%q, -1;");
    compare("setp.eq.u32 %q, %n, 5;\nvote.sync." + form + ".pred %r, %q, -1;");
  }
  compare("vote.sync.ballot.b32 %h, %p, -1;");
  compare("vote.sync.ballot.b32 %h, !%q, -1;");
  compare("setp.eq.u32 %q, %n, 5;\nvote.sync.ballot.b32 %h, %q, -1;");
  compare("bar.warp.sync -1;\nadd.u32 %h, %e, 1;");
}

/// Blocks of 16 threads in x: a warp has two rows of lanes.
TEST(NativeRowsOf16, AreTheSame) {
  const auto input = inputs(6);
  for (const char* const stride : {"0", "4", "8"}) {
    for (const char* const row : {"0", "4", "60", "64", "68", "160", "-64"}) {
      // Words of the input and of shared memory by x and y; what is read, and
      // what the affine registers themselves hold.
      const std::string text = std::string(R"(
.visible .entry kernel(.param .u64 out, .param .u64 in, .param .u32 n) {
  .reg .b64 %out, %in, %w, %v;
  .reg .b32 %x, %y, %i, %a, %b, %c, %d, %s;
  .reg .f32 %f;
  .reg .pred %p;
  .shared .align 8 .b8 tile[2048];
  ld.param.u64 %out, [out];
  ld.param.u64 %in, [in];
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mad.lo.u32 %i, %y, 16, %x;
  mul.wide.u32 %w, %i, 4;
  add.u64 %w, %w, %in;
  ld.global.b32 %a, [%w];
  mov.u32 %s, tile;
  mad.lo.u32 %b, %i, 4, %s;
  st.shared.b32 [%b], %a;
  st.shared.b32 [%b+1024], %a;
  bar.sync 0;
  mul.lo.s32 %c, %x, )") +
          stride + ";\nmad.lo.s32 %c, %y, " + row + R"(, %c;
  add.s32 %c, %c, 256;
  cvt.s64.s32 %w, %c;
  add.s64 %w, %w, %in;
  ld.global.b32 %a, [%w];
  add.s32 %d, %s, %c;
  ld.shared.b32 %b, [%d];
  ld.shared.u8 %i, [%d+4];
  xor.b32 %a, %a, %b;
  xor.b32 %a, %a, %i;
  bar.sync 0;
  st.shared.b32 [%d], %y;
  bar.sync 0;
  ld.shared.b32 %b, [%d];
  mad.lo.u32 %a, %b, 7, %a;
  mov.u32 %i, 0;
  LOOP:
  shl.b32 %b, %c, 1;
  sub.s32 %b, %b, %y;
  cvt.rn.f32.s32 %f, %b;
  mov.b32 %d, %f;
  xor.b32 %a, %a, %d;
  shr.s32 %d, %c, 3;
  and.b32 %b, %c, 31;
  add.s32 %d, %d, %b;
  add.s32 %a, %a, %d;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 3;
  @%p bra LOOP;
  mul.wide.s32 %v, %c, -3;
  cvt.u64.u32 %w, %a;
  shl.b64 %w, %w, 32;
  add.s64 %v, %v, %w;
  mad.lo.u32 %i, %y, 16, %x;
  mul.wide.u32 %w, %i, 8;
  add.u64 %w, %w, %out;
  st.global.u64 [%w], %v;
  ret;
}
)";
      const std::uint64_t before = native_regions();
      const Result plain = run(NativeMode::kOff, text, input, 1, kRowLanes);
      const Result native = run(NativeMode::kAlways, text, input, 1, kRowLanes);
      EXPECT_GT(native_regions(), before);
      ASSERT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
      ASSERT_EQ(native.outcome.fault, FaultKind::kNone)
          << native.outcome.report;
      EXPECT_EQ(plain.words, native.words) << stride << " and " << row;
      EXPECT_EQ(
          plain.outcome.thread_instructions,
          native.outcome.thread_instructions);
    }
  }
}

/// What a kernel that faults in the middle of a region says.
TEST(NativeFaults, AreReportedAlike) {
  const std::string text = kBegin +
      "ld.global.u64 %d, [%in];\nadd.u64 %in, %in, 4096;\n"
      "ld.global.u64 %d, [%in];\n" +
      kEnd;
  const auto input = inputs(3);
  const Result plain = run(NativeMode::kOff, text, input, 1);
  const Result native = run(NativeMode::kAlways, text, input, 1);
  EXPECT_EQ(plain.outcome.fault, FaultKind::kIllegalAddress);
  EXPECT_EQ(native.outcome.fault, plain.outcome.fault);
  const auto first_line = [](const std::string& report) {
    return report.substr(0, report.find("0x"));
  };
  EXPECT_EQ(
      first_line(native.outcome.report), first_line(plain.outcome.report));
}

} // namespace
} // namespace cudasim::engine::testing

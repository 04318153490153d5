// Unrolled loops: accesses that are checked together, loads that are written
// late, arithmetic in strips of lanes, and how many rounds are left.
//
// CUDASIM_FUZZ_SEED and CUDASIM_FUZZ_KERNELS choose other programs, and more.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/native_regions.h"
#include "cudasim/engine/testing/test_device.h"

namespace cudasim::engine::testing {
namespace {

constexpr int kFloats = 24;

std::string number(std::int64_t value) {
  return std::to_string(value);
}

std::string real(int index) {
  return "%f" + number(index);
}

/// Gives each warp a tile of 4 KB with small numbers, and registers whose lanes
/// lie in it as those of matrices do. A region begins behind it, which sees how
/// they lie.
std::string begin_with_tiles() {
  std::string text = kBegin +
      "  .reg .f32 %f<24>, %s<2>, %g;\n  .reg .b32 %u<6>, %v;\n"
      "  mov.f32 %s0, 0f3F000000;\n  mov.f32 %s1, 0fBE800000;\n"
      "  .shared .align 16 .b8 tiles[8192];\n"
      "  shr.u32 %v, %t, 5;\n  shl.b32 %v, %v, 12;\n  mov.u32 %z, tiles;\n"
      "  add.u32 %v, %v, %z;\n  and.b32 %f, %t, 31;\n"
      "  shl.b32 %u0, %f, 2;\n  add.u32 %u0, %u0, %v;\n" // one behind the other
      "  and.b32 %z, %f, 15;\n  shl.b32 %u1, %z, 3;\n  add.u32 %u1, %u1, %v;\n"
      "  shr.u32 %z, %f, 4;\n  shl.b32 %u2, %z, 6;\n  add.u32 %u2, %u2, %v;\n"
      "  shl.b32 %u3, %f, 4;\n  add.u32 %u3, %u3, %v;\n"
      "  mov.u32 %u4, %v;\n" // the same for all
      "  mul.lo.u32 %z, %f, 7;\n  and.b32 %z, %z, 31;\n"
      "  shl.b32 %u5, %z, 4;\n  add.u32 %u5, %u5, %v;\n"; // anywhere
  for (int i = 0; i < 32; ++i) {
    text += "  mad.lo.u32 %z, %t, 37, " + number(11 * i) +
        ";\n  and.b32 %z, %z, 63;\n  cvt.rn.f32.u32 %g, %z;\n"
        "  st.shared.f32 [%u0+" +
        number(128 * i) + "], %g;\n";
  }
  for (int i = 0; i < kFloats; ++i) {
    text += "  cvt.rn.f32.u32 " + real(i) + ", %t;\n";
  }
  return text + "  setp.eq.u32 %q, %f, 3;\n  bar.red.popc.u32 %z, 0, %q;\n";
}

/// What registers have, in %h. A NaN, whose bits are any, loses.
std::string fold() {
  std::string text;
  for (int i = 0; i < kFloats; ++i) {
    text += "  min.f32 %g, " + real(i) +
        ", 0f7149F2CA;\n  mov.b32 %z, %g;\n  mul.lo.u32 %h, %h, 31;\n"
        "  xor.b32 %h, %h, %z;\n";
  }
  return text;
}

class Programs {
 public:
  explicit Programs(unsigned seed) : random_(seed) {}

  std::string next() {
    std::string text = begin_with_tiles() + "  mov.u32 %k, 0;\nLOOP:\n";
    for (int piece = 0; piece < 4; ++piece) {
      for (int bursts = below(4); bursts > 0; --bursts) {
        text += burst(true);
      }
      const int arithmetics = 10 + below(60);
      for (int i = 0; i < arithmetics; ++i) {
        text += arithmetic();
        if (below(40) == 0) {
          text += burst(below(2) == 0);
        }
      }
      text += cut();
    }
    return text + "  add.u32 %k, %k, 1;\n  setp.lt.u32 %p, %k, 3;\n" +
        "  @%p bra LOOP;\n" + fold() + kEnd;
  }

 private:
  int below(int count) {
    return static_cast<int>(random_() % static_cast<unsigned>(count));
  }

  /// Some accesses at one register, most of them as its lanes lie.
  std::string burst(bool is_load) {
    static constexpr int kNatural[] = {1, 2, 1, 4, 1, 1};
    const int base = below(6);
    const int count = below(5) == 0 ? 1 << below(3) : kNatural[base];
    std::string text;
    for (int accesses = 1 + below(5); accesses > 0; --accesses) {
      text += access(is_load, base, count);
    }
    return text;
  }

  std::string access(bool is_load, int base, int count) {
    const int offset = 4 * count * below(512 / (4 * count));
    std::string list;
    for (int i = 0; i < count; ++i) {
      list += (i == 0 ? "" : ", ") + real(below(kFloats));
    }
    const std::string form = count == 1 ? ".f32 "
        : count == 2                    ? ".v2.f32 "
                                        : ".v4.f32 ";
    const std::string place = "[%u" + number(base) + "+" + number(offset) + "]";
    const std::string values = count == 1 ? list : "{" + list + "}";
    const std::string what =
        (is_load ? "ld.shared" + form + values + ", " + place
                 : "st.shared" + form + place + ", " + values) +
        ";\n";
    return below(12) != 0
        ? "  " + what
        : "  setp.lt.u32 %q, %f, " + number(below(33)) + ";\n  @%q " + what;
  }

  /// Numbers get no larger than twice as large, mostly: what is infinite or no
  /// number says nothing of what it came from.
  std::string arithmetic() {
    static const char* const kSums[] = {"add.f32 ", "sub.f32 ", "add.rn.f32 "};
    const auto any = [&] { return ", " + real(below(kFloats)); };
    const std::string target = real(below(kFloats));
    const std::string part = ", %s" + number(below(2));
    switch (below(8)) {
      case 0:
      case 1:
        return "  " + (kSums[below(3)] + target) + any() + any() + ";\n";
      case 2:
        return "  mul.f32 " + target + any() + part + ";\n";
      case 3:
        return below(4) != 0
            ? ""
            : "  fma.rn.f32 " + target + any() + any() + any() + ";\n";
      default:
        return "  fma.rn.f32 " + target + any() + part + any() + ";\n";
    }
  }

  static std::string cut() {
    std::string text;
    for (int i = 0; i < kFloats; ++i) {
      const std::string one = real(i);
      text += "  min.f32 " + one + ", " + one + ", 0f447A0000;\n  max.f32 " +
          one + ", " + one + ", 0fC47A0000;\n";
    }
    return text;
  }

  std::mt19937 random_;
};

TEST(Unrolled, ArithmeticBetweenLoadsAndStores) {
  const unsigned first = fuzz_setting("CUDASIM_FUZZ_SEED", 1);
  const unsigned count = fuzz_setting("CUDASIM_FUZZ_KERNELS", 8);
  for (unsigned seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(seed);
    Programs programs(seed);
    constexpr unsigned kSizes[] = {64, 64, 48, 40}; // threads of the block
    compare(programs.next(), rising(3, 1), 5, kSizes[seed % 4]);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(Unrolled, LoadIsReadBeforeMemoryChanges) {
  std::string text = begin_with_tiles();
  text +=
      "  ld.shared.f32 %f0, [%u0];\n  ld.shared.f32 %f1, [%u0+128];\n"
      "  ld.shared.v2.f32 {%f2, %f2}, [%u1+256];\n"
      "  ld.shared.v2.f32 {%f3, %f4}, [%u1+264];\n"
      "  st.shared.f32 [%u0], %f1;\n  st.shared.f32 [%u0+128], %f0;\n"
      "  ld.shared.f32 %f5, [%u0];\n  ld.shared.f32 %f6, [%u0+128];\n"
      "  mov.f32 %f6, %f5;\n";
  compare(text + fold() + kEnd, rising(3, 1));
}

TEST(Unrolled, ConstantsAndWhatAllLanesHaveAlike) {
  std::string text = begin_with_tiles();
  text += "  mov.f32 %f0, 0f7F800000;\n  mov.f32 %f1, 0f00000000;\n";
  for (int i = 0; i < 40; ++i) {
    const std::string d = real(2 + i % 4);
    text += "  fma.rn.f32 " + d + ", %f0, %f1, %f1;\n  add.f32 %f7, %f7, " + d +
        ";\n";
  }
  for (int i = 0; i < 40; ++i) {
    text += "  ld.shared.f32 %f8, [%u4+" + number(4 * i) +
        "];\n  fma.rn.f32 %f9, %f8, %f8, %f1;\n";
  }
  for (int i = 0; i < 40; ++i) {
    text += "  add.f32 " + real(10 + i % 3) + ", %f9, %f8;\n";
  }
  // The bits of what is no number, too.
  text += "  mov.b32 %z, %f2;\n  xor.b32 %h, %h, %z;\n";
  compare(text + fold() + kEnd, rising(3, 1));
}

/// The report, too, and what was done before.
void compare_faults(
    const std::string& text,
    const std::vector<std::uint64_t>& input) {
  const Result plain = compare(text, input);
  const Result native = run(NativeMode::kAlways, text, input);
  const auto without_addresses = [](const std::string& report) {
    return report.substr(0, report.find("0x"));
  };
  EXPECT_EQ(
      without_addresses(native.outcome.report),
      without_addresses(plain.outcome.report));
  EXPECT_EQ(native.outcome.warp_instructions, plain.outcome.warp_instructions);
}

TEST(Unrolled, OneOfSeveralAccessesFaults) {
  // Each of them is the first that is beyond, once: in steps of an access, both
  // up and down.
  const auto body = [](const std::string& base,
                       const std::string& type,
                       const std::string& access,
                       int step) {
    return begin_with_tiles() +
        "  ld.param.u64 %b, [in];\n  mul.wide.u32 %y, %t, 4;\n"
        "  add.u64 %b, %b, %y;\n  add.u64 %b, %b, 128;\n"
        "  add.u32 %u0, %u0, 1024;\n  mov.u32 %k, 0;\nLOOP:\n  ld." +
        access + " %f0, [" + base +
        "+64];\n  st.global.u32 [%out], %k;\n  ld." + access + " %f1, [" +
        base + "+192];\n  ld." + access + " %f2, [" + base +
        "];\n  add.f32 %f3, %f0, %f1;\n  add." + type + " " + base + ", " +
        base + ", " + number(step) + ";\n  add.u32 %k, %k, 1;\n" +
        "  setp.lt.u32 %p, %k, 900;\n  @%p bra LOOP;\n" + fold() + kEnd;
  };
  for (const int step : {4, -4, 64, -64, 2, 100}) {
    SCOPED_TRACE(step);
    compare_faults(body("%u0", "u32", "shared.f32", step), rising(3, 1));
    compare_faults(body("%b", "u64", "global.f32", step), rising(3, 1));
    compare_faults(body("%b", "u64", "f32", step), rising(3, 1));
  }
}

TEST(Unrolled, StoresOfSomeLanes) {
  for (const std::string base : {"%u0", "%u4"}) {
    const std::string stores = "  st.shared.f32 [" + base +
        "], %f0;\n  st.shared.f32 [" + base + "+128], %f1;\n";
    const std::string loads = "  ld.shared.f32 %f3, [" + base +
        "];\n  ld.shared.f32 %f4, [" + base + "+128];\n";
    compare(
        begin_with_tiles() + "  setp.lt.u32 %p, %f, 5;\n  @!%p bra OUT;\n" +
            stores + "OUT:\n" + loads + fold() + kEnd,
        rising(3, 1));
    compare(
        begin_with_tiles() + stores + loads + fold() + kEnd,
        rising(3, 1),
        5,
        48);
  }
}

TEST(Unrolled, AddressesAtTheEndOfNumbers) {
  // Half of the lanes' addresses get positive where 64 is subtracted.
  compare_faults(
      begin_with_tiles() +
          "  shl.b32 %z, %f, 2;\n  cvt.u64.u32 %x, %z;\n"
          "  setp.lt.u32 %p, %f, 16;\n  mov.u64 %y, 0x7fffffffffffffc0;\n"
          "  add.u64 %y, %y, %x;\n  selp.b64 %b, %y, %x, %p;\n"
          "  ld.global.u64 %x, [%in];\n  and.b64 %x, %x, 0;\n"
          "  add.u64 %b, %b, %x;\n  ld.shared.f32 %f3, [%b+64];\n"
          "  ld.shared.f32 %f4, [%b];\n" +
          fold() + kEnd,
      rising(3, 1));
}

TEST(Unrolled, ManyRegistersToMemoryThatIsInNoAllocation) {
  // Each of them could end a region, as no allocation has what they lead to.
  std::string text = begin_with_tiles() +
      "  .reg .b64 %m<40>;\n  cvt.u64.u32 %x, %u0;\n"
      "  cvta.shared.u64 %y, %x;\n  mov.u32 %k, 0;\nLOOP:\n";
  for (int i = 0; i < 40; ++i) {
    const std::string base = "%m" + number(i);
    text += "  add.u64 " + base + ", %y, " + number(4 * i) + ";\n  ld.f32 " +
        real(i % 20) + ", [" + base + "];\n  ld.f32 " + real((i + 1) % 20) +
        ", [" + base + "+4];\n";
  }
  const std::uint64_t before = native_regions();
  compare(
      text +
          "  add.u32 %k, %k, 1;\n  setp.lt.u32 %p, %k, 300;\n"
          "  @%p bra LOOP;\n" +
          fold() + kEnd,
      rising(3, 1));
  EXPECT_LT(native_regions() - before, 30u);
}

TEST(Unrolled, SeveralAllocationsThanWarpsRemember) {
  // Through generic addresses, too: of shared memory, where no allocation is.
  std::string text = begin_with_tiles();
  text +=
      "  mov.u64 %y, tiles;\n  cvta.shared.u64 %y, %y;\n"
      "  mul.wide.u32 %b, %t, 4;\n  add.u64 %y, %y, %b;\n"
      "  mov.u32 %k, 0;\nLOOP:\n";
  for (int i = 0; i < 4; ++i) {
    const std::string offset = number(256 * i);
    text += "  ld.f32 " + real(i) + ", [%y+" + offset + "];\n  ld.global.f32 " +
        real(4 + i) + ", [%in+" + number(4 * i) + "];\n  st.f32 [%y+" + offset +
        "], " + real(4 + i) + ";\n";
  }
  compare(
      text +
          "  add.u32 %k, %k, 1;\n  setp.lt.u32 %p, %k, 5;\n  @%p bra LOOP;\n" +
          fold() + kEnd,
      rising(3, 0x3f8000003f800001));
}

TEST(Unrolled, RoundsThatAreLeft) {
  // As nvcc computes them: (~i + n) >> 5, whose lowest bits say how many rounds
  // come before those of four.
  for (const std::uint32_t n :
       {1u, 31u, 32u, 33u, 64u, 95u, 96u, 97u, 127u, 128u, 500u, 0xffffffffu}) {
    SCOPED_TRACE(n);
    std::string text = kBegin;
    for (const int shift : {3, 5, 6, 31}) {
      for (const char* const type : {"u32", "s32"}) {
        text += "  not.b32 %z, %t;\n  add.u32 %z, %z, %n;\n  shr." +
            std::string(type) + " %z, %z, " + number(shift) +
            ";\n  mul.lo.u32 %h, %h, 31;\n  add.u32 %h, %h, %z;\n"
            "  add.u32 %z, %z, 1;\n  and.b32 %z, %z, 3;\n"
            "  xor.b32 %h, %h, %z;\n";
      }
    }
    text +=
        "  not.b32 %z, %t;\n  add.u32 %z, %z, %n;\n  shr.u32 %z, %z, 5;\n"
        "  and.b32 %z, %z, 7;\n  mov.u32 %k, 0;\nLOOP:\n"
        "  add.u32 %h, %h, %e;\n  add.u32 %k, %k, 1;\n"
        "  setp.le.u32 %p, %k, %z;\n  @%p bra LOOP;\n";
    compare(text + kEnd, rising(3, 5), n);
  }
}

} // namespace
} // namespace cudasim::engine::testing

// Regions as a whole: what only certain programs, inputs or faults show.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/engine/testing/native_regions.h"
#include "cudasim/engine/testing/test_device.h"
#include "cudasim/engine/translation/regions.h"
#include "cudasim/native/background.h"

namespace cudasim::engine::testing {
namespace {

TEST(Regions, BranchByManyValues) {
  // LLVM makes a table of such branches.
  std::string text = kBegin + "mov.u32 %k, 0;\nLOOP:\nadd.u32 %z, %k, %n;\n";
  for (int i = 0; i < 12; ++i) {
    const std::string number = std::to_string(i);
    text +=
        "setp.eq.u32 %p, %z, " + number + ";\n@%p bra CASE" + number + ";\n";
  }
  text += "add.u32 %h, %h, %t;\nbra NEXT;\n";
  for (int i = 0; i < 12; ++i) {
    const std::string number = std::to_string(i);
    text += "CASE" + number + ":\nmad.lo.u32 %h, %h, " +
        std::to_string(2 * i * i + 3) + ", %e;\nbra NEXT;\n";
  }
  text += "NEXT:\nadd.u32 %k, %k, 1;\nsetp.lt.u32 %p, %k, 14;\n@%p bra LOOP;\n";
  compare(text + kEnd, rising(3, 1), 0);
  compare(text + kEnd, rising(3, 5), 1);
}

TEST(Regions, LoopWhoseHeadIsInterpretedEndsItsTurn) {
  // Warp 0 waits for warp 1; its loop begins with what the interpreter
  // executes.
  const std::string text = kBegin + R"(
    mov.u32 %z, -1;
    setp.lt.u32 %q, %t, 32;
    @!%q bra SET;
    HEAD:
    vote.sync.any.pred %r, %q, %z;
    ld.volatile.shared.u32 %k, [flag];
    setp.eq.u32 %p, %k, 5;
    @%p bra DONE;
    bra NEXT;
    NEXT:
    add.u32 %h, %h, 0;
    bra HEAD;
    SET:
    st.volatile.shared.u32 [flag], 5;
    DONE:
    mov.u32 %h, 1;)" +
      kEnd;
  const Result native = run(NativeMode::kAlways, text, rising(0, 1));
  EXPECT_EQ(native.outcome.fault, FaultKind::kNone) << native.outcome.report;
}

TEST(Regions, LongLoopEndsItsTurn) {
  std::string text = kBegin + R"(
    setp.lt.u32 %q, %t, 32;
    @!%q bra SET;
    HEAD:
    ld.volatile.shared.u32 %k, [flag];
    setp.eq.u32 %p, %k, 5;
    @%p bra DONE;
)";
  for (int i = 0; i < 1300; ++i) {
    text += i % 200 == 0
        ? "bra N" + std::to_string(i) + ";\nN" + std::to_string(i) + ":\n"
        : "add.u32 %h, %h, %e;\n";
  }
  text += R"(
    bra HEAD;
    SET:
    st.volatile.shared.u32 [flag], 5;
    DONE:
    mov.u32 %h, 1;)" +
      kEnd;
  const Result native = run(NativeMode::kAlways, text, rising(0, 1));
  EXPECT_EQ(native.outcome.fault, FaultKind::kNone) << native.outcome.report;
}

TEST(Regions, LongBlockGoesOnInAnotherRegion) {
  std::string text = kBegin;
  for (int i = 0; i < 1500; ++i) {
    text += "add.u32 %h, %h, %e;\nxor.b32 %h, %h, %t;\n";
  }
  compare(text + kEnd, rising(3, 1));
}

TEST(Regions, MuchTextIsSeveralRegions) {
  // LLVM would take seconds for all of it at once.
  const auto mixes = [](int count) {
    std::string text;
    for (int i = 0; i < count; i += 4) {
      text +=
          "mad.lo.s64 %a, %a, %b, %x;\nst.volatile.global.u64 [%in], %a;\n"
          "rem.u64 %b, %a, %y;\nselp.b64 %x, %a, %b, %r;\n";
    }
    return text;
  };
  std::string text = kBegin +
      "mov.u64 %b, %a;\nadd.u64 %y, %a, 977;\nand.b32 %f, %t, 7;\n"
      "setp.lt.u32 %r, %f, 3;\nmov.u32 %k, 0;\nLOOP:\n" +
      mixes(252);
  for (int i = 0; i < 3; ++i) {
    const std::string id = std::to_string(i);
    text += "setp.gt.u64 %p, %a, %b;\n@%p bra PAST" + id +
        ";\nsetp.lt.u64 %q, %x, %b;\n@%q bra OTHER" + id + ";\n" + mixes(60) +
        "OTHER" + id + ":\n" + mixes(60) + "PAST" + id + ":\n";
  }
  text +=
      "cvt.u32.u64 %z, %b;\nadd.u32 %h, %h, %z;\nadd.u32 %k, %k, 1;\n"
      "setp.lt.u32 %p, %k, 3;\n@%p bra LOOP;\n";
  compare(text + kEnd, rising(3, 1234567));
}

TEST(Regions, ZerosOfNeighbouringRegisters) {
  // LLVM would like to write them to the frame by a call of memset().
  std::string text =
      kBegin + ".reg .b64 %zero<8>, %wide;\n" + "mul.wide.u32 %wide, %e, %e;\n";
  std::string uses;
  for (int i = 0; i < 8; ++i) {
    const std::string zero = "%zero" + std::to_string(i);
    text += "sub.u64 " + zero + ", %wide, %wide;\n";
    uses += "add.u64 %wide, %wide, " + zero + ";\n";
  }
  text += "bar.sync 0;\n" + uses + "cvt.u32.u64 %h, %wide;\n";
  compare(text + kEnd, rising(3, 1));
}

TEST(Regions, PredicatesThatAreConstants) {
  for (const std::string code :
       {"mov.pred %p, 1;", "and.pred %p, %q, 0;", "or.pred %p, 1, %q;"}) {
    compare(
        kBegin + "setp.lt.u32 %q, %t, 40;\n" + code +
            "\nselp.b32 %h, %e, 4, %p;\nselp.b32 %z, 5, 6, 1;\n"
            "add.u32 %h, %h, %z;\n" +
            kEnd,
        rising(0, 3));
  }
}

TEST(Regions, StrideTimesLanesWrapsAround) {
  // 31 of each are little, modulo 2^64. What was loaded is seen to rise from
  // lane to lane where a region begins behind it.
  for (const std::uint64_t stride :
       {0x2108421084210843ull,
        0x1084210842108421ull,
        0x0842108421084211ull,
        0xef7bdef7bdef7bdfull}) {
    for (const std::string shift : {"shr.u64", "shr.s64"}) {
      compare(
          kBegin + "bar.sync 0;\n" + shift +
              " %b, %a, 20;\ncvt.u32.u64 %h, %b;\n" + kEnd,
          rising(0, stride));
    }
  }
}

/// A loop of each lane's own length, long enough for "auto".
std::string long_loop() {
  return kBegin + R"(
    mul.lo.u32 %z, %n, 1000;
    mov.u32 %k, 0;
    LOOP:
    mad.lo.u32 %h, %h, 3, %k;
    xor.b32 %h, %h, %t;
    add.u32 %h, %h, %e;
    shl.b32 %f, %h, 3;
    add.u32 %h, %h, %f;
    xor.b32 %h, %h, 77;
    add.u32 %h, %h, 5;
    sub.u32 %h, %h, %k;
    mad.lo.u32 %h, %h, 5, %t;
    xor.b32 %h, %h, %e;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %z;
    @%p bra LOOP;)" +
      kEnd;
}

TEST(Regions, AreMadeInTheBackgroundWhileTheKernelRuns) {
  const std::string text = long_loop();
  const Result plain = run(NativeMode::kOff, text, rising(3, 7), 300);
  const std::uint64_t before = native_regions();
  set_native_mode(NativeMode::kAuto);
  {
    TestDevice device;
    device.load(text);
    auto* in = device.copy_of(rising(3, 7));
    auto* out = device.zeros<std::uint64_t>(kThreads);
    Shape shape;
    shape.block = {kThreads, 1, 1};
    for (int launch = 0; launch < 3; ++launch) {
      const Outcome outcome = device.run("kernel", shape, out, in, 300);
      EXPECT_EQ(outcome.fault, FaultKind::kNone) << outcome.report;
      EXPECT_EQ(outcome.warp_instructions, plain.outcome.warp_instructions);
      EXPECT_EQ(std::vector<std::uint64_t>(out, out + kThreads), plain.words);
      native::Background::instance().wait();
    }
    EXPECT_GT(native_regions(), before);
  }
  set_native_mode(NativeMode::kOff);
}

TEST(Regions, HaveOtherCodeForRegistersThatTheFirstRefuses) {
  // Behind the call all lanes have the same %z, but in one of eight rounds.
  const std::string text = ".func nothing() {\n  ret;\n}\n" + kBegin + R"(
    .reg .b32 %i;
    mov.u32 %i, 0;
    LOOP:
    and.b32 %f, %i, 7;
    setp.eq.u32 %p, %f, 3;
    mul.lo.u32 %z, %t, %t;
    xor.b32 %z, %z, %e;
    selp.b32 %z, %z, 5, %p;
    call nothing, ();
    mad.lo.u32 %h, %h, 5, %z;
    xor.b32 %h, %h, %i;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra LOOP;)" +
      kEnd;
  const auto regions_of = [&text](std::uint32_t rounds) {
    const std::uint64_t before = native_regions();
    compare(text, rising(3, 7), rounds);
    return native_regions() - before;
  };
  const std::uint64_t first = regions_of(100);
  EXPECT_EQ(regions_of(600), first + 1);
}

TEST(Regions, ModuleIsUnloadedWhileCodeIsMade) {
  const std::string text = long_loop();
  const Result plain = run(NativeMode::kOff, text, rising(3, 7), 70);
  for (int round = 0; round < 5; ++round) {
    const Result native = run(NativeMode::kAuto, text, rising(3, 7), 70);
    EXPECT_EQ(native.words, plain.words);
  }
}

TEST(Regions, LanesThatPartAtABranchAreCountedAlike) {
  for (const std::string body :
       {"add.u32 %h, %h, %e;\nDONE:\nadd.u32 %h, %h, 1;\n",
        "add.u32 %h, %h, %e;\nst.global.u64 [%out], %a;\nDONE:\nret;\n",
        "ld.global.u32 %h, [%in+8];\nst.global.u32 [%out], %h;\n"
        "DONE:\nexit;\n"}) {
    for (const std::string lanes : {"0", "7", "20", "32", "40", "64"}) {
      compare(
          kBegin + "setp.lt.u32 %p, %t, " + lanes + ";\n@!%p bra DONE;\n" +
              body + kEnd,
          rising(8, 4));
    }
  }
}

TEST(Regions, AddressesOfRowsAreSeenWhenTheyAreUsed) {
  // What is loaded says where to load and store: one behind the other in each
  // row of 16 lanes, or not.
  const std::string text = kBegin + R"(
    mov.u32 %k, 0;
    LOOP:
    and.b64 %b, %a, 252;
    add.u64 %y, %b, %in;
    sub.u64 %y, %y, %x;
    ld.global.u32 %f, [%y];
    add.u32 %h, %h, %f;
    cvt.u32.u64 %z, %b;
    st.shared.u32 [%z], %h;
    ld.shared.u32 %f, [%z];
    ld.shared.u8 %n, [%z+1];
    mad.lo.u32 %h, %f, 3, %n;
    add.u64 %a, %a, 64;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, 3;
    @%p bra LOOP;)" +
      kEnd;
  std::string whole = text;
  const std::string flag = ".shared .align 8 .b32 flag;";
  whole.replace(
      whole.find(flag), flag.size(), ".shared .align 8 .b8 tile[512];");
  const auto rows = [](std::uint64_t stride, std::uint64_t row) {
    std::vector<std::uint64_t> words;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      words.push_back(stride * (i % 16) + row * (i / 16));
    }
    return words;
  };
  for (const std::uint64_t row : {0u, 4u, 64u, 68u, 128u, 192u}) {
    compare(whole, rows(4, row));
    compare(whole, rows(8, row));
    compare(whole, rows(0, row));
  }
  compare(whole, rising(12, 36));
}

TEST(Regions, GuardedFaultIsCountedAlike) {
  compare(
      kBegin +
          "bar.sync 0;\nsetp.lt.u32 %q, %t, 7;\n@%q ld.global.u32 %h, [%a];\n" +
          kEnd,
      rising(8, 4));
}

TEST(Regions, InstructionThatWritesItsGuardIsCountedByTheOldOne) {
  compare(
      kBegin +
          "setp.lt.u32 %q, %t, 7;\nsetp.lt.u32 %p, %t, 9;\n"
          "@%q setp.gt.u32 %q, %t, 3;\n@%p mov.pred %p, %q;\n"
          "selp.b32 %h, 3, 4, %p;\n" +
          kEnd,
      rising(0, 4));
}

} // namespace
} // namespace cudasim::engine::testing

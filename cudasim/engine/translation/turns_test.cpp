// The turns of a block's warps that execute native code one after the other
// (launch/native_turns.h), and where they are left to the interpreter.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cudasim/engine/testing/native_regions.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;

/// A kernel(out, log, n): each thread of each block has a word of `out`. Warps
/// write when they come where into `log`, whose first word counts them.
const std::string kHead = R"(
.visible .func (.param .b32 result) twice(.param .b32 a) {
  .reg .b32 %a;
  ld.param.b32 %a, [a];
  add.u32 %a, %a, %a;
  st.param.b32 [result], %a;
  ret;
}
.visible .entry kernel(.param .u64 out, .param .u64 log, .param .u32 n) {
  .reg .b64 %out, %log, %x, %y;
  .reg .b32 %t, %n, %w, %lane, %b, %at, %h, %k, %f;
  .reg .pred %first, %p, %q;
  .shared .align 8 .b32 tile[1024];
  ld.param.u64 %out, [out];
  ld.param.u64 %log, [log];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mov.u32 %k, %ntid.x;
  mad.lo.u32 %k, %b, %k, %t;
  mul.wide.u32 %x, %k, 4;
  add.u64 %out, %out, %x;
  shr.u32 %w, %t, 5;
  and.b32 %lane, %t, 31;
  setp.eq.u32 %first, %lane, 0;
  mov.u32 %h, %t;
)";
const std::string kTail = R"(
  st.global.u32 [%out], %h;
  ret;
}
)";

/// Notes that a warp is at a place.
std::string log(int place) {
  return "mov.u32 %at, 0;\n@%first atom.global.add.u32 %at, [%log], 1;\n"
         "mad.lo.u32 %f, %w, 1000, " +
      std::to_string(place) +
      ";\nmul.wide.u32 %y, %at, 4;\nadd.u64 %y, %log, %y;\n"
      "@%first st.global.u32 [%y+4], %f;\n";
}

std::string loop(const std::string& id, const std::string& rounds) {
  return "mov.u32 %k, 0;\nLOOP" + id +
      ":\nadd.u32 %h, %h, %k;\nadd.u32 %k, %k, 1;\nsetp.lt.u32 %p, %k, " +
      rounds + ";\n@%p bra LOOP" + id + ";\n";
}

/// Numbers go to the thread that mirrors a thread in its block.
const std::string kExchange = R"(
  mov.u32 %f, tile;
  mad.lo.u32 %k, %t, 4, %f;
  st.shared.u32 [%k], %h;
  bar.sync 0;
  mov.u32 %k, %ntid.x;
  sub.u32 %k, %k, %t;
  mad.lo.u32 %k, %k, 4, %f;
  ld.shared.u32 %k, [%k+-4];
  mad.lo.u32 %h, %h, 3, %k;
  bar.sync 0;
)";

/// Native code hopes that the shift has one result for all lanes.
const std::string kLeaves =
    "add.u32 %k, %t, 5;\nshr.u32 %k, %k, 5;\nadd.u32 %h, %h, %k;\n";

const std::string kCalls =
    "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %h;\n"
    "call (r), twice, (a);\nld.param.b32 %h, [r];\n}\n";

struct Grid {
  Outcome outcome;
  std::vector<U32> words;
  std::vector<U32> log;
};

std::vector<Grid> run_grids(
    NativeMode mode,
    int times,
    const std::string& text,
    unsigned threads,
    U32 n,
    bool cooperative = false,
    double seconds = 10) {
  constexpr unsigned kBlocks = 3;
  constexpr std::size_t kLog = 1000;
  set_native_mode(mode);
  std::vector<Grid> grids;
  TestDevice device;
  device.load(text);
  for (int i = 0; i < times; ++i) {
    auto* out = device.zeros<U32>(kBlocks * threads);
    auto* log = device.zeros<U32>(kLog);
    Shape shape;
    shape.grid = {kBlocks, 1, 1};
    shape.block = {threads, 1, 1};
    shape.timeout_seconds = seconds;
    shape.cooperative = cooperative;
    Grid grid;
    grid.outcome = device.run("kernel", shape, out, log, n);
    grid.words.assign(out, out + kBlocks * threads);
    grid.log.assign(log, log + kLog);
    grids.push_back(std::move(grid));
  }
  set_native_mode(NativeMode::kOff);
  return grids;
}

/// What a report says of the thread and of the instruction.
std::string who(const std::string& report) {
  const auto at = report.find("    at ");
  const auto end = report.find("\n", report.find("by thread"));
  return at == std::string::npos ? "" : report.substr(at, end - at);
}

/// Both modes must do the same, in the same order.
/// @returns the fault.
FaultKind compare_grids(
    const std::string& body,
    unsigned threads,
    U32 n,
    bool cooperative = false) {
  const std::string text = kHead + body + kTail;
  const Grid plain =
      run_grids(NativeMode::kOff, 1, text, threads, n, cooperative)[0];
  const std::uint64_t before = native_regions();
  for (const Grid& native :
       run_grids(NativeMode::kAlways, 3, text, threads, n, cooperative)) {
    EXPECT_EQ(native.outcome.fault, plain.outcome.fault)
        << body << native.outcome.report;
    EXPECT_EQ(who(native.outcome.report), who(plain.outcome.report));
    EXPECT_EQ(native.outcome.warp_instructions, plain.outcome.warp_instructions)
        << body;
    EXPECT_EQ(
        native.outcome.thread_instructions, plain.outcome.thread_instructions)
        << body;
    EXPECT_EQ(native.words, plain.words) << body;
    EXPECT_EQ(native.log, plain.log) << body;
  }
  EXPECT_GT(native_regions(), before) << body;
  return plain.outcome.fault;
}

void expect_same(const std::string& body, U32 n = 0) {
  // One warp, several, and one that has few lanes.
  for (const unsigned threads : {32u, 64u, 128u, 144u}) {
    EXPECT_EQ(compare_grids(body, threads, n), FaultKind::kNone);
  }
}

TEST(NativeTurns, ToTheEndOrToBarriers) {
  expect_same(log(1));
  expect_same(log(1) + kExchange + log(2));
  expect_same(
      log(1) + kExchange + log(2) + kExchange + log(3) + "bar.sync 0;\n" +
      log(4) + "bar.sync 0;\nbar.sync 0;\n" + log(5));
  // In a loop.
  expect_same(
      "mov.u32 %b, 0;\nAGAIN:\n" + log(1) + kExchange + log(2) +
      "add.u32 %b, %b, 1;\nsetp.lt.u32 %q, %b, 9;\n@%q bra AGAIN;\n");
}

TEST(NativeTurns, AtOtherBarriers) {
  expect_same(log(1) + "bar.sync 3;\n" + log(2) + kExchange + log(3));
  expect_same(
      log(1) + "setp.gt.u32 %p, %t, 9;\nbar.red.or.pred %q, 0, %p;\n" +
      "selp.u32 %f, 5, 9, %q;\nadd.u32 %h, %h, %f;\n" + log(2) + kExchange);
  // Some arrive, and do not wait.
  expect_same(
      log(1) +
      "mov.u32 %f, %ntid.x;\nadd.u32 %f, %f, 31;\nand.b32 %f, %f, -32;\n"
      "setp.ge.u32 %p, %t, 32;\n@%p bra MORE;\nbar.arrive 0, %f;\n" +
      log(2) + "bra.uni DONE;\nMORE:\nbar.sync 0, %f;\n" + log(3) + "DONE:\n");
  // The same, and it exits before others come there.
  expect_same(
      log(1) + "setp.eq.u32 %p, %w, 0;\n@%p bra ARRIVES;\nbar.sync 0;\n" +
      log(2) + "bar.sync 0;\n" + log(3) +
      "bra.uni STAYS;\nARRIVES:\nbar.arrive 0, 64;\nret;\nSTAYS:\n");
}

TEST(NativeTurns, WhereSomeWarpsExitEarly) {
  for (const U32 which : {0u, 1u, 3u}) {
    expect_same(
        log(1) + "setp.eq.u32 %p, %w, %n;\n@%p bra LEAVES;\nbar.sync 0;\n" +
            log(2) + "bar.sync 0;\n" + log(3) + "bra.uni STAYS;\nLEAVES:\n" +
            log(4) + "st.global.u32 [%out], %w;\nret;\nSTAYS:\n",
        which);
  }
}

/// Straight code of so many instructions.
std::string straight(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "mad.lo.u32 %h, %h, 3, %t;\n";
  }
  return text;
}

TEST(NativeTurns, BeginWhereAPauseElsewhereIsOver) {
  // Warps go on behind a barrier and come to another one, where their region
  // ends. One has left native code, so that all go on by themselves: in a
  // region that has barriers, too, and begins at its begin.
  const std::string barriers = "mad.lo.u32 %h, %h, 5, 1;\nbar.sync 0;\n";
  for (const U32 which : {0u, 1u, 3u}) {
    for (const std::string& before :
         {std::string("bar.sync 0;\n"), kExchange}) {
      expect_same(
          before + "setp.ne.u32 %p, %w, %n;\n@%p bra PAST;\n" + kLeaves +
              "PAST:\n" + straight(150) + "bar.sync 0;\n" + straight(100) +
              barriers + barriers + barriers + kExchange,
          which);
    }
  }
}

TEST(NativeTurns, OfManyInstructions) {
  // Longer than a warp's turn, in one warp or in all.
  for (const U32 rounds : {3000u, 30000u}) {
    const std::string some =
        "setp.eq.u32 %q, %w, 1;\nselp.u32 %b, %n, 2, %q;\n";
    expect_same(log(1) + loop("A", "%n") + log(2), rounds);
    expect_same(log(1) + some + loop("A", "%b") + log(2), rounds);
    expect_same(
        log(1) + kExchange + some + loop("A", "%b") + log(2) + kExchange +
            log(3) + loop("B", "%b") + log(4) + kExchange + log(5),
        rounds);
  }
  // The interpreter, to which warps are left in between, has the rest of a
  // turn, and not a turn of its own: others come before the end of B.
  expect_same(
      log(1) + "setp.eq.u32 %q, %w, 0;\n@!%q bra PAST;\n" + loop("A", "1500") +
      kLeaves + loop("B", "1000") + "PAST:\n" + log(2));
}

TEST(NativeTurns, WhereLanesPart) {
  for (const U32 which : {0u, 3u}) {
    const std::string parts =
        "setp.eq.u32 %p, %w, %n;\nsetp.lt.and.u32 %p, %lane, 9, %p;\n";
    // They exit there, meet again, or call a function.
    const std::string exits = parts + "@%p bra LEAVES;\n" + log(2) +
        "bra.uni STAYS;\nLEAVES:\n" + log(3) +
        "st.global.u32 [%out], %w;\nret;\nSTAYS:\n";
    const std::string calls =
        parts + "@%p bra PAST;\n" + kCalls + "PAST:\n" + log(4);
    // Native code is left by those of one side alone.
    const std::string leaves = parts + "@%p bra PAST;\n" + kLeaves + "PAST:\n";
    expect_same(log(1) + kExchange + leaves + log(2) + kExchange, which);
    for (const std::string& body : {exits, calls}) {
      expect_same(log(1) + body, which);
      expect_same(log(1) + kExchange + body + log(5), which);
      expect_same(log(1) + body + kExchange + log(6) + kExchange, which);
    }
  }
}

TEST(NativeTurns, CountTheTurnOfLanesThatPartLater) {
  // Behind a long loop those that come first still have time for a short one.
  const auto side = [](const std::string& id, int place) {
    return "mov.u32 %k, 0;\nROUND" + id + ":\nadd.u32 %k, %k, 1;\n" + kCalls +
        "setp.lt.u32 %p, %k, 100;\n@%p bra ROUND" + id + ";\n" + log(place);
  };
  expect_same(
      log(1) + loop("A", "1500") + kCalls +
      "setp.lt.u32 %q, %lane, 9;\n@%q bra SOME;\n"
      "setp.eq.u32 %first, %lane, 9;\n" +
      side("A", 2) + "bra.uni MET;\nSOME:\n" + side("B", 3) + "MET:\n");
}

TEST(NativeTurns, EndWhereTheBlocksTurnDoes) {
  // Up to the barrier it was nearly as much as a block may do in a turn.
  EXPECT_EQ(
      compare_grids(
          log(1) + loop("A", "980") + "bar.sync 0;\nbar.sync 3;\n" + log(2) +
              "bar.sync 0;\n" + loop("B", "980") + log(3) + "bar.sync 0;\n" +
              log(4),
          128,
          0,
          true),
      FaultKind::kNone);
}

TEST(NativeTurns, TellOfExitsBeforeOneRunsByItself) {
  // Else the barrier would end the turn of the other one, and so the block's
  // before its last loop does.
  EXPECT_EQ(
      compare_grids(
          log(1) + "setp.eq.u32 %p, %w, 0;\n@%p bra LEAVES;\n" +
              loop("A", "1500") + kCalls + "bar.sync 0;\n" + loop("B", "4350") +
              log(2) + "LEAVES:\n",
          64,
          0,
          true),
      FaultKind::kNone);
}

TEST(NativeTurns, LeaveABlockThatSpins) {
  // The first warp has exited, the second waits for the last block.
  EXPECT_EQ(
      compare_grids(
          "setp.eq.u32 %p, %w, 0;\n@%p bra LEAVES;\n"
          "ld.global.u32 %k, [%log+2000];\nadd.u32 %h, %h, %k;\n"
          "st.global.u32 [%out], %h;\n"
          "setp.eq.u32 %p, %b, 2;\n"
          "@%p st.volatile.global.u32 [%log+2000], 7;\n"
          "setp.ne.u32 %p, %b, 0;\n@%p bra STAYS;\n"
          "WAITS:\nnanosleep.u32 20;\n"
          "ld.volatile.global.u32 %k, [%log+2000];\n"
          "setp.ne.u32 %p, %k, 7;\n@%p bra WAITS;\nbra.uni STAYS;\n"
          "LEAVES:\nret;\nSTAYS:\n" +
              log(1),
          64,
          0),
      FaultKind::kNone);
}

TEST(NativeTurns, WhereOthersLoadBeforeOneStores) {
  const std::string count =
      "ld.global.u32 %k, [%log+3000];\n"
      "add.u32 %k, %k, 1;\n"
      "st.global.u32 [%log+3000], %k;\n"
      "add.u32 %h, %h, %k;\n";
  expect_same(count);
  expect_same(log(1) + count + log(2) + count);
  expect_same(count + log(1) + kExchange + count + log(2) + kExchange + count);
  // A region that begins with such a store, in the middle of a loop, and is
  // left behind a barrier, from where on others are to load first again.
  expect_same(
      "mov.u32 %b, 0;\nAGAIN:\nadd.u32 %b, %b, 1;\n" + count +
      "setp.lt.u32 %q, %b, 3;\n@%q bra AGAIN;\nbar.sync 0;\n" + kCalls +
      log(1) + count + log(2));
}

TEST(NativeTurns, WhereOneFaults) {
  for (const U32 which : {0u, 2u, 3u}) {
    const std::string faults =
        "setp.eq.u32 %p, %w, %n;\nsetp.eq.and.u32 %p, %lane, 5, %p;\nselp.u64 %x, 8, %out, %p;\n"
        "ld.global.u32 %k, [%x];\n";
    const std::string traps = "setp.eq.u32 %p, %w, %n;\n@%p trap;\n";
    for (const std::string& fault : {faults, traps}) {
      for (const std::string& body :
           {log(1) + fault + log(2),
            log(1) + kExchange + log(2) + fault + kExchange}) {
        EXPECT_NE(compare_grids(body, 128, which), FaultKind::kNone);
      }
    }
  }
}

/// Memory that is freed while a kernel runs, when it first touches other
/// memory.
class FreeingDevice : public TestDevice {
 public:
  void free_when_touched(const void* memory, const void* other) {
    memory_ = reinterpret_cast<std::uint64_t>(memory);
    other_ = reinterpret_cast<std::uint64_t>(other);
    is_freed_ = false;
  }
  bool find(std::uint64_t address, Range* range) const override {
    if (!TestDevice::find(address, range)) {
      return false;
    }
    if (range->begin == other_ && !is_freed_) {
      touched_();
    }
    return range->begin != memory_ || !is_freed_;
  }

 private:
  std::uint64_t memory_ = 0;
  std::uint64_t other_ = 0;
  bool is_freed_ = false;
  /// The kernel may not change the device; whoever frees memory does.
  std::function<void()> touched_ = [this] {
    is_freed_ = true;
    generation_.fetch_add(1);
  };
};

TEST(NativeTurns, ForgetWhatWasFreed) {
  // The first warp has touched it, and frees it; the second comes later.
  const std::string text = kHead +
      "mul.wide.u32 %y, %t, 4;\nadd.u64 %y, %log, %y;\n"
      "ld.global.u32 %k, [%y];\nadd.u32 %h, %h, %k;\n" +
      kTail;
  std::vector<std::string> reports;
  for (const NativeMode mode : {NativeMode::kOff, NativeMode::kAlways}) {
    set_native_mode(mode);
    FreeingDevice device;
    device.load(text);
    Shape shape;
    shape.block = {64, 1, 1};
    for (int i = 0; i < 2; ++i) {
      auto* out = device.zeros<U32>(64);
      auto* log = device.zeros<U32>(64);
      device.free_when_touched(log, out);
      const Outcome outcome = device.run("kernel", shape, out, log, U32{0});
      EXPECT_EQ(outcome.fault, FaultKind::kIllegalAddress);
      reports.push_back(who(outcome.report));
    }
  }
  set_native_mode(NativeMode::kOff);
  EXPECT_NE(reports[0].find("by thread (32,"), std::string::npos) << reports[0];
  EXPECT_EQ(reports, std::vector<std::string>(4, reports[0]));
}

TEST(NativeTurns, EndWithTheLaunch) {
  const std::string text =
      kHead + "AGAIN:\nbar.sync 0;\nbra.uni AGAIN;\n" + kTail;
  for (const Grid& grid :
       run_grids(NativeMode::kAlways, 2, text, 64, 0, false, 0.2)) {
    EXPECT_EQ(grid.outcome.fault, FaultKind::kLaunchTimeout);
  }
}

} // namespace
} // namespace cudasim::engine::testing

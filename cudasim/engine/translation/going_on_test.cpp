// Where a region goes on although lanes part, or the warp waits for others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "cudasim/engine/testing/native_regions.h"

namespace cudasim::engine::testing {
namespace {

/// Values of all kinds are needed on both sides of barriers.
const std::string kAround = R"(
  .reg .b32 %m, %o, %s;
  .reg .b64 %d;
  .shared .align 8 .b32 tile[64];
  mad.lo.u32 %k, %t, 12, %n;
  add.u32 %z, %n, 3;
  setp.lt.u32 %p, %e, 40;
  setp.eq.u32 %q, %n, 5;
  xor.b32 %f, %e, %t;
  mov.u32 %m, tile;
  mad.lo.u32 %m, %t, 4, %m;
  mov.u32 %o, tile;
  sub.u32 %s, 63, %t;
  mad.lo.u32 %o, %s, 4, %o;
  mul.wide.u32 %d, %t, 16;
)";
const std::string kTogether = R"(
  add.u32 %h, %h, %s;
  mad.lo.u32 %h, %k, 3, %h;
  mad.lo.u32 %h, %z, 5, %h;
  mad.lo.u32 %h, %f, 7, %h;
  @%p add.u32 %h, %h, 1;
  @%q add.u32 %h, %h, 2;
  cvt.u32.u64 %s, %d;
  mad.lo.u32 %h, %s, 9, %h;
)";

TEST(RegionsGoOn, BehindBarriers) {
  const std::string exchange = R"(
    st.shared.b32 [%m], %f;
    bar.sync 0;
    ld.shared.b32 %s, [%o];
    bar.sync 0;
    xor.b32 %f, %f, %s;
  )";
  const std::string several =
      "bar.sync 0;\nbar.sync 0;\nbar.sync 1, 64;\n"
      "bar.sync %n, 64;\nbar.sync %z;\n";
  for (const std::string& middle :
       {exchange,
        several,
        exchange + several + exchange,
        // A loop around barriers, and one that begins behind one.
        "mov.u32 %t, 0;\nLOOP:\n" + exchange +
            "add.u32 %k, %k, 1;\nadd.u32 %t, %t, 1;\n"
            "setp.lt.u32 %r, %t, 5;\n@%r bra LOOP;\n",
        std::string("bar.sync 0;\nLOOP:\nadd.u32 %k, %k, %f;\n"
                    "add.u32 %z, %z, 1;\nsetp.lt.u32 %r, %z, 20;\n"
                    "@%r bra LOOP;\n"),
        // One that meets the barrier in some rounds only.
        "mov.u32 %t, 0;\nLOOP:\nand.b32 %s, %t, 1;\nsetp.eq.u32 %r, %s, 0;\n"
        "@%r bra PAST;\n" +
            exchange +
            "PAST:\nadd.u32 %k, %k, %f;\nadd.u32 %t, %t, 1;\n"
            "setp.lt.u32 %r, %t, 6;\n@%r bra LOOP;\n"}) {
    for (const std::uint64_t stride : {0, 1, 5}) {
      const std::string text =
          kBegin + kAround + middle + "mov.u32 %s, %k;\n" + kTogether + kEnd;
      const Result plain = compare(text, rising(3, stride));
      EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    }
  }
}

/// Code that some lanes execute, and code that others do.
TEST(RegionsGoOn, WhereLanesPart) {
  const char* const sides[] = {
      "add.u32 %h, %h, %f;\nmul.lo.u32 %k, %k, 3;\n",
      "xor.b32 %f, %f, %h;\n@%q add.u32 %h, %h, 5;\n"
      "setp.gt.s32 %p, %f, %h;\n",
      "ld.global.u32 %f, [%in];\nmad.lo.u32 %h, %f, 3, %t;\n"
      "add.u64 %d, %d, 4;\n",
      "st.shared.b32 [%m], %h;\nld.shared.b32 %f, [%m];\nadd.u32 %h, %f, %k;\n"
      "rem.u32 %z, %h, 7;\n",
      // Handlers; and a table that lies anywhere.
      "cvt.rn.f32.u32 %h, %h;\nsin.approx.f32 %h, %h;\n"
      "cvt.rzi.s32.f32 %h, %h;\nlg2.approx.f32 %f, %z;\n",
      "and.b32 %h, %e, 63;\nmad.lo.u32 %h, %h, 4, %m;\n"
      "sub.u32 %h, %h, %s;\nand.b32 %h, %h, 252;\nadd.u32 %h, %h, 0;\n"};
  const std::string conditions[] = {
      "setp.lt.u32 %p, %e, 40;\n",
      "setp.eq.u32 %p, %t, 33;\n",
      "setp.ge.u32 %p, %t, 0;\n",
      "setp.lt.u32 %p, %t, 32;\n"};
  const auto triangle = [](const std::string& id,
                           const std::string& guard,
                           const std::string& side) {
    return guard + "bra END" + id + ";\n" + side + "END" + id + ":\n";
  };
  const auto diamond = [](const std::string& id,
                          const std::string& guard,
                          const std::string& side,
                          const std::string& other) {
    return guard + "bra ELSE" + id + ";\n" + side + "bra END" + id + ";\nELSE" +
        id + ":\n" + other + "END" + id + ":\n";
  };
  for (const std::string& condition : conditions) {
    for (const std::string guard : {"@%p ", "@!%p "}) {
      std::string code;
      int id = 0;
      const auto next = [&] { return std::to_string(++id); };
      for (const std::string side : sides) {
        const std::string& other = sides[(id * 5 + 1) % 6];
        code += condition + triangle(next(), guard, side);
        code += condition + diamond(next(), guard, side, other);
        // One within each side, with a condition of its own.
        const std::string inner =
            "and.b32 %s, %h, 1;\nsetp.eq.u32 %r, %s, 0;\n";
        code += condition +
            diamond(next(),
                    guard,
                    other + inner + triangle(next(), "@%r ", side) + side,
                    inner + diamond(next(), "@!%r ", other, side));
        // All of them with the same end.
        const std::string end = next();
        code += condition + guard + "bra END" + end + ";\n" + inner +
            "@%r bra END" + end + ";\n" + side + "END" + end + ":\n";
      }
      const Result plain = compare(
          kBegin + kAround + "st.shared.b32 [%m], %t;\n" + code +
              "mov.u32 %s, %k;\n" + kTogether + kEnd,
          rising(3, 5));
      EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    }
  }
}

TEST(RegionsGoOn, UnlessASideFaultsOrIsLeft) {
  for (const std::string side :
       {"sub.u64 %in, %in, 4096;\nld.global.u32 %h, [%in];\n",
        "mov.u32 %m, 4096;\nst.shared.b32 [%m], %h;\n",
        // Not as hoped: a number of warps, and an index that wraps around.
        "add.u32 %k, %t, 5;\nshr.u32 %k, %k, 5;\n",
        "sub.u32 %k, 20, %t;\nmul.wide.u32 %d, %k, 4;\n",
        "st.shared.b32 [%m], %h;\nadd.u32 %k, %t, 5;\nshr.u32 %k, %k, 5;\n"}) {
    for (const std::string condition :
         {"setp.lt.u32 %p, %e, 40;\n", "setp.lt.u32 %p, %t, 32;\n"}) {
      compare(
          kBegin + kAround + condition + "@%p bra ELSE;\n" + side +
              "bra END;\nELSE:\nadd.u32 %h, %h, 3;\n" + side + "END:\n" +
              kTogether + kEnd,
          rising(3, 5));
    }
  }
}

/// Loops that each lane leaves when it is done.
TEST(RegionsGoOn, WhereLanesLeaveLoops) {
  const char* const bodies[] = {
      "add.u32 %h, %h, %f;\nmad.lo.u32 %f, %f, 3, %t;\n",
      "and.b32 %s, %h, 63;\nmad.lo.u32 %s, %s, 4, %c;\n"
      "ld.shared.b32 %s, [%s];\nxor.b32 %h, %h, %s;\nadd.u32 %h, %h, %i;\n",
      "ld.global.u32 %s, [%in];\n@%q add.u32 %h, %h, %s;\n"
      "add.u32 %z, %z, 1;\nsetp.gt.s32 %p, %z, %h;\n",
      "and.b32 %s, %i, 1;\nsetp.eq.u32 %r, %s, 0;\n@%r bra PART$;\n"
      "add.u32 %h, %h, 5;\nbra MET$;\nPART$:\nmul.lo.u32 %h, %h, 3;\nMET$:\n",
      // Handlers; and what is left where it is not as hoped.
      "cvt.rn.f32.u32 %s, %h;\nsin.approx.f32 %s, %s;\n"
      "cvt.rzi.s32.f32 %s, %s;\nadd.u32 %h, %h, %s;\n",
      "add.u32 %s, %t, %i;\nshr.u32 %s, %s, 5;\nadd.u32 %h, %h, %s;\n",
      // Stores: the interpreter executes such a loop.
      "st.shared.b32 [%m], %h;\nld.shared.b32 %f, [%m];\nadd.u32 %h, %f, %k;\n"};
  // How often a lane goes round, as a word of the input: one text for all. Some
  // leave at once, and one late.
  std::vector<std::vector<std::uint64_t>> inputs(4, rising(3, 5));
  for (int lane = 0; lane < kThreads; ++lane) {
    const bool is_late = lane == 33;
    const int counts[] = {
        (3 + 5 * lane) & 7,
        std::min(lane - 30, 5),
        is_late ? 9000 : 2,
        is_late ? 300 : 299};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].push_back(static_cast<std::uint32_t>(counts[i]));
    }
  }
  int id = 0;
  const auto loop = [&id](
                        const std::string& body,
                        const std::string& counter,
                        const std::string& most) {
    const std::string number = std::to_string(++id);
    std::string text = "mov.u32 " + counter + ", 0;\nLOOP$:\n" + body +
        "add.u32 " + counter + ", " + counter + ", 1;\nsetp.lt.s32 %w, " +
        counter + ", " + most + ";\n@%w bra LOOP$;\n";
    for (std::size_t at = text.find('$'); at != std::string::npos;
         at = text.find('$', at)) {
      text.replace(at, 1, number);
    }
    return text;
  };
  const auto compare_codes = [](const std::string& count,
                                const std::string& code,
                                const std::vector<std::uint64_t>& input) {
    const Result plain = compare(
        kBegin + kAround +
            ".reg .b32 %i, %j, %l, %c;\n.reg .pred %w;\nmov.u32 %c, tile;\n"
            "mov.u32 %j, 1;\nst.shared.b32 [%m], %t;\nbar.sync 0;\n" +
            count + code + "mov.u32 %s, %k;\n" + kTogether + kEnd,
        input);
    EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
  };
  for (std::size_t b = 0; b < std::size(bodies); ++b) {
    const std::string body = bodies[b];
    const std::string once = loop(body, "%i", "%o");
    const std::string twice =
        loop("and.b32 %l, %i, 3;\n" + loop(body, "%j", "%l"), "%i", "%o");
    const std::string skipped =
        "setp.lt.s32 %w, %o, 1;\n@%w bra PAST;\n" + once + "PAST:\n";
    const std::string codes[] = {once, twice, skipped, once + twice};
    // Half of them each: they take LLVM a while.
    for (std::size_t n = 0; n < 4; ++n) {
      for (std::size_t i = (b + n) % 2; i < inputs.size(); i += 2) {
        compare_codes("ld.global.u32 %o, [%in+512];\n", codes[n], inputs[i]);
      }
      if ((b + n) % 2 == 0) {
        compare_codes("mov.u32 %o, 4;\n", codes[n], inputs[0]);
      }
    }
  }
}

/// nvcc's code branches to one side, and behind the branch over it to the
/// other.
TEST(RegionsGoOn, WhereLanesPartAsNvccHasIt) {
  const auto both = [](const std::string& id,
                       const std::string& guard,
                       const std::string& side,
                       const std::string& other) {
    return guard + "bra THEN" + id + ";\nbra.uni ELSE" + id + ";\nTHEN" + id +
        ":\n" + side + "bra.uni END" + id + ";\nELSE" + id + ":\n" + other +
        "END" + id + ":\n";
  };
  const auto loop = [](const std::string& id, const std::string& body) {
    return "mov.u32 %o, 0;\nLOOP" + id + ":\n" + body +
        "add.u32 %o, %o, 1;\nsetp.lt.u32 %r, %o, %l;\n@%r bra LOOP" + id +
        ";\n";
  };
  const std::string adds = "add.u32 %h, %h, %f;\nmul.lo.u32 %k, %k, 3;\n";
  const std::string atomics =
      "atom.shared.add.u32 %f, [%m], %h;\nred.shared.xor.b32 [tile], %t;\n"
      "add.u32 %h, %h, %f;\n";
  // Divisions whose operands are not as native code hopes, with stores before.
  const std::string stores =
      "st.shared.b32 [%m], %k;\nrem.u32 %z, %t, %z;\nadd.u32 %h, %h, %z;\n"
      "st.shared.b32 [%m], %h;\nld.shared.b32 %k, [%m];\nadd.u32 %z, %n, 2;\n";
  const std::string sides[] = {
      adds,
      atomics,
      stores,
      both("A", "@%q ", stores, adds),
      loop("A", adds),
      loop("A", stores),
      both("A", "@%q ", loop("A", atomics), loop("B", stores))};
  for (const std::string& side : sides) {
    for (const std::string& other : {adds, stores}) {
      for (const bool swapped : {false, true}) {
        const Result plain = compare(
            kBegin + kAround + ".reg .b32 %l;\nand.b32 %l, %e, 7;\n" +
                "st.shared.b32 [%m], %t;\nsetp.lt.u32 %q, %e, 20;\n" +
                both(
                    "X",
                    swapped ? "@!%p " : "@%p ",
                    swapped ? other : side,
                    swapped ? side : other) +
                "bar.sync 0;\nld.shared.b32 %s, [%m];\n" + kTogether + kEnd,
            rising(3, 5));
        EXPECT_EQ(plain.outcome.fault, FaultKind::kNone)
            << plain.outcome.report;
      }
    }
  }
}

/// A side that ends with a branch back is part of a loop, and no side.
TEST(RegionsGoOn, WhereALoopIsLeftAtItsBegin) {
  compare(
      kBegin + kAround +
          "mov.u32 %o, 0;\nand.b32 %s, %t, 7;\nLOOP:\n"
          "setp.ge.u32 %r, %o, %s;\n@%r bra OUT;\nadd.u32 %o, %o, 1;\n"
          "bra LOOP;\nOUT:\nadd.u32 %h, %h, %o;\n" +
          kTogether + kEnd,
      rising(3, 5));
}

/// A store of different numbers to one place, by none of the lanes.
TEST(RegionsGoOn, PastAStoreThatNoLaneExecutes) {
  for (const std::string space : {"global", "shared"}) {
    const std::string place = space == "global" ? "[%one]" : "[flag]";
    compare(
        kBegin +
            ".reg .b64 %one;\n.reg .b32 %c;\nld.param.u64 %one, [out];\n"
            "st.global.u32 [%one], %n;\nmov.u32 %c, 0;\nLOOP:\n"
            "setp.ne.u32 %q, %t, 333;\n@%q bra PAST;\nst." +
            space + ".u32 " + place +
            ", %t;\nPAST:\nadd.u32 %h, %h, %t;\nadd.u32 %c, %c, 1;\n"
            "setp.lt.u32 %r, %c, 9;\n@%r bra LOOP;\n" +
            kEnd,
        rising(3, 5));
  }
}

TEST(RegionsGoOn, UntilARoundFaults) {
  // Some lanes have left the loop, and one goes too far: beyond all memory.
  for (const char* const step : {"1099511627776", "-1099511627776"}) {
    compare(
        kBegin + kAround + "mov.u32 %o, 0;\nLOOP:\nld.global.u32 %s, [%in];\n" +
            "add.u32 %h, %h, %s;\nadd.s64 %in, %in, " + step +
            ";\nadd.u32 %o, %o, 1;\nsetp.lt.u32 %r, %o, %t;\n@%r bra LOOP;\n" +
            kTogether + kEnd,
        rising(3, 5));
  }
}

TEST(RegionsGoOn, WhereLanesWaitForOthers) {
  // Lane 0 leaves the loop at once, and sets the flag behind it that the others
  // wait for: of their own warp, and of the other one.
  for (const char* const load : {"ld.shared.b32", "ld.volatile.shared.b32"}) {
    const Result plain = compare(
        kBegin +
            "st.shared.b32 [flag], 0;\nbar.sync 0;\nsetp.ne.u32 %q, %t, 0;\n" +
            "LOOP:\n" + load +
            " %f, [flag];\nsetp.eq.u32 %p, %f, 0;\nand.pred %p, %p, %q;\n"
            "@%p bra LOOP;\nst.shared.b32 [flag], 1;\nadd.u32 %h, %h, %f;\n" +
            kEnd,
        rising(3, 5));
    EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
  }
}

/// A loop without branches that is a region of its own: the code before it, and
/// a branch within a side, only lead to it.
TEST(RegionsGoOn, AroundALongLoop) {
  std::string body;
  for (int i = 0; i < 60; ++i) {
    body +=
        "mad.lo.u32 %h, %h, 5, %k;\nxor.b32 %k, %k, %h;\n"
        "add.u32 %k, %k, %t;\n";
  }
  const std::string loop = "mov.u32 %o, 0;\nLOOP:\n" + body +
      "add.u32 %o, %o, 1;\nsetp.lt.u32 %r, %o, 5;\n@%r bra LOOP;\n";
  for (const std::string& code : {loop, "@%p bra PAST;\n" + loop + "PAST:\n"}) {
    const Result plain = compare(
        kBegin + kAround + code + "mov.u32 %s, %k;\n" + kTogether + kEnd,
        rising(3, 5));
    EXPECT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
  }
}

TEST(RegionsGoOn, BehindManyBarriers) {
  // More than a region has.
  std::string text = kBegin + kAround;
  for (int i = 0; i < 300; ++i) {
    text += "bar.sync 0;\n";
  }
  compare(text + "mov.u32 %s, %k;\n" + kTogether + kEnd, rising(3, 5));
}

TEST(RegionsGoOn, UntilTheyFault) {
  compare(
      kBegin + kAround +
          "bar.sync 0;\nsub.u64 %in, %in, 4096;\nld.global.b32 %f, [%in];\n" +
          kTogether + kEnd,
      rising(3, 1));
}

TEST(RegionsGoOn, WhenOthersHaveLoaded) {
  // All load one number, and thread 0 overwrites it without a barrier between.
  const std::string round = R"(
    ld.global.u64 %b, [%first];
    add.u64 %b, %b, %y;
    st.global.u64 [%out], %b;
  )";
  const std::string begin = kBegin + R"(
    .reg .b64 %first;
    st.global.u64 [%out], %a;
    bar.sync 0;
    ld.param.u64 %first, [out];
    cvt.u64.u32 %y, %t;
    add.u64 %y, %y, 1;
  )";
  const auto input = rising(100, 7);
  for (const std::string& rounds :
       {round,
        "mov.u32 %k, 0;\nLOOP:\n" + round +
            "bar.sync 0;\nadd.u32 %k, %k, 1;\nsetp.lt.u32 %p, %k, 3;\n"
            "@%p bra LOOP;\n",
        "mov.u32 %k, 0;\nbar.sync 0;\nLOOP:\n" + round +
            "add.u32 %k, %k, 1;\nsetp.lt.u32 %p, %k, 1;\n@%p bra LOOP;\n"}) {
    const std::uint64_t earlier =
        rounds.find("LOOP:") < rounds.find("bar.sync") && rounds != round ? 2
                                                                          : 0;
    const Result plain = compare(begin + rounds + "ret;\n}\n", input);
    ASSERT_EQ(plain.outcome.fault, FaultKind::kNone) << plain.outcome.report;
    EXPECT_EQ(plain.words, rising(101 + earlier, 1)) << rounds;
  }
}

} // namespace
} // namespace cudasim::engine::testing

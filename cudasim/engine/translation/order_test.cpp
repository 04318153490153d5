// Which lanes and warps go first, in native code and in the interpreter.
#include <gtest/gtest.h>

#include <string>

#include "cudasim/engine/testing/native_regions.h"

namespace cudasim::engine::testing {
namespace {

/// What splits of a warp do first, and when they give way to others, is as the
/// interpreter has it.
TEST(RegionsInOrder, WhereSplitsGiveWay) {
  const auto loop = [](const std::string& id,
                       int rounds,
                       const std::string& body) {
    return "setp.eq.u32 %q, %t, 9;\nselp.b32 %z, " + std::to_string(rounds) +
        ", 2, %q;\nmov.u32 %f, 0;\nLOOP" + id + ":\n" + body +
        "add.u32 %f, %f, 1;\nsetp.lt.u32 %r, %f, %z;\n@%r bra LOOP" + id +
        ";\n";
  };
  // Lanes that have waited for long enough go on without the others.
  for (const int rounds : {1300, 1366, 5000, 5460, 5600, 6000, 6500, 7000}) {
    for (const int more : {2, 4700, 5100}) {
      compare(
          kBegin + loop("A", rounds, "") + "activemask.b32 %e;\n" +
              "add.u32 %h, %h, %e;\n" +
              loop("B", more, "st.global.u32 [%out], %f;\n") + kEnd,
          rising(3, 5));
    }
  }
  // Loops that store, within sides, beyond what a split may execute at once.
  const std::string storing = "st.global.u32 [%out], %f;\nadd.u32 %h, %h, 3;\n";
  for (const int rounds : {2, 600, 1400, 3000}) {
    compare(
        kBegin + "mov.u32 %k, 0;\nst.global.u32 [%out], %k;\n" +
            "setp.lt.u32 %p, %t, 16;\n@%p bra TAKEN;\nbra.uni OTHER;\n"
            "TAKEN:\n" +
            loop("A", rounds, storing) + "bra.uni MET;\nOTHER:\n" +
            loop("B", rounds + 700, storing) +
            "MET:\nactivemask.b32 %e;\nadd.u32 %h, %h, %e;\n" + kEnd,
        rising(3, 5));
  }
  // Each side faults in its own way.
  const std::string invalid = "mov.u64 %x, 8;\nld.global.u32 %k, [%x];\n";
  const std::string misaligned =
      "add.u64 %x, %out, 2;\nld.global.u32 %k, [%x];\n";
  const std::string diamond =
      "setp.lt.u32 %r, %t, 8;\n@%r bra INNER;\nadd.u32 %k, %k, 1;\n"
      "bra MET;\nINNER:\nadd.u32 %k, %k, 4;\nMET:\n";
  for (const std::string& first :
       {std::string(), diamond, loop("A", 3, ""), loop("A", 3000, "")}) {
    for (const std::string& second :
         {std::string(), diamond, loop("B", 3, ""), loop("B", 3000, "")}) {
      if (first == diamond && second == diamond) {
        continue; // the same labels
      }
      for (const bool swapped : {false, true}) {
        compare(
            kBegin +
                "mov.u32 %k, 0;\nsetp.lt.u32 %p, %t, 16;\n@%p bra TAKEN;\n" +
                first + (swapped ? misaligned : invalid) +
                "bra END;\nTAKEN:\n" + second +
                (swapped ? invalid : misaligned) + "END:\n" + kEnd,
            rising(3, 5));
      }
    }
  }
}

/// Which lanes go first does not depend on whether some met in native code, and
/// neither does where a warp gives way to the other one. Stores to one place
/// tell.
TEST(RegionsInOrder, WhereLanesMeet) {
  const std::string begin = kBegin + R"(
    .reg .b32 %l, %c;
    .reg .b64 %one;
    .reg .pred %s, %w;
    ld.param.u64 %one, [out];
    add.u64 %one, %one, 504;
    st.global.u32 [%one], %n;
    and.b32 %l, %t, 31;
    setp.lt.u32 %p, %l, 16;
    setp.lt.u32 %q, %l, 8;
    setp.lt.u32 %s, %l, 4;
    mov.u32 %c, 0;
  )";
  const std::string end = R"(
    ld.global.u32 %e, [%one];
    bar.sync 0;
    mad.lo.u32 %h, %h, 7, %e;
  )" + kEnd;
  for (const char* const rounds : {"3", "500", "1000", "6000"}) {
    const std::string loop = "LOOP:\nadd.u32 %c, %c, 1;\nsetp.lt.u32 %w, %c, " +
        std::string(rounds) + ";\n@%w bra LOOP;\n";
    compare(
        begin +
            "@%p bra A;\nst.global.u32 [%one], 1;\nbra M;\nA:\n@%q bra B;\n"
            "st.global.u32 [%one], 2;\nbra N;\nB:\n@%s bra C;\n"
            "add.u32 %h, %h, 5;\nC:\n" +
            loop + "st.global.u32 [%one], 3;\nN:\nadd.u32 %h, %h, 1;\nM:\n" +
            end,
        rising(3, 5));
    // Two warps; lanes meet in each round.
    compare(
        begin +
            "LOOP:\n@%p bra MET;\nadd.u32 %h, %h, 3;\nMET:\n"
            "ld.global.u32 %e, [%one];\nmad.lo.u32 %h, %h, 3, %e;\n"
            "st.global.u32 [%one], %t;\nadd.u32 %c, %c, 1;\n"
            "setp.lt.u32 %w, %c, " +
            std::string(rounds) + ";\n@%w bra LOOP;\n" + end,
        rising(3, 5));
  }
}

} // namespace
} // namespace cudasim::engine::testing

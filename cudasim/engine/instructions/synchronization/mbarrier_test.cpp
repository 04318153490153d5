// Barriers in shared memory: what arrivals and waits see of phases.
#include <string>
#include <vector>

#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;

class Mbarrier : public KernelTest {
 protected:
  /// Runs code with a barrier at address %rd1, which is one of shared memory or
  /// generic; the code has "@" where the space is written.
  std::vector<U32> run(
      bool is_shared,
      std::string code,
      const Shape& shape = {}) {
    const std::string space = is_shared ? ".shared" : "";
    for (std::size_t at = 0; (at = code.find('@', at)) != std::string::npos;) {
      const bool is_guard =
          code.compare(at, 2, "@%") == 0 || code.compare(at, 2, "@!") == 0;
      if (is_guard) {
        ++at;
      } else {
        code.replace(at, 1, space);
      }
    }
    return words_of(
        std::string("mov.u64 %rd1, object;\n") +
            (is_shared ? "" : "cvta.shared.u64 %rd1, %rd1;\n") + code,
        shape,
        ".shared .align 8 .b64 object;\n.shared .align 4 .b32 count;\n");
  }
  void record(bool is_shared, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      record_checked(name + (is_shared ? ".shared" : "") + ".b64");
    }
  }
};

Shape threads(U32 count) {
  Shape shape;
  shape.block.x = count;
  return shape;
}

TEST_F(Mbarrier, APhaseIsOverWhenAllHaveArrived) {
  for (const bool is_shared : {true, false}) {
    const auto words =
        run(is_shared,
            R"(
    mbarrier.init@.b64 [%rd1], 3;
    mbarrier.arrive@.b64 %rd2, [%rd1];
    mbarrier.test_wait@.b64 %p0, [%rd1], %rd2;
    mbarrier.arrive.noComplete@.b64 %rd3, [%rd1], 1;
    mbarrier.test_wait.parity@.b64 %p1, [%rd1], 0;
    mbarrier.test_wait.parity@.b64 %p2, [%rd1], 1;
    mbarrier.arrive@.b64 _, [%rd1];
    mbarrier.test_wait@.b64 %p3, [%rd1], %rd2;
    mbarrier.try_wait@.b64 %p4, [%rd1], %rd3;
    mbarrier.test_wait.parity@.b64 %p5, [%rd1], 0;
    mbarrier.try_wait.parity@.b64 %p6, [%rd1], 1;
    mbarrier.pending_count.b64 %r5, %rd2;
    mbarrier.pending_count.b64 %r6, %rd3;
    mbarrier.arrive@.b64 %rd4, [%rd1];
    mbarrier.pending_count.b64 %r7, %rd4;
    mbarrier.test_wait@.b64 %p7, [%rd1], %rd4;
    selp.u32 %r4, 1, 0, %p0;
    @%p1 or.b32 %r4, %r4, 2;
    @%p2 or.b32 %r4, %r4, 4;
    @%p3 or.b32 %r4, %r4, 8;
    @%p4 or.b32 %r4, %r4, 16;
    @%p5 or.b32 %r4, %r4, 32;
    @%p6 or.b32 %r4, %r4, 64;
    @%p7 or.b32 %r4, %r4, 128;
    shl.b32 %r5, %r5, 8;
    or.b32 %r4, %r4, %r5;
    shl.b32 %r6, %r6, 12;
    or.b32 %r4, %r4, %r6;
    shl.b32 %r7, %r7, 16;
    or.b32 %r4, %r4, %r7;
    mbarrier.inval@.b64 [%rd1];
    st.global.u32 [%out], %r4;)",
            threads(1));
    // Three, two and again three were waited for before the arrivals.
    EXPECT_EQ(words[0], 0x323u << 8 | 4 | 8 | 16 | 32);
    record(
        is_shared,
        {"mbarrier.init",
         "mbarrier.inval",
         "mbarrier.arrive",
         "mbarrier.arrive.noComplete",
         "mbarrier.test_wait",
         "mbarrier.test_wait.parity",
         "mbarrier.try_wait",
         "mbarrier.try_wait.parity"});
  }
  record_checked("mbarrier.pending_count.b64");
}

TEST_F(Mbarrier, WhoDropsOutIsNotWaitedForAgain) {
  for (const bool is_shared : {true, false}) {
    const auto words =
        run(is_shared,
            R"(
    mbarrier.init@.b64 [%rd1], 4;
    mbarrier.arrive_drop@.b64 %rd2, [%rd1];
    mbarrier.arrive_drop.noComplete@.b64 %rd3, [%rd1], 2;
    mbarrier.arrive@.b64 %rd4, [%rd1];
    mbarrier.arrive@.b64 %rd5, [%rd1];
    mbarrier.test_wait@.b64 %p0, [%rd1], %rd5;
    mbarrier.pending_count.b64 %r4, %rd5;
    @%p0 or.b32 %r4, %r4, 16;
    st.global.u32 [%out], %r4;)",
            threads(1));
    EXPECT_EQ(words[0], 16u | 1u);
    record(
        is_shared, {"mbarrier.arrive_drop", "mbarrier.arrive_drop.noComplete"});
  }
}

TEST_F(Mbarrier, ArrivalsAfterCopiesCountOnlyWhenTheyAreAsked) {
  for (const bool is_shared : {true, false}) {
    const auto words =
        run(is_shared,
            R"(
    mbarrier.init@.b64 [%rd1], 3;
    cp.async.mbarrier.arrive@.b64 [%rd1];
    cp.async.mbarrier.arrive.noinc@.b64 [%rd1];
    mbarrier.arrive@.b64 %rd2, [%rd1];
    mbarrier.pending_count.b64 %r4, %rd2;
    st.global.u32 [%out], %r4;)",
            threads(1));
    EXPECT_EQ(words[0], 2u);
    record(
        is_shared,
        {"cp.async.mbarrier.arrive", "cp.async.mbarrier.arrive.noinc"});
  }
}

TEST_F(Mbarrier, APhaseWaitsForItsBytes) {
  for (const bool is_shared : {true, false}) {
    // One arrival that expects 48 bytes, 16 of which have come before.
    const auto words =
        run(is_shared,
            R"(
    mbarrier.init@.b64 [%rd1], 1;
    mbarrier.complete_tx@.b64 [%rd1], 16;
    mbarrier.arrive.expect_tx@.b64 %rd2, [%rd1], 40;
    mbarrier.test_wait@.b64 %p0, [%rd1], %rd2;
    selp.u32 %r4, 1, 0, %p0;
    mbarrier.expect_tx@.b64 [%rd1], 8;
    mbarrier.complete_tx@.b64 [%rd1], 24;
    mbarrier.test_wait@.b64 %p0, [%rd1], %rd2;
    @%p0 or.b32 %r4, %r4, 2;
    mbarrier.complete_tx@.b64 [%rd1], 8;
    mbarrier.test_wait@.b64 %p0, [%rd1], %rd2;
    @%p0 or.b32 %r4, %r4, 4;
    mbarrier.arrive_drop.expect_tx@.b64 %rd3, [%rd1], 16;
    mbarrier.pending_count.b64 %r5, %rd3;
    shl.b32 %r5, %r5, 8;
    or.b32 %r4, %r4, %r5;
    mbarrier.test_wait@.b64 %p0, [%rd1], %rd3;
    @%p0 or.b32 %r4, %r4, 8;
    mbarrier.complete_tx@.b64 [%rd1], 16;
    mbarrier.test_wait@.b64 %p0, [%rd1], %rd3;
    @%p0 or.b32 %r4, %r4, 16;
    st.global.u32 [%out], %r4;)",
            threads(1));
    EXPECT_EQ(words[0], 0x100u | 4u | 16u);
    record(
        is_shared,
        {"mbarrier.arrive.expect_tx",
         "mbarrier.arrive_drop.expect_tx",
         "mbarrier.expect_tx",
         "mbarrier.complete_tx"});
  }
}

TEST_F(Mbarrier, ThreadsOfTwoWarpsWaitForEachOther) {
  const auto words =
      run(true,
          R"(
    setp.ne.u32 %p0, %t, 0;
    @%p0 bra READY;
    mbarrier.init.shared.b64 [%rd1], 64;
    st.shared.u32 [count], 0;
    READY:
    bar.sync 0;
    atom.shared.inc.u32 %r4, [count], 1000;
    mbarrier.arrive.shared.b64 %rd2, [%rd1];
    WAIT:
    mbarrier.test_wait.shared.b64 %p1, [%rd1], %rd2;
    @!%p1 bra WAIT;
    ld.shared.u32 %r5, [count];
    st.global.u32 [%out], %r5;)",
          threads(64));
  for (const U32 word : words) {
    EXPECT_EQ(word, 64u);
  }
}

} // namespace
} // namespace cudasim::engine::testing

// Loops in which lanes wait for others of their warp (CUDA programming guide,
// "Independent Thread Scheduling"), with branches and calls in them.
#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;

class Spinning : public KernelTest {
 protected:
  U32 value_of(const char* variable) {
    return *reinterpret_cast<const U32*>(
        device.module().symbol(variable)->address);
  }
};

const std::string kLock =
    ".global .align 4 .b32 lock;\n.global .align 4 .b32 count;\n"
    ".global .align 4 .b32 noise[2];\n";

/// With the lock: count += 1, and gives the lock back.
const std::string kCountAndUnlock = R"(
    mov.u64 %rd0, count;
    ld.volatile.global.u32 %r1, [%rd0];
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%rd0], %r1;
    membar.gl;
    mov.u64 %rd0, lock;
    atom.global.exch.b32 %r0, [%rd0], 0;)";

const std::string kFunctions = R"(
.func (.param .b32 result) try_lock() {
  .reg .b64 %place;
  .reg .b32 %old;
  mov.u64 %place, lock;
  atom.global.cas.b32 %old, [%place], 0, 1;
  st.param.b32 [result], %old;
  ret;
}
.func (.param .b32 result) look() {
  .reg .b64 %place;
  .reg .b32 %seen;
  mov.u64 %place, lock;
  ld.volatile.global.u32 %seen, [%place];
  st.param.b32 [result], %seen;
  ret;
}
)";

std::string call(const std::string& function) {
  return "{ .param .b32 answer;\ncall (answer), " + function +
      ";\nld.param.b32 %r0, [answer]; }\n";
}

TEST_F(Spinning, WithBranchesThatMeetAgainGetsALock) {
  words_of(
      R"(
    SPIN:
    mov.u64 %rd0, lock;
    atom.global.cas.b32 %r0, [%rd0], 0, 1;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra MINE;
    mov.u64 %rd0, noise;
    and.b32 %r1, %lane, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra EVEN;
    red.global.add.u32 [%rd0], 1;
    bra AGAIN;
    EVEN:
    red.global.add.u32 [%rd0+4], 1;
    AGAIN:
    bra SPIN;
    MINE:)" +
          kCountAndUnlock,
      {},
      kLock);
  EXPECT_EQ(value_of("count"), 32u);
}

TEST_F(Spinning, WithACallGetsALock) {
  words_of(
      "SPIN:\n" + call("try_lock") +
          "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra SPIN;\n" + kCountAndUnlock,
      {},
      kLock + kFunctions);
  EXPECT_EQ(value_of("count"), 32u);
}

TEST_F(Spinning, WithASynchronizationOfTheSpinningSeesAFlag) {
  words_of(
      R"(
    mov.u64 %rd0, lock;
    mov.u64 %rd1, noise;
    setp.lt.u32 %p0, %lane, 30;
    @%p0 bra MET;
    SPIN:
    ld.volatile.global.u32 %r0, [%rd0];
    setp.eq.u32 %p1, %r0, 1;
    @%p1 bra MET;
    setp.eq.u32 %p1, %lane, 30;
    @%p1 bra FIRST;
    red.global.add.u32 [%rd1], 1;
    bra AGAIN;
    FIRST:
    red.global.add.u32 [%rd1+4], 1;
    AGAIN:
    bar.warp.sync 0xc0000000;
    bra SPIN;
    MET:
    setp.eq.u32 %p1, %lane, 0;
    @%p1 st.volatile.global.u32 [%rd0], 1;)",
      {},
      kLock);
  EXPECT_EQ(value_of("lock"), 1u);
  EXPECT_GT(value_of("noise"), 0u);
}

TEST_F(Spinning, InTwoLoopsLeavesTheOthersTheirTurns) {
  const auto loop = [](const std::string& name) {
    return name + ":\n" + call("look") + "setp.ne.u32 %p0, %r0, 1;\n@%p0 bra " +
        name + ";\nbra MET;\n";
  };
  words_of(
      R"(
    setp.eq.u32 %p0, %lane, 31;
    @%p0 bra LAST;
    setp.eq.u32 %p0, %lane, 30;
    @%p0 bra LAST_BUT_ONE;
    mov.u32 %r1, 0;
    WORK:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 20000;
    @%p1 bra WORK;
    mov.u64 %rd0, lock;
    st.volatile.global.u32 [%rd0], 1;
    bra MET;
)" + loop("LAST") +
          loop("LAST_BUT_ONE") + "MET:",
      {},
      kLock + kFunctions);
  EXPECT_EQ(value_of("lock"), 1u);
}

} // namespace
} // namespace cudasim::engine::testing

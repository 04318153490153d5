// What the warps of a block load before any of them stores, as on a GPU, which
// issues all their loads before the first has its value. The programs race by
// the letter of CUDA, and yet people's depend on what they find.
#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

using U32 = std::uint32_t;

class FirstStores : public KernelTest {
 protected:
  /// The counter after a kernel of eight warps.
  U32 count_after(const std::string& code) {
    words_of(
        "mov.u64 %rd0, count;\n" + code,
        {{1, 1, 1}, {256, 1, 1}},
        ".global .align 4 .b32 count;\n.global .align 8 .b64 place;\n");
    return *reinterpret_cast<const U32*>(
        device.module().symbol("count")->address);
  }
};

const std::string kAddOne = R"(
    ld.global.u32 %r1, [%rd0];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd0], %r1;
)";

TEST_F(FirstStores, ComeAfterTheLoadsOfAllWarps) {
  EXPECT_EQ(count_after(kAddOne), 1u);
}

TEST_F(FirstStores, OfAGuardedStoreToo) {
  EXPECT_EQ(
      count_after(R"(
    setp.eq.u32 %p0, %lane, 0;
    ld.global.u32 %r1, [%rd0];
    add.u32 %r1, %r1, 1;
    @%p0 st.global.u32 [%rd0], %r1;)"),
      1u);
}

TEST_F(FirstStores, BehindABranchThatAllTake) {
  // As in a kernel that is several: each block takes one of them.
  EXPECT_EQ(
      count_after(
          R"(
    mov.u32 %r0, %ctaid.x;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra MINE;)" +
          kAddOne + kAddOne + "bra END;\nMINE:" + kAddOne + "END:"),
      1u);
}

TEST_F(FirstStores, BehindABranchThatSomeLanesTake) {
  for (const std::string lanes : {"1", "16", "31"}) {
    EXPECT_EQ(
        count_after(
            "setp.ge.u32 %p0, %lane, " + lanes + ";\n@%p0 bra END;" + kAddOne +
            "END:"),
        1u)
        << lanes;
  }
}

TEST_F(FirstStores, BehindALoopAndBehindABarrier) {
  EXPECT_EQ(
      count_after(
          R"(
    mov.u32 %r0, 0;
    LOOP:
    ld.global.u32 %r1, [%rd0];
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p0, %r0, 10;
    @%p0 bra LOOP;)" +
          kAddOne),
      1u);
  EXPECT_EQ(count_after(kAddOne + "bar.sync 0;" + kAddOne), 2u);
}

TEST_F(FirstStores, OfWhatALoadedAddressNames) {
  EXPECT_EQ(
      count_after(
          R"(
    mov.u64 %rd1, place;
    st.global.u64 [%rd1], %rd0;
    bar.sync 0;
    ld.global.u64 %rd0, [%rd1];)" +
          kAddOne),
      1u);
}

TEST_F(FirstStores, LetALoneWarpAndOneThatWaitsForAnotherGoOn) {
  // Warp 0 stores what the others wait for.
  EXPECT_EQ(
      count_after(
          R"(
    setp.lt.u32 %p0, %t, 32;
    @%p0 bra FIRST;
    SPIN:
    ld.global.u32 %r1, [%rd0];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra SPIN;
    bra END;
    FIRST:)" +
          kAddOne + "END:"),
      1u);
}

} // namespace
} // namespace cudasim::engine::testing

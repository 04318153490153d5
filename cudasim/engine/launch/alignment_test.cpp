// PTX's .align in generic addresses, of shared memory and of local frames.
#include "cudasim/engine/testing/kernel_test.h"

namespace cudasim::engine::testing {
namespace {

using Alignment = KernelTest;

TEST_F(Alignment, HoldsInGenericAddresses) {
  Shape shape;
  shape.grid.x = 2;
  shape.block.x = 64;
  // What is not zero of three addresses' lowest bits; small ones are between
  // the variables, so that offsets alone do not do.
  const auto words = words_of(
      R"(.shared .align 4 .b8 small[4];
      .shared .align 1024 .b8 tile[8];
      .local .align 8 .b8 before[8];
      .local .align 256 .b8 own[8];
      .reg .b64 %d<4>;
      mov.u64 %d0, tile; cvta.shared.u64 %d0, %d0; and.b64 %d0, %d0, 1023;
      mov.u64 %d1, own; cvta.local.u64 %d1, %d1; and.b64 %d1, %d1, 255;
      call (%d2), place, (); and.b64 %d2, %d2, 127;
      or.b64 %d0, %d0, %d1; or.b64 %d0, %d0, %d2;
      cvt.u32.u64 %r5, %d0;
      st.shared.u32 [small], %r5;
      st.local.u32 [before], %r5;
      st.global.u32 [%out], %r5;)",
      shape,
      R"(.func (.reg .b64 result) place() {
      .local .align 128 .b8 there[40];
      mov.u64 result, there;
      cvta.local.u64 result, result;
      ret;
      }
      )");
  EXPECT_EQ(words, std::vector<std::uint32_t>(128));
}

} // namespace
} // namespace cudasim::engine::testing

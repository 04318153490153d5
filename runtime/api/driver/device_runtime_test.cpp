// The functions that programs link from libcudadevrt: what is below cooperative
// groups.
#include <string>
#include <vector>

#include "runtime/api/driver/testing/context.h"

namespace accelerator::driver::testing {
namespace {

const std::string kHead = ".version 7.0\n.target sm_80\n.address_size 64\n";

/// A kernel over the functions of libcudadevrt. Each round a block writes its
/// number into its place, and all sum up the places behind a barrier. Of what
/// the kernel is told, its first thread gives back: status, size, rank.
const std::string kGridKernel = kHead + R"(
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);
.extern .func (.param .b32 r) cudaCGGetSize(
  .param .b64 t, .param .b64 g, .param .b64 h);
.extern .func (.param .b32 r) cudaCGGetRank(
  .param .b64 t, .param .b64 g, .param .b64 h);
.visible .entry rounds(.param .u64 places, .param .u64 sums, .param .u64 told)
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<20>;
  .local .align 4 .b32 number;
  ld.param.u64 %rd1, [places];
  ld.param.u64 %rd2, [sums];
  ld.param.u64 %rd3, [told];
  {
  .param .b32 scope;
  .param .b64 handle;
  st.param.b32 [scope], 1;
  call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
  ld.param.b64 %rd4, [handle];
  }
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd5, %r1, 4;
  add.u64 %rd6, %rd1, %rd5;
  add.u64 %rd7, %rd2, %rd5;
  mov.u32 %r4, 0;
  mov.u32 %r5, 0;
ROUND:
  add.u32 %r6, %r1, %r4;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 st.global.u32 [%rd6], %r6;
  {
  .param .b64 handle;
  .param .b32 flags;
  .param .b32 status;
  st.param.b64 [handle], %rd4;
  st.param.b32 [flags], 0;
  call.uni (status), cudaCGSynchronize, (handle, flags);
  ld.param.b32 %r7, [status];
  }
  mov.u32 %r8, 0;
  mov.u64 %rd8, %rd1;
SUM:
  ld.volatile.global.u32 %r9, [%rd8];
  add.u32 %r5, %r5, %r9;
  add.u64 %rd8, %rd8, 4;
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p2, %r8, %r2;
  @%p2 bra SUM;
  {
  .param .b64 handle;
  .param .b32 flags;
  .param .b32 status;
  st.param.b64 [handle], %rd4;
  st.param.b32 [flags], 0;
  call.uni (status), cudaCGSynchronize, (handle, flags);
  ld.param.b32 %r7, [status];
  }
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p3, %r4, 5;
  @%p3 bra ROUND;
  @%p1 st.global.u32 [%rd7], %r5;
  @!%p1 bra END;
  st.global.u32 [%rd3], %r7;
  mov.u64 %rd9, number;
  cvta.local.u64 %rd10, %rd9;
  st.local.u32 [number], 0;
  {
  .param .b64 t;
  .param .b64 g;
  .param .b64 h;
  .param .b32 status;
  st.param.b64 [t], %rd10;
  st.param.b64 [g], 0;
  st.param.b64 [h], %rd4;
  call.uni (status), cudaCGGetSize, (t, g, h);
  }
  ld.local.u32 %r10, [number];
  st.global.u32 [%rd3+4], %r10;
  {
  .param .b64 t;
  .param .b64 g;
  .param .b64 h;
  .param .b32 status;
  st.param.b64 [t], %rd10;
  st.param.b64 [g], 0;
  st.param.b64 [h], %rd4;
  call.uni (status), cudaCGGetRank, (t, g, h);
  }
  ld.local.u32 %r10, [number];
  atom.global.max.u32 %r11, [%rd3+8], %r10;
END:
  ret;
}
)";

struct Rounds {
  std::vector<unsigned> sums; // by blocks
  std::vector<unsigned> told; // status, threads, the highest rank
};

Rounds run_rounds(CUmodule module, unsigned blocks, bool cooperative) {
  CUfunction kernel = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&kernel, module, "rounds"), CUDA_SUCCESS);
  const Array<unsigned> places(blocks), sums(blocks), told(3);
  CUdeviceptr addresses[] = {places.address(), sums.address(), told.address()};
  void* arguments[] = {&addresses[0], &addresses[1], &addresses[2]};
  EXPECT_EQ(
      cooperative
          ? cuLaunchCooperativeKernel(
                kernel, blocks, 1, 1, 40, 1, 1, 0, nullptr, arguments)
          : cuLaunchKernel(
                kernel, blocks, 1, 1, 40, 1, 1, 0, nullptr, arguments, nullptr),
      CUDA_SUCCESS);
  return {sums.values(), told.values()};
}

void expect_a_grid(CUmodule module, unsigned blocks) {
  const Rounds rounds = run_rounds(module, blocks, true);
  const unsigned all = 5 * (blocks * (blocks - 1) / 2) + 10 * blocks;
  EXPECT_EQ(rounds.sums, std::vector<unsigned>(blocks, all));
  EXPECT_EQ(
      rounds.told, (std::vector<unsigned>{0, blocks * 40, (blocks - 1) * 40}));
}

using GridKernel = ContextTest;

TEST_F(GridKernel, FindsTheFunctionsWhenItIsLinked) {
  std::string text = kGridKernel;
  CUlinkState state = nullptr;
  void* image = nullptr;
  std::size_t size = 0;
  CUmodule module = nullptr;
  ASSERT_EQ(cuLinkCreate(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  ASSERT_EQ(
      cuLinkAddData(
          state,
          CU_JIT_INPUT_PTX,
          text.data(),
          text.size() + 1,
          "kernel",
          0,
          nullptr,
          nullptr),
      CUDA_SUCCESS);
  ASSERT_EQ(cuLinkComplete(state, &image, &size), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);
  expect_a_grid(module, 70);
  expect_a_grid(module, 1);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(GridKernel, FindsThemWithoutALinker) {
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kGridKernel.c_str()), CUDA_SUCCESS);
  expect_a_grid(module, 33);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(GridKernel, HasNoGridWithoutACooperativeLaunch) {
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kGridKernel.c_str()), CUDA_SUCCESS);
  // cudaErrorInvalidValue; nothing is written.
  EXPECT_EQ(
      run_rounds(module, 3, false).told, (std::vector<unsigned>{1, 0, 0}));
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

} // namespace
} // namespace accelerator::driver::testing

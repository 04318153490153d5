#include "runtime/code/linker/device_runtime.h"

#include <algorithm>
#include <iterator>

namespace accelerator::linker {
namespace {

constexpr std::string_view kPrefixes[] = {"cudaCG", "cudaGraphSetConditional"};

constexpr std::string_view kFunctions[] = {
    "cudaCGGetIntrinsicHandle",
    "cudaCGSynchronize",
    "cudaCGSynchronizeGrid",
    "cudaCGGetSize",
    "cudaCGGetRank",
    "cudaGraphSetConditional",
};

// The handle of a condition is the address of its value.
//
// The handle of a grid is the address of its workspace, which a launch that is
// not cooperative does not have: 0, and cudaErrorInvalidValue for who uses it.
//
// The barrier is a word at byte 4. Each block adds one, and the first block as
// much more as makes the highest bit flip when all have come; so it counts from
// any value.
constexpr char kText[] = R"(.version 6.0
.target sm_50
.address_size 64

.weak .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u32 %r1, [scope];
  mov.u32 %r2, %envreg1;
  mov.u32 %r3, %envreg2;
  mov.b64 %rd1, {%r3, %r2};
  setp.eq.u32 %p1, %r1, 1;
  selp.b64 %rd1, %rd1, 0, %p1;
  st.param.b64 [result], %rd1;
  ret;
}

.weak .func (.param .b32 result) cudaCGSynchronize(
  .param .b64 handle, .param .b32 flags)
{
  .reg .pred %p<5>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  setp.eq.u64 %p1, %rd1, 0;
  @%p1 bra NO_GRID;
  membar.gl;
  bar.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra DONE;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %nctaid.z;
  mul.lo.u32 %r4, %r1, %r2;
  mul.lo.u32 %r4, %r4, %r3;
  sub.u32 %r5, -2147483647, %r4;
  mov.u32 %r6, %ctaid.x;
  mov.u32 %r7, %ctaid.y;
  mov.u32 %r8, %ctaid.z;
  or.b32 %r6, %r6, %r7;
  or.b32 %r6, %r6, %r8;
  setp.eq.u32 %p3, %r6, 0;
  selp.b32 %r5, %r5, 1, %p3;
  atom.add.u32 %r9, [%rd1+4], %r5;
WAIT:
  ld.volatile.u32 %r10, [%rd1+4];
  xor.b32 %r11, %r10, %r9;
  setp.ge.s32 %p4, %r11, 0;
  @%p4 bra WAIT;
  membar.gl;
DONE:
  bar.sync 0;
  st.param.b32 [result], 0;
  ret;
NO_GRID:
  st.param.b32 [result], 1;
  ret;
}

.weak .func (.param .b32 result) cudaCGSynchronizeGrid(
  .param .b64 handle, .param .b32 flags)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [flags];
  {
  .param .b64 grid;
  .param .b32 no_flags;
  .param .b32 status;
  st.param.b64 [grid], %rd1;
  st.param.b32 [no_flags], %r1;
  call.uni (status), cudaCGSynchronize, (grid, no_flags);
  ld.param.b32 %r2, [status];
  }
  st.param.b32 [result], %r2;
  ret;
}

.weak .func (.param .b32 result) cudaCGGetSize(
  .param .b64 threads, .param .b64 grids, .param .b64 handle)
{
  .reg .pred %p<3>;
  .reg .b32 %r<7>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [handle];
  setp.eq.u64 %p1, %rd1, 0;
  @%p1 bra NO_GRID;
  ld.param.u64 %rd2, [threads];
  ld.param.u64 %rd3, [grids];
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %nctaid.z;
  mul.lo.u32 %r1, %r1, %r2;
  mul.lo.u32 %r1, %r1, %r3;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %ntid.y;
  mov.u32 %r6, %ntid.z;
  mul.lo.u32 %r1, %r1, %r4;
  mul.lo.u32 %r1, %r1, %r5;
  mul.lo.u32 %r1, %r1, %r6;
  st.u32 [%rd2], %r1;
  setp.eq.u64 %p2, %rd3, 0;
  @!%p2 st.u32 [%rd3], 1;
  st.param.b32 [result], 0;
  ret;
NO_GRID:
  st.param.b32 [result], 1;
  ret;
}

.weak .func (.param .b32 result) cudaCGGetRank(
  .param .b64 thread, .param .b64 grid, .param .b64 handle)
{
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [handle];
  setp.eq.u64 %p1, %rd1, 0;
  @%p1 bra NO_GRID;
  ld.param.u64 %rd2, [thread];
  ld.param.u64 %rd3, [grid];
  mov.u32 %r1, %ctaid.z;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %ctaid.y;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.z;
  mov.u32 %r3, %tid.z;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.y;
  mov.u32 %r3, %tid.y;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  st.u32 [%rd2], %r1;
  setp.eq.u64 %p2, %rd3, 0;
  @!%p2 st.u32 [%rd3], 0;
  st.param.b32 [result], 0;
  ret;
NO_GRID:
  st.param.b32 [result], 1;
  ret;
}

.weak .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  st.u32 [%rd1], %r1;
  ret;
}
)";

} // namespace

bool is_of_device_runtime(std::string_view function) {
  return std::find(std::begin(kFunctions), std::end(kFunctions), function) !=
      std::end(kFunctions);
}

bool mentions_device_runtime(std::string_view ptx) {
  return std::any_of(
      std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view prefix) {
        return ptx.find(prefix) != std::string_view::npos;
      });
}

bool is_cudadevrt(std::string_view ptx) {
  return ptx.find("__cuda_syscall_") != std::string_view::npos;
}

std::string device_runtime() {
  return kText;
}

} // namespace accelerator::linker

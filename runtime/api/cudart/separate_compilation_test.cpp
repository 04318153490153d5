// Programs that were compiled with -rdc=true: the fat binaries of their objects
// are linked when the program starts. What nvcc writes into such a program is
// written here by hand (crt/link.stub). In a process of its own: launches that
// fail put the device at fault, and it is reset.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/api/cudart/testing/program.h"
#include "runtime/code/fatbin/testing/fat_binary.h"

extern "C" {
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterVar(
    void** handle,
    char* host_variable,
    char* device_address,
    const char* device_name,
    int external,
    size_t size,
    int constant,
    int global);
}

namespace accelerator::cudart {
namespace {

using fatbin::testing::fat_binary;

const std::string kHead = ".version 7.0\n.target sm_80\n.address_size 64\n";

const std::string kKernel = kHead + R"(
.extern .global .align 4 .b32 factor;
.extern .func (.param .b32 result) scaled(.param .b32 value);
.visible .entry store(.param .u64 place, .param .u32 value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [place];
  ld.param.u32 %r1, [value];
  {
  .param .b32 in;
  .param .b32 out;
  st.param.b32 [in], %r1;
  call.uni (out), scaled, (in);
  ld.param.b32 %r2, [out];
  }
  ld.global.u32 %r3, [factor];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

const std::string kFunction = kHead + R"(
.visible .global .align 4 .b32 factor = 10;
.visible .func (.param .b32 result) scaled(.param .b32 value)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [factor];
  mul.lo.u32 %r1, %r1, %r2;
  st.param.b32 [result], %r1;
  ret;
}
)";

/// A program of objects with these fat binaries, and a kernel and a variable
/// of it.
class Program {
 public:
  Program(std::initializer_list<const std::string*> parts) {
    std::size_t count = 0;
    for (const std::string* part : parts) {
      parts_[count++] = part->data();
    }
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFunction(
        handle_,
        &kernel_,
        &kernel_,
        "store",
        -1,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        nullptr);
    __cudaRegisterVar(handle_, &factor_, &factor_, "factor", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~Program() {
    __cudaUnregisterFatBinary(handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  cudaError_t launch(unsigned* place, unsigned value) {
    void* arguments[] = {&place, &value};
    return cudaLaunchKernel(&kernel_, dim3(1), dim3(1), arguments, 0, nullptr);
  }
  const void* factor() const {
    return &factor_;
  }

 private:
  struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* linked; // machine code
    const void* const* parts;
  };

  const std::string linked_ = std::string(16, '\0');
  const void* parts_[5] = {};
  Wrapper wrapper_{0x466243b1, 2, linked_.data(), parts_};
  void** handle_ = nullptr;
  char kernel_ = 0; // their addresses stand for them
  char factor_ = 0;
};

TEST(SeparateCompilation, FunctionsAndVariablesOfOtherObjectsAreFound) {
  const std::string kernel = fat_binary(1, kKernel);
  const std::string function = fat_binary(1, kFunction);
  const std::string machine_code = fat_binary(2, "libcudadevrt's");
  const std::string newer = fat_binary(1, "for a newer device", 90);
  Program program({&kernel, &function, &machine_code, &newer});
  unsigned* place = nullptr;
  unsigned value = 0;
  ASSERT_EQ(
      cudaMalloc(reinterpret_cast<void**>(&place), sizeof(*place)),
      cudaSuccess);
  ASSERT_EQ(program.launch(place, 3), cudaSuccess);
  ASSERT_EQ(
      cudaMemcpy(&value, place, sizeof(value), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(value, 40u);
  // The variable is one for all objects, and the program's.
  const unsigned factor = 7;
  ASSERT_EQ(
      cudaMemcpyToSymbol(program.factor(), &factor, sizeof(factor)),
      cudaSuccess);
  ASSERT_EQ(program.launch(place, 3), cudaSuccess);
  ASSERT_EQ(
      cudaMemcpy(&value, place, sizeof(value), cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(value, 28u);
  EXPECT_EQ(cudaFree(place), cudaSuccess);
}

// The launch fails, and the device with it.
void expect_fault(Program program, cudaError_t status) {
  EXPECT_EQ(program.launch(nullptr, 0), status);
  EXPECT_EQ(cudaDeviceSynchronize(), status);
  EXPECT_EQ(cudaGetLastError(), status);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

// A kernel that launches one of another object, which adds `value` to *place,
// three times, and puts the status of the last launch behind that.
const std::string kParent = kHead + R"(
.extern .entry add(.param .u64 place, .param .u32 value);
.extern .func (.param .b64 result) __cudaCDP2GetParameterBufferV2(
  .param .b64 kernel, .param .align 4 .b8 grid[12],
  .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 result) __cudaCDP2LaunchDeviceV2(
  .param .b64 buffer, .param .b64 stream);
.extern .func (.param .b32 result) __cudaCDP2GetLastError();
.visible .entry store(.param .u64 place, .param .u32 value)
{
  .reg .pred %p<3>;
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [place];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, 0;
AGAIN:
  mov.u64 %rd2, add;
  {
  .param .b64 kernel;
  .param .align 4 .b8 grid[12];
  .param .align 4 .b8 block[12];
  .param .b32 shared;
  .param .b64 buffer;
  st.param.b64 [kernel], %rd2;
  st.param.b32 [grid], 1;
  st.param.b32 [grid+4], 1;
  st.param.b32 [grid+8], 1;
  st.param.b32 [block], 1;
  st.param.b32 [block+4], 1;
  st.param.b32 [block+8], 1;
  st.param.b32 [shared], 0;
  call.uni (buffer), __cudaCDP2GetParameterBufferV2, (kernel, grid, block, shared);
  ld.param.b64 %rd3, [buffer];
  }
  setp.eq.u64 %p1, %rd3, 0;
  @%p1 bra NEXT;
  st.u64 [%rd3], %rd1;
  st.u32 [%rd3+8], %r1;
  {
  .param .b64 buffer;
  .param .b64 stream;
  .param .b32 status;
  st.param.b64 [buffer], %rd3;
  st.param.b64 [stream], 0;
  call.uni (status), __cudaCDP2LaunchDeviceV2, (buffer, stream);
  }
NEXT:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 3;
  @%p2 bra AGAIN;
  {
  .param .b32 status;
  call.uni (status), __cudaCDP2GetLastError, ();
  ld.param.b32 %r3, [status];
  }
  st.global.u32 [%rd1+4], %r3;
  ret;
}
)";

const std::string kChild = kHead + R"(
.visible .entry add(.param .u64 place, .param .u32 value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [place];
  ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

// libcudadevrt has PTX for the newest devices, which calls what only NVIDIA's
// driver has.
const std::string kCudadevrt = kHead + R"(
.extern .func (.param .b32 result) __cuda_syscall_cnpv2GetLastError();
.visible .func (.param .b32 result) __cudaCDP2GetLastError()
{
  .reg .b32 %r<2>;
  {
  .param .b32 status;
  call.uni (status), __cuda_syscall_cnpv2GetLastError, ();
  ld.param.b32 %r1, [status];
  }
  st.param.b32 [result], %r1;
  ret;
}
)";

TEST(SeparateCompilation, KernelsLaunchThoseOfOtherObjects) {
  const std::string parent = fat_binary(1, kParent);
  const std::string child = fat_binary(1, kChild);
  const std::string cudadevrt = fat_binary(1, kCudadevrt);
  Program program({&parent, &child, &cudadevrt});
  unsigned* place = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&place), 8), cudaSuccess);
  const auto run = [&] {
    std::vector<unsigned> found(2);
    EXPECT_EQ(cudaMemset(place, 0, 8), cudaSuccess);
    EXPECT_EQ(program.launch(place, 7), cudaSuccess);
    EXPECT_EQ(
        cudaMemcpy(found.data(), place, 8, cudaMemcpyDefault), cudaSuccess);
    return found;
  };
  // How many may be outstanding is the program's, before the module is loaded
  // and after.
  const auto set_limit = [](std::size_t limit) {
    EXPECT_EQ(
        cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, limit),
        cudaSuccess);
  };
  set_limit(2);
  EXPECT_EQ(
      run(), (std::vector<unsigned>{14, cudaErrorLaunchPendingCountExceeded}));
  set_limit(3);
  EXPECT_EQ(run(), (std::vector<unsigned>{21, cudaSuccess}));
  set_limit(1);
  EXPECT_EQ(
      run(), (std::vector<unsigned>{7, cudaErrorLaunchPendingCountExceeded}));
  set_limit(2048);
  EXPECT_EQ(cudaFree(place), cudaSuccess);
}

TEST(SeparateCompilation, WhatDoesNotFitFailsTheLaunch) {
  const std::string function = fat_binary(1, kFunction);
  const std::string machine_code = fat_binary(2, "code");
  expect_fault({&function, &function}, cudaErrorInvalidSource);
  expect_fault({&machine_code}, cudaErrorNoKernelImageForDevice);
  expect_fault({&function}, cudaErrorInvalidDeviceFunction);
}

TEST(SeparateCompilation, PtxForNewerDevicesIsNamed) {
  const std::string newer = fat_binary(1, kKernel, 90);
  ::testing::internal::CaptureStderr();
  expect_fault({&newer}, cudaErrorNoKernelImageForDevice);
  EXPECT_NE(
      ::testing::internal::GetCapturedStderr().find(
          "no PTX for a device of compute capability 8.0: the objects that are "
          "linked here have PTX for compute_90; compile with nvcc -gencode "
          "arch=compute_80,code=compute_80"),
      std::string::npos);
}

} // namespace
} // namespace accelerator::cudart

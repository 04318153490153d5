// Programs that were compiled with -rdc=true: the fat binaries of their objects
// are linked when the program starts. What nvcc writes into such a program is
// written here by hand (crt/link.stub). In a process of its own: launches that
// fail put the device at fault, and it is reset.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

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

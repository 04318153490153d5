// What the tests of this folder share: a thread with a current context, arrays
// on the device, kernels, and a gate that holds a stream back.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <vector>

namespace accelerator::driver::testing {

/// A module with small kernels and a variable.
constexpr char kKernels[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .b32 table[4] = {10, 20, 30, 40};

// *place = value
.visible .entry store(.param .u64 place, .param .u32 value)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [place];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd2], %r1;
  ret;
}

// ++*place, once for each thread
.visible .entry count(.param .u64 place)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [place];
  cvta.to.global.u64 %rd2, %rd1;
  red.global.add.u32 [%rd2], 1;
  ret;
}

// At most 64 threads; 1 KiB of shared memory.
.visible .entry bounded(.param .u64 place)
.maxntid 64, 1, 1
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  .shared .align 4 .b8 room[1024];
  ld.param.u64 %rd1, [place];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 5;
  st.shared.u32 [room+1020], %r1;
  ld.shared.u32 %r2, [room+1020];
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

/// A test whose thread has the primary context of device 0.
class ContextTest : public ::testing::Test {
 protected:
  // Not SetUp: members of derived tests need the context.
  ContextTest() {
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  ~ContextTest() override {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  }

  CUcontext context = nullptr;
};

/// A test that also has kKernels.
class KernelTest : public ContextTest {
 protected:
  KernelTest() {
    EXPECT_EQ(cuModuleLoadData(&module, kKernels), CUDA_SUCCESS);
  }
  ~KernelTest() override {
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  }
  CUfunction kernel(const char* name) const {
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    return function;
  }

  CUmodule module = nullptr;
};

/// Elements on the current device.
template <typename T>
class Array {
 public:
  explicit Array(const std::vector<T>& values) : size_(values.size()) {
    EXPECT_EQ(cuMemAlloc(&address_, bytes()), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(address_, values.data(), bytes()), CUDA_SUCCESS);
  }
  /// `count` times zero.
  explicit Array(std::size_t count) : Array(std::vector<T>(count)) {}
  ~Array() {
    EXPECT_EQ(cuMemFree(address_), CUDA_SUCCESS);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  CUdeviceptr address(std::size_t element = 0) const {
    return address_ + element * sizeof(T);
  }
  std::size_t bytes() const {
    return size_ * sizeof(T);
  }
  /// What is in it when all work before is done.
  std::vector<T> values() const {
    std::vector<T> result(size_);
    EXPECT_EQ(cuMemcpyDtoH(result.data(), address_, bytes()), CUDA_SUCCESS);
    return result;
  }

 private:
  CUdeviceptr address_ = 0;
  std::size_t size_;
};

/// A stream that ends with the test.
class Stream {
 public:
  explicit Stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    EXPECT_EQ(cuStreamCreate(&handle_, flags), CUDA_SUCCESS);
  }
  ~Stream() {
    EXPECT_EQ(cuStreamDestroy(handle_), CUDA_SUCCESS);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator CUstream() const {
    return handle_;
  }

 private:
  CUstream handle_ = nullptr;
};

/// Holds up a stream until it is opened, or for half a minute, so that a broken
/// test fails and does not hang.
class Gate {
 public:
  explicit Gate(CUstream stream) {
    const auto wait = [](void* data) {
      auto& gate = *static_cast<Gate*>(data);
      gate.opened_.get_future().wait_for(std::chrono::seconds(30));
      gate.passed_.set_value();
    };
    const CUresult result = cuLaunchHostFunc(stream, wait, this);
    EXPECT_EQ(result, CUDA_SUCCESS);
    if (result != CUDA_SUCCESS) {
      passed_.set_value();
    }
  }
  ~Gate() {
    open();
    passed_.get_future().wait();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    if (!open_) {
      open_ = true;
      opened_.set_value();
    }
  }

 private:
  bool open_ = false;
  std::promise<void> opened_;
  std::promise<void> passed_;
};

} // namespace accelerator::driver::testing

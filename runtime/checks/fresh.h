// Memory that nobody has written, and what is reported of its reads.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace accelerator::runtime {

/// Device memory that nobody has written, as numbers.
class Fresh {
 public:
  explicit Fresh(std::size_t count) : count_(count) {
    EXPECT_EQ(cudaMalloc(&memory_, count * sizeof(float)), cudaSuccess);
  }
  ~Fresh() {
    cudaFree(memory_);
  }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;

  /// Writes `count` numbers from `first` on.
  Fresh& write(std::size_t first, std::size_t count, float value = 1) {
    const std::vector<float> values(count, value);
    EXPECT_EQ(
        cudaMemcpy(
            memory_ + first,
            values.data(),
            count * sizeof(float),
            cudaMemcpyHostToDevice),
        cudaSuccess);
    return *this;
  }
  Fresh& write_all(float value = 1) {
    return write(0, count_, value);
  }
  template <typename T = float>
  T* get() const {
    return reinterpret_cast<T*>(memory_);
  }
  std::size_t bytes() const {
    return count_ * sizeof(float);
  }

 private:
  float* memory_ = nullptr;
  std::size_t count_;
};

/// What is written to stderr until all work is done.
inline std::string reports(const std::function<void()>& program) {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ::testing::internal::CaptureStderr();
  program();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return ::testing::internal::GetCapturedStderr();
}

/// Expects one report, of a function and the byte of memory.
inline void expect_report(
    const std::string& text,
    const std::string& function,
    const Fresh& memory,
    std::size_t byte,
    std::size_t unwritten) {
  char address[32];
  std::snprintf(
      address,
      sizeof(address),
      "0x%llx",
      static_cast<unsigned long long>(
          reinterpret_cast<std::uintptr_t>(memory.get()) + byte));
  for (const std::string& words :
       {"cudasim: Uninitialized read of global memory by " + function + ": " +
            std::to_string(unwritten) + " of the ",
        "the first at address " + std::string(address) + ", byte " +
            std::to_string(byte) + " of allocation ",
        " of " + std::to_string(memory.bytes()) + " bytes at 0x"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\nin " << text;
  }
  EXPECT_EQ(text.find("Uninitialized"), text.rfind("Uninitialized")) << text;
}

} // namespace accelerator::runtime

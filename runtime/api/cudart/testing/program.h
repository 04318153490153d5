// What nvcc writes into a program for a kernel, by hand.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(
    void** handle,
    const char* host_function,
    char* device_function,
    const char* device_name,
    int thread_limit,
    uint3* thread_id,
    uint3* block_id,
    dim3* block,
    dim3* grid,
    int* warp_size);
}

namespace accelerator::cudart::testing {

/// A kernel `store` in a fat binary as nvcc registers it.
class Program {
 public:
  /// @param binary outlives the object.
  explicit Program(const std::string& binary)
      : wrapper_{0x466243b1, 1, binary.data(), nullptr},
        handle_(__cudaRegisterFatBinary(&wrapper_)) {
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
  }
  ~Program() {
    __cudaUnregisterFatBinary(handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const void* kernel() const {
    return &kernel_;
  }

 private:
  struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
    const void* file_name;
  };
  Wrapper wrapper_;
  void** handle_;
  char kernel_ = 0; // its address stands for the kernel
};

} // namespace accelerator::cudart::testing

// What the programs have in common: they end with 1 and say why when something
// is wrong.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

/// Ends the program when a call of CUDA failed.
#define CHECK_CUDA(call)              \
  do {                                \
    const cudaError_t error = (call); \
    if (error != cudaSuccess) {       \
      std::printf(                    \
          "%s:%d: %s: %s\n",          \
          __FILE__,                   \
          __LINE__,                   \
          #call,                      \
          cudaGetErrorString(error)); \
      std::exit(1);                   \
    }                                 \
  } while (false)

/// Ends the program when a value is not the expected one.
template <typename T>
void expect_equal(const char* what, long index, T found, T expected) {
  if (!(found == expected)) {
    std::printf(
        "%s[%ld]: found %g, expected %g\n",
        what,
        index,
        static_cast<double>(found),
        static_cast<double>(expected));
    std::exit(1);
  }
}

/// Device memory with a copy of a vector.
template <typename T>
T* to_device(const std::vector<T>& values) {
  T* memory = nullptr;
  CHECK_CUDA(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(
      memory,
      values.data(),
      values.size() * sizeof(T),
      cudaMemcpyHostToDevice));
  return memory;
}

/// A copy of device memory.
template <typename T>
std::vector<T> to_host(const T* memory, std::size_t count) {
  std::vector<T> values(count);
  CHECK_CUDA(cudaMemcpy(
      values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

// Generators of the host and of the device, and room for their numbers.
#pragma once

#include <cuda_runtime_api.h>
#include <curand.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace accelerator::rand::testing {

enum class Place { kHost, kDevice };

/// A generator that is destroyed with the test.
class Handle {
 public:
  Handle(Place place, curandRngType_t type) {
    EXPECT_EQ(
        place == Place::kHost ? curandCreateGeneratorHost(&handle_, type)
                              : curandCreateGenerator(&handle_, type),
        CURAND_STATUS_SUCCESS);
  }
  ~Handle() {
    EXPECT_EQ(curandDestroyGenerator(handle_), CURAND_STATUS_SUCCESS);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator curandGenerator_t() const {
    return handle_;
  }

 private:
  curandGenerator_t handle_ = nullptr;
};

/// Memory where a generator can write.
template <typename T>
class Room {
 public:
  Room(Place place, std::size_t size) : place_(place), values_(size) {
    if (place_ == Place::kDevice) {
      EXPECT_EQ(cudaMalloc(&memory_, size * sizeof(T)), cudaSuccess);
    }
  }
  ~Room() {
    cudaFree(memory_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  T* get() {
    return place_ == Place::kHost ? values_.data() : memory_;
  }
  /// What is there when all work is done.
  const std::vector<T>& values() {
    if (place_ == Place::kDevice) {
      EXPECT_EQ(
          cudaMemcpy(
              values_.data(),
              memory_,
              values_.size() * sizeof(T),
              cudaMemcpyDeviceToHost),
          cudaSuccess);
    }
    return values_;
  }

 private:
  Place place_;
  T* memory_ = nullptr;
  std::vector<T> values_;
};

constexpr curandRngType_t kAllTypes[] = {
    CURAND_RNG_PSEUDO_XORWOW,
    CURAND_RNG_PSEUDO_MRG32K3A,
    CURAND_RNG_PSEUDO_MTGP32,
    CURAND_RNG_PSEUDO_MT19937,
    CURAND_RNG_PSEUDO_PHILOX4_32_10,
    CURAND_RNG_QUASI_SOBOL32,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
    CURAND_RNG_QUASI_SOBOL64,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64,
};

inline bool is_64_bit(curandRngType_t type) {
  return type == CURAND_RNG_QUASI_SOBOL64 ||
      type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

} // namespace accelerator::rand::testing

// What the tests of the runtime share: checks, memory and host functions.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <ostream>
#include <vector>

/// Makes gtest name statuses in its messages.
inline void PrintTo(cudaError_t status, std::ostream* out) {
  *out << cudaGetErrorName(status);
}

/// The call succeeds; if not, the test function ends.
#define ASSERT_OK(call) ASSERT_EQ(call, cudaSuccess)
/// The call succeeds.
#define EXPECT_OK(call) EXPECT_EQ(call, cudaSuccess)

namespace accelerator::cudart::testing {

/// Pinned host memory with ints: what kernels and copies do to it is seen at
/// once, without a call that would wait.
class Pinned {
 public:
  explicit Pinned(std::size_t count, int value = 0) : count_(count) {
    EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&values_), bytes()));
    std::fill_n(values_, count, value);
  }
  ~Pinned() {
    EXPECT_OK(cudaFreeHost(values_));
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  int* data() {
    return values_;
  }
  int& operator[](std::size_t i) {
    return values_[i];
  }
  std::size_t bytes() const {
    return count_ * sizeof(int);
  }
  std::vector<int> get() const {
    return {values_, values_ + count_};
  }

 private:
  std::size_t count_;
  int* values_ = nullptr;
};

/// Memory of the current device with ints.
class OnDevice {
 public:
  explicit OnDevice(const std::vector<int>& values) : count_(values.size()) {
    EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&values_), bytes()));
    EXPECT_OK(
        cudaMemcpy(values_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  explicit OnDevice(std::size_t count) : OnDevice(std::vector<int>(count)) {}
  ~OnDevice() {
    EXPECT_OK(cudaFree(values_));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  int* data() {
    return values_;
  }
  std::size_t bytes() const {
    return count_ * sizeof(int);
  }
  /// The values, when all work of the default stream is done.
  std::vector<int> get() const {
    std::vector<int> values(count_);
    EXPECT_OK(
        cudaMemcpy(values.data(), values_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t count_;
  int* values_ = nullptr;
};

/// A host function that waits until the test lets it go on.
class Gate {
 public:
  ~Gate() {
    open();
  }
  void open() {
    if (!opened_) {
      opened_ = true;
      promise_.set_value();
    }
  }
  static void wait(void* gate) {
    static_cast<Gate*>(gate)->future_.wait();
  }

 private:
  bool opened_ = false;
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
};

/// A host function that adds one to an int.
inline void count_up(void* number) {
  ++*static_cast<int*>(number);
}

/// A stream that does not wait for the default stream.
class OwnStream {
 public:
  OwnStream() {
    EXPECT_OK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~OwnStream() {
    EXPECT_OK(cudaStreamSynchronize(stream_));
    EXPECT_OK(cudaStreamDestroy(stream_));
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  operator cudaStream_t() const {
    return stream_;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A test that leaves the thread as it found it: device 0, no error.
class Runtime : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(cudaSetDevice(0));
  }
  void TearDown() override {
    EXPECT_OK(cudaSetDevice(0));
    EXPECT_OK(cudaDeviceSynchronize());
    cudaGetLastError();
  }
};

} // namespace accelerator::cudart::testing

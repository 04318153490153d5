// Ranks of a communicator as threads and processes, for tests.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <sys/types.h>

#include "runtime/api/cudart/testing/support.h"

/// Makes gtest name results in its messages.
inline void PrintTo(ncclResult_t result, std::ostream* out) {
  *out << ncclGetErrorString(result) << " (" << ncclGetLastError(nullptr)
       << ")";
}

#define ASSERT_NCCL(call) ASSERT_EQ(call, ncclSuccess)
#define EXPECT_NCCL(call) EXPECT_EQ(call, ncclSuccess)
#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)
#define EXPECT_CUDA(call) EXPECT_EQ(call, cudaSuccess)

namespace accelerator::nccl::testing {

/// How many ranks each process has; each is a thread.
using Layout = std::vector<int>;

/// How many ranks a layout has.
int count(const Layout& layout);
/// Such as "2x1" for a process of two threads and one of one.
std::string name_of(const Layout& layout);

/// One rank of at most 4, on a device of its own, with the communicator of all.
struct Rank {
  int rank = 0;
  int ranks = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  /// Waits for the stream.
  void synchronize() const {
    EXPECT_CUDA(cudaStreamSynchronize(stream));
  }
};

using Body = std::function<void(Rank&)>;

/// Runs the body in all ranks at once; gtest's expectations in it count. The
/// test's own process, which forks, must not use CUDA.
void run(const Layout& layout, const Body& body);

/// The same without communicators: the body makes its own from the id.
using BareBody = std::function<void(int rank, const ncclUniqueId& id)>;
void run_bare(const Layout& layout, const BareBody& body);

/// Processes that a test forks. Those that are left at the end are killed.
class Processes {
 public:
  Processes() = default;
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Starts one; gtest's expectations in the body count.
  pid_t start(const std::function<void()>& body);
  /// Waits until all have ended that were not killed, 30 seconds at the most.
  void expect_success();
  /// Ends one with SIGKILL.
  void kill(pid_t process);

 private:
  std::vector<pid_t> processes_;
};

/// Device memory with the values of a vector.
template <typename T>
class Array {
 public:
  explicit Array(const std::vector<T>& values) : count_(values.size()) {
    EXPECT_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
    EXPECT_CUDA(
        cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  explicit Array(std::size_t count, T value = T())
      : Array(std::vector<T>(count, value)) {}
  ~Array() {
    EXPECT_CUDA(cudaFree(data_));
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const {
    return data_;
  }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    EXPECT_CUDA(
        cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t bytes() const {
    return count_ * sizeof(T);
  }

  std::size_t count_;
  T* data_ = nullptr;
};

/// A number that a variable has, or another one.
unsigned from_environment(const char* variable, unsigned otherwise);

} // namespace accelerator::nccl::testing

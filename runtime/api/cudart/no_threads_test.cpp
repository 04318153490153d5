// A host that gives no more threads: an error or a fault, never the end of the
// process. On a device whose callbacks must not call it, and on a simulated one
// (TORCH_CUDA_DEVICES, in BUILD.bazel).
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "runtime/api/cudart/testing/kernels.h"
#include "runtime/api/cudart/testing/support.h"

namespace {
std::atomic<bool> no_threads{false};
} // namespace

// In the place of the C library's, for all of the process.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread,
    const pthread_attr_t* attributes,
    void* (*start)(void*),
    void* argument) {
  using Create =
      int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create =
      reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return no_threads ? EAGAIN : create(thread, attributes, start, argument);
}

namespace accelerator::cudart::testing {
namespace {

constexpr int kNoCalls = 0;
constexpr int kSim = 1;

class NoThreads : public Runtime {
 protected:
  void TearDown() override {
    no_threads = false;
    Runtime::TearDown();
  }
};

// First: what has threads keeps them.
TEST_F(NoThreads, KernelsRunOnThoseThatAreThere) {
  ASSERT_OK(cudaSetDevice(kSim));
  OnDevice values(1 << 12); // by way of the default stream's thread
  no_threads = true;
  launch_add(values.data(), 3, 1 << 12);
  EXPECT_EQ(values.get(), std::vector<int>(1 << 12, 3));
  no_threads = false;
  launch_add(values.data(), 3, 1 << 12);
  EXPECT_EQ(values.get(), std::vector<int>(1 << 12, 6));
}

TEST_F(NoThreads, AStreamWithoutOneTakesWorkLater) {
  ASSERT_OK(cudaSetDevice(kSim));
  OwnStream stream;
  int count = 0;
  no_threads = true;
  EXPECT_NE(cudaLaunchHostFunc(stream, count_up, &count), cudaSuccess);
  no_threads = false;
  cudaGetLastError();
  ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &count));
  ASSERT_OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(count, 1) << "the first was refused";
}

TEST_F(NoThreads, AHostFunctionWithoutOneIsTheDevicesFault) {
  ASSERT_OK(cudaSetDevice(kNoCalls));
  int count = 0;
  {
    OwnStream stream; // has its thread, the host function has one of its own
    ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &count));
    ASSERT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(count, 1);
    no_threads = true;
    ASSERT_OK(cudaLaunchHostFunc(stream, count_up, &count));
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorOperatingSystem);
    no_threads = false;
    EXPECT_EQ(count, 1) << "what was not done is not behind us";
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorOperatingSystem);
    ASSERT_OK(cudaDeviceReset());
  }
  OnDevice values({1, 2});
  EXPECT_EQ(values.get(), (std::vector<int>{1, 2}));
}

} // namespace
} // namespace accelerator::cudart::testing

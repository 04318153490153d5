// The driver in a program that has loaded NVIDIA's own runtime, under the name
// that ours has, too.
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

template <typename Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

TEST(Driver, CallsNoRuntime) {
  ASSERT_NE(
      dlopen(std::getenv("NVIDIA_CUDART"), RTLD_NOW | RTLD_GLOBAL), nullptr)
      << dlerror();
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_NE(driver, nullptr) << dlerror();
  std::size_t available = 0;
  std::size_t total = 0;
  CUcontext context = nullptr;
  ASSERT_EQ(function_of<decltype(cuInit)>(driver, "cuInit")(0), CUDA_SUCCESS);
  ASSERT_EQ(
      function_of<decltype(cuDevicePrimaryCtxRetain)>(
          driver, "cuDevicePrimaryCtxRetain")(&context, 0),
      CUDA_SUCCESS);
  ASSERT_EQ(
      function_of<decltype(cuCtxSetCurrent)>(
          driver, "cuCtxSetCurrent")(context),
      CUDA_SUCCESS);
  // One of those that are the runtime's under another name.
  EXPECT_EQ(
      function_of<decltype(cuMemGetInfo)>(driver, "cuMemGetInfo_v2")(
          &available, &total),
      CUDA_SUCCESS);
  EXPECT_GT(total, 0u);
  EXPECT_EQ(dlsym(driver, "cudaMemGetInfo"), nullptr);
}

} // namespace

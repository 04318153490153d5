// The library that takes cuDNN's place says what it is, and refuses the rest.
#include <cudnn.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

template <typename Function>
Function* find(const char* name) {
  static void* const library =
      dlopen(std::getenv("LIBCUDNN"), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  return reinterpret_cast<Function*>(dlvsym(library, name, "libcudnn.so.9"));
}

TEST(Cudnn, HasTheVersionOfItsHeaders) {
  auto* version = find<decltype(cudnnGetVersion)>("cudnnGetVersion");
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(version(), std::size_t{CUDNN_VERSION});
}

// What torch_cuda asks before it lets PyTorch choose cuDNN.
TEST(Cudnn, RefusesToTellAProperty) {
  auto* get = find<decltype(cudnnGetProperty)>("cudnnGetProperty");
  ASSERT_NE(get, nullptr);
  int value = 0;
  EXPECT_EQ(get(MAJOR_VERSION, &value), CUDNN_STATUS_NOT_SUPPORTED);
}

TEST(Cudnn, RefusesAHandle) {
  auto* create = find<decltype(cudnnCreate)>("cudnnCreate");
  auto* text = find<decltype(cudnnGetErrorString)>("cudnnGetErrorString");
  ASSERT_NE(create, nullptr);
  ASSERT_NE(text, nullptr);
  cudnnHandle_t handle = nullptr;
  EXPECT_EQ(create(&handle), CUDNN_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(handle, nullptr);
  EXPECT_STREQ(text(CUDNN_STATUS_NOT_SUPPORTED), "CUDNN_STATUS_NOT_SUPPORTED");
}

TEST(Cudnn, HasTheFunctionsOfEachOfItsParts) {
  for (const char* name :
       {"cudnnBackendExecute",
        "cudnnConvolutionForward",
        "cudnnRNNForward",
        "cudnnBatchNormalizationForwardTrainingEx"}) {
    EXPECT_NE(find<int()>(name), nullptr) << name;
  }
}

} // namespace

// The library that takes cuDNN's place says what it is, and refuses the rest.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>

namespace {

constexpr int kNotSupported = 3000; // CUDNN_STATUS_NOT_SUPPORTED

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

TEST(Cudnn, HasTheVersionOfItsNames) {
  auto* version = find<std::size_t()>("cudnnGetVersion");
  ASSERT_NE(version, nullptr);
  EXPECT_EQ(version(), std::size_t{92600});
}

// PyTorch refuses to go on with a cuDNN of another major version, or an older
// one, than it was compiled for.
TEST(Cudnn, TellsItsVersionByProperties) {
  auto* get = find<int(int, int*)>("cudnnGetProperty");
  ASSERT_NE(get, nullptr);
  const int wanted[] = {9, 26, 0};
  for (int property = 0; property < 3; ++property) {
    int value = -1;
    EXPECT_EQ(get(property, &value), 0);
    EXPECT_EQ(value, wanted[property]);
  }
  int value = -1;
  EXPECT_NE(get(3, &value), 0);
}

// What torch_cuda looks for before it lets PyTorch choose cuDNN.
TEST(Cudnn, SaysThatNothingIsBehindItsNames) {
  EXPECT_NE(find<int()>("accelerator_no_cudnn"), nullptr);
}

TEST(Cudnn, RefusesAHandle) {
  auto* create = find<int(void**)>("cudnnCreate");
  auto* text = find<const char*(int)>("cudnnGetErrorString");
  ASSERT_NE(create, nullptr);
  ASSERT_NE(text, nullptr);
  void* handle = nullptr;
  EXPECT_EQ(create(&handle), kNotSupported);
  EXPECT_EQ(handle, nullptr);
  EXPECT_STREQ(text(kNotSupported), "CUDNN_STATUS_NOT_SUPPORTED");
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

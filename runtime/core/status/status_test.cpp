// What is known of the status codes, compared with NVIDIA's own runtime.
#include "runtime/core/status/status.h"
#include "runtime/core/status/status_texts.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace accelerator::runtime {
namespace {

constexpr const char* kUnknown = "unrecognized error code";

TEST(StatusTexts, HaveTheNamesOfNvidiasRuntimeAndNoOthers) {
  const char* path = std::getenv("NVIDIA_CUDART");
  ASSERT_NE(path, nullptr);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto name_of = reinterpret_cast<const char* (*)(int)>(
      dlsym(library, "cudaGetErrorName"));
  ASSERT_NE(name_of, nullptr);

  for (int code = -1; code <= 10000; ++code) {
    const StatusText* text = status_text(code);
    const char* name = text != nullptr && text->runtime_name != nullptr
        ? text->runtime_name
        : kUnknown;
    EXPECT_STREQ(name, name_of(code)) << code;
  }
}

TEST(StatusTexts, KnowTheNamesThatOnlyTheDriverHas) {
  EXPECT_STREQ(status_text(218)->driver_name, "CUDA_ERROR_INVALID_PTX");
  EXPECT_EQ(status_text(914)->runtime_name, nullptr);
  EXPECT_STREQ(
      status_text(914)->driver_name, "CUDA_ERROR_INVALID_RESOURCE_TYPE");
}

TEST(StatusTexts, SayWhatProgramsLookFor) {
  EXPECT_STREQ(status_text(0)->message, "no error");
  EXPECT_STREQ(
      status_text(700)->message, "an illegal memory access was encountered");
  EXPECT_STREQ(status_text(710)->message, "device-side assert triggered");
}

} // namespace
} // namespace accelerator::runtime

// Names and texts of errors.
#include <cuda.h>
#include <gtest/gtest.h>

#include <string>

namespace {

TEST(Error, EveryErrorHasItsNameAndAText) {
  const struct {
    CUresult error;
    const char* name;
  } known[] = {
      {CUDA_SUCCESS, "CUDA_SUCCESS"},
      {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
      {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
      {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
      {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
  };
  for (const auto& [error, wanted] : known) {
    const char* name = nullptr;
    const char* text = nullptr;
    EXPECT_EQ(cuGetErrorName(error, &name), CUDA_SUCCESS);
    EXPECT_STREQ(name, wanted);
    EXPECT_EQ(cuGetErrorString(error, &text), CUDA_SUCCESS);
    ASSERT_NE(text, nullptr);
    EXPECT_STRNE(text, "");
  }
}

TEST(Error, UnknownNumbersHaveNeither) {
  const char* text = "before";
  const auto none = static_cast<CUresult>(123456);
  EXPECT_EQ(cuGetErrorName(none, &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  text = "before";
  EXPECT_EQ(cuGetErrorString(none, &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(cuGetErrorName(CUDA_SUCCESS, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetErrorString(CUDA_SUCCESS, nullptr), CUDA_ERROR_INVALID_VALUE);
}

// 12 is the runtime's "invalid pitch argument".
TEST(Error, WhatOnlyTheRuntimeHasIsUnknownHere) {
  const char* text = nullptr;
  EXPECT_EQ(
      cuGetErrorName(static_cast<CUresult>(12), &text),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      cuGetErrorString(static_cast<CUresult>(12), &text),
      CUDA_ERROR_INVALID_VALUE);
}

} // namespace

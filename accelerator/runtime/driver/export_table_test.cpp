// What NVIDIA's own runtime is told when it asks for tables of NVIDIA's driver.
#include <cuda.h>
#include <gtest/gtest.h>

#include <string>

namespace {

TEST(ExportTable, ThereIsNoneAndTheMessageSaysOnceWhatToDo) {
  const CUuuid id{};
  const void* table = &id;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  const std::string text = ::testing::internal::GetCapturedStderr();
  const std::string found = "found NVIDIA's CUDA runtime in ";
  const std::size_t place = text.find(found);
  ASSERT_NE(place, std::string::npos) << text;
  EXPECT_EQ(text.find(found, place + 1), std::string::npos) << text;
  EXPECT_NE(text.find("driver_test,"), std::string::npos) << text;
  EXPECT_NE(text.find("nvcc -cudart shared"), std::string::npos) << text;
  EXPECT_NE(text.find("--preload=MAJOR"), std::string::npos) << text;
  EXPECT_EQ(cuGetExportTable(nullptr, &id), CUDA_ERROR_INVALID_VALUE);
}

} // namespace

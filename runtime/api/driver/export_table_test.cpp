// What NVIDIA's own libraries are told when they ask for tables of NVIDIA's
// driver.
#include <cuda.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/api/driver/export_table.h"

namespace accelerator::driver {
namespace {

TEST(ExportTable, ThereIsNoneAndTheMessageSaysOnceWhatToDo) {
  const CUuuid id{};
  const void* table = &id;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  const std::string text = ::testing::internal::GetCapturedStderr();
  const std::string found = "found NVIDIA's CUDA runtime";
  const std::size_t place = text.find(found);
  ASSERT_NE(place, std::string::npos) << text;
  EXPECT_EQ(text.find(found, place + 1), std::string::npos) << text;
  EXPECT_NE(text.find("inside the program"), std::string::npos) << text;
  EXPECT_NE(text.find("driver_test)"), std::string::npos) << text;
  EXPECT_NE(text.find("nvcc -cudart shared"), std::string::npos) << text;
  EXPECT_NE(text.find("--preload=MAJOR"), std::string::npos) << text;
  EXPECT_EQ(cuGetExportTable(nullptr, &id), CUDA_ERROR_INVALID_VALUE);
}

// Who has a wheel cannot link again: only who can is told to.
TEST(ExportTable, TheMessageNamesTheLibraryAndAdvisesWhatFits) {
  const auto has = [](const std::string& file, const std::string& part) {
    return export_table_message(file).find(part) != std::string::npos;
  };
  const std::string runtime = "/site-packages/nvidia/cu13/lib/libcudart.so.13";
  EXPECT_TRUE(has(runtime, "NVIDIA's CUDA runtime (" + runtime));
  EXPECT_TRUE(has(runtime, "--preload=MAJOR"));
  EXPECT_FALSE(has(runtime, "nvcc"));
  const std::string cupti = "/triton/backends/nvidia/lib/cupti/libcupti.so.13";
  EXPECT_TRUE(has(cupti, "NVIDIA's CUPTI (" + cupti));
  EXPECT_TRUE(has(cupti, "Proton"));
  EXPECT_FALSE(has(cupti, "CUDA runtime"));
  EXPECT_FALSE(has(cupti, "nvcc"));
  const std::string extension = "/site-packages/somebody/_C.so";
  EXPECT_TRUE(has(extension, "inside a library (" + extension));
  EXPECT_TRUE(has(extension, "libcudart.so.MAJOR"));
  EXPECT_EQ(export_table_message("/lib/libnvrtc.so.13"), "");
}

} // namespace
} // namespace accelerator::driver

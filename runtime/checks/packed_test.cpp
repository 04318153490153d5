// Reads of memory that nobody has written, by cuBLAS's functions of packed and
// banded matrices.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/checks/fresh.h"

namespace accelerator::runtime {
namespace {

TEST(Packed, BandsAndTrianglesAreRead) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  const float one = 1;
  const float zero = 0;
  Fresh x(3), y(3);
  x.write_all();
  // Of 3 x 3 matrices: the band has no place for two corners.
  for (const bool is_whole : {true, false}) {
    Fresh band(6), packed(6), general(9);
    band.write(is_whole ? 0 : 1, 5);
    packed.write(is_whole ? 0 : 1, is_whole ? 6 : 5);
    general.write(is_whole ? 1 : 2, is_whole ? 7 : 6);
    const auto expect = [&](const std::string& text,
                            const std::string& function,
                            const Fresh& matrix,
                            std::size_t byte) {
      if (is_whole) {
        EXPECT_EQ(text, "");
      } else {
        expect_report(text, function, matrix, byte, 4);
      }
    };
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    expect(
        reports([&] {
          EXPECT_EQ(
              cublasSsbmv(
                  handle,
                  lower,
                  3,
                  1,
                  &one,
                  band.get(),
                  2,
                  x.get(),
                  1,
                  &zero,
                  y.get(),
                  1),
              CUBLAS_STATUS_SUCCESS);
        }),
        "cublasSsbmv",
        band,
        0);
    expect(
        reports([&] {
          EXPECT_EQ(
              cublasSspmv(
                  handle,
                  lower,
                  3,
                  &one,
                  packed.get(),
                  x.get(),
                  1,
                  &zero,
                  y.get(),
                  1),
              CUBLAS_STATUS_SUCCESS);
        }),
        "cublasSspmv",
        packed,
        0);
    expect(
        reports([&] {
          EXPECT_EQ(
              cublasSgbmv(
                  handle,
                  CUBLAS_OP_N,
                  3,
                  3,
                  1,
                  1,
                  &one,
                  general.get(),
                  3,
                  x.get(),
                  1,
                  &zero,
                  y.get(),
                  1),
              CUBLAS_STATUS_SUCCESS);
        }),
        "cublasSgbmv",
        general,
        4);
  }
  EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

} // namespace
} // namespace accelerator::runtime

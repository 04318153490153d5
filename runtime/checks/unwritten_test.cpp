// Reads of memory that nobody has written, by libraries and by copies. Which
// bytes these are follows from what the test has written itself.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <string>

#include "runtime/checks/fresh.h"

namespace accelerator::runtime {
namespace {

class CublasTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cublasDestroy(handle_), CUBLAS_STATUS_SUCCESS);
  }
  /// C = A B + beta C, of 4 x 4 matrices whose columns are 6 apart.
  std::string gemm(const Fresh& a, const Fresh& b, float beta, const Fresh& c) {
    return reports([&] {
      const float one = 1;
      EXPECT_EQ(
          cublasSgemm(
              handle_,
              CUBLAS_OP_N,
              CUBLAS_OP_N,
              4,
              4,
              4,
              &one,
              a.get(),
              6,
              b.get(),
              6,
              &beta,
              c.get(),
              6),
          CUBLAS_STATUS_SUCCESS);
    });
  }
  /// Writes the elements of a matrix, and not what is between its columns.
  static void write_columns(Fresh& matrix) {
    for (int j = 0; j < 4; ++j) {
      matrix.write(6 * j, 4);
    }
  }
  static constexpr std::size_t kMatrix = 22;
  cublasHandle_t handle_ = nullptr;
};

TEST_F(CublasTest, GemmReadsWhatItIsGiven) {
  Fresh a(kMatrix), b(kMatrix), c(kMatrix), d(kMatrix);
  a.write(0, 21); // the last element is missing
  write_columns(b);
  // A product that is not added to C does not read it, and writes it.
  expect_report(gemm(a, b, 0, c), "cublasSgemm", a, 84, 4);
  EXPECT_EQ(gemm(c, b, 0, d), "");
  EXPECT_EQ(gemm(b, b, 1, d), "");
  Fresh e(kMatrix);
  expect_report(gemm(b, b, 1, e), "cublasSgemm", e, 0, 64);
}

TEST_F(CublasTest, TheSameIsReportedOnce) {
  Fresh a(kMatrix), b(kMatrix), c(kMatrix);
  write_columns(b);
  EXPECT_NE(gemm(a, b, 0, c), "");
  EXPECT_EQ(gemm(a, b, 0, c), "");
}

TEST_F(CublasTest, GapsAreNotRead) {
  Fresh a(kMatrix), b(kMatrix), c(kMatrix);
  write_columns(a);
  write_columns(b);
  EXPECT_EQ(gemm(a, b, 0, c), "");
}

TEST_F(CublasTest, OneTriangleIsRead) {
  const float one = 1;
  for (const bool is_upper : {false, true}) {
    Fresh a(9), b(9), c(9);
    b.write_all();
    for (std::size_t j = 0; j < 3; ++j) {
      a.write(is_upper ? 3 * j : 4 * j, is_upper ? j + 1 : 3 - j);
    }
    const auto fill = [](bool upper) {
      return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    };
    const auto solve = [&](bool upper) {
      return reports([&] {
        EXPECT_EQ(
            cublasStrsm(
                handle_,
                CUBLAS_SIDE_LEFT,
                fill(upper),
                CUBLAS_OP_N,
                CUBLAS_DIAG_NON_UNIT,
                3,
                3,
                &one,
                a.get(),
                3,
                b.get(),
                3),
            CUBLAS_STATUS_SUCCESS);
      });
    };
    EXPECT_EQ(solve(is_upper), "");
    const auto multiply = [&] {
      const float zero = 0;
      EXPECT_EQ(
          cublasSsymm(
              handle_,
              CUBLAS_SIDE_LEFT,
              fill(is_upper),
              3,
              3,
              &one,
              a.get(),
              3,
              b.get(),
              3,
              &zero,
              c.get(),
              3),
          CUBLAS_STATUS_SUCCESS);
    };
    EXPECT_EQ(reports(multiply), "");
    expect_report(solve(!is_upper), "cublasStrsm", a, is_upper ? 4 : 12, 12);
  }
}

TEST_F(CublasTest, ArraysOfPointersAreRead) {
  Fresh matrix(9), pointers(2);
  matrix.write_all();
  Fresh a(2);
  float* const address = matrix.get();
  ASSERT_EQ(
      cudaMemcpy(a.get(), &address, sizeof(address), cudaMemcpyHostToDevice),
      cudaSuccess);
  Fresh info(1), unwritten(9), b(2);
  float* const other = unwritten.get();
  ASSERT_EQ(
      cudaMemcpy(b.get(), &other, sizeof(other), cudaMemcpyHostToDevice),
      cudaSuccess);
  const auto factor = [&](const Fresh& list) {
    return reports([&] {
      EXPECT_EQ(
          cublasSgetrfBatched(
              handle_, 3, list.get<float*>(), 3, nullptr, info.get<int>(), 1),
          CUBLAS_STATUS_SUCCESS);
    });
  };
  EXPECT_EQ(factor(a), "");
  expect_report(factor(b), "cublasSgetrfBatched", unwritten, 0, 36);
}

TEST_F(CublasTest, ScalarsOfTheDeviceAreRead) {
  Fresh x(4), factor(1);
  x.write_all();
  ASSERT_EQ(
      cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE),
      CUBLAS_STATUS_SUCCESS);
  const std::string text = reports([&] {
    EXPECT_EQ(
        cublasSscal(handle_, 4, factor.get(), x.get(), 1),
        CUBLAS_STATUS_SUCCESS);
  });
  expect_report(text, "cublasSscal", factor, 0, 4);
}

TEST(CublasLt, Matmul) {
  cublasLtHandle_t handle = nullptr;
  ASSERT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  ASSERT_EQ(
      cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
      CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(
      cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 2, 2, 3),
      CUBLAS_STATUS_SUCCESS);
  Fresh a(5), b(5), c(5);
  a.write(0, 2).write(3, 2);
  b.write(0, 2);
  const float one = 1, zero = 0;
  const auto multiply = [&](const Fresh& right) {
    return reports([&] {
      EXPECT_EQ(
          cublasLtMatmul(
              handle,
              product,
              &one,
              a.get(),
              layout,
              right.get(),
              layout,
              &zero,
              c.get(),
              layout,
              c.get(),
              layout,
              nullptr,
              nullptr,
              0,
              nullptr),
          CUBLAS_STATUS_SUCCESS);
    });
  };
  EXPECT_EQ(multiply(a), "");
  expect_report(multiply(b), "cublasLtMatmul", b, 12, 8);
  EXPECT_EQ(cublasLtMatrixLayoutDestroy(layout), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmulDescDestroy(product), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

TEST(Cufft, ReadsItsLayout) {
  // Two transforms of four numbers; the second begins behind a gap of two.
  int size = 4, embed = 6;
  cufftHandle plan = 0;
  ASSERT_EQ(
      cufftPlanMany(&plan, 1, &size, &embed, 1, 6, &size, 1, 4, CUFFT_C2C, 2),
      CUFFT_SUCCESS);
  Fresh input(20), output(16);
  input.write(0, 8).write(12, 8);
  const auto transform = [&] {
    EXPECT_EQ(
        cufftExecC2C(
            plan,
            input.get<cufftComplex>(),
            output.get<cufftComplex>(),
            CUFFT_FORWARD),
        CUFFT_SUCCESS);
  };
  EXPECT_EQ(reports(transform), "");
  Fresh unwritten(20);
  unwritten.write(0, 19);
  const auto other = [&] {
    EXPECT_EQ(
        cufftExecC2C(
            plan,
            unwritten.get<cufftComplex>(),
            output.get<cufftComplex>(),
            CUFFT_FORWARD),
        CUFFT_SUCCESS);
  };
  expect_report(reports(other), "cufftExecC2C", unwritten, 76, 4);
  EXPECT_EQ(cufftDestroy(plan), CUFFT_SUCCESS);
}

TEST(Cusolver, ReadsATriangleOrAll) {
  cusolverDnHandle_t handle = nullptr;
  ASSERT_EQ(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS);
  Fresh a(9), work(64), pivots(3), info(1);
  for (std::size_t j = 0; j < 3; ++j) {
    a.write(4 * j, 3 - j, 0).write(4 * j, 1, 2);
  }
  const auto cholesky = [&](cublasFillMode_t fill) {
    return reports([&] {
      EXPECT_EQ(
          cusolverDnSpotrf(
              handle, fill, 3, a.get(), 3, work.get(), 64, info.get<int>()),
          CUSOLVER_STATUS_SUCCESS);
    });
  };
  EXPECT_EQ(cholesky(CUBLAS_FILL_MODE_LOWER), "");
  expect_report(
      cholesky(CUBLAS_FILL_MODE_UPPER), "cusolverDnSpotrf", a, 12, 12);
  Fresh b(9);
  b.write(0, 8);
  const auto lu = [&] {
    EXPECT_EQ(
        cusolverDnSgetrf(
            handle,
            3,
            3,
            b.get(),
            3,
            work.get(),
            pivots.get<int>(),
            info.get<int>()),
        CUSOLVER_STATUS_SUCCESS);
  };
  expect_report(reports(lu), "cusolverDnSgetrf", b, 32, 4);
  EXPECT_EQ(cusolverDnDestroy(handle), CUSOLVER_STATUS_SUCCESS);
}

TEST(Cusparse, ReadsIndicesAndValues) {
  cusparseHandle_t handle = nullptr;
  ASSERT_EQ(cusparseCreate(&handle), CUSPARSE_STATUS_SUCCESS);
  // The identity, in compressed rows.
  Fresh offsets(4), columns(3), values(3), x(3), y(3), work(64);
  const int offset_values[] = {0, 1, 2, 3}, column_values[] = {0, 1, 2};
  ASSERT_EQ(
      cudaMemcpy(
          offsets.get(),
          offset_values,
          sizeof(offset_values),
          cudaMemcpyHostToDevice),
      cudaSuccess);
  ASSERT_EQ(
      cudaMemcpy(
          columns.get(),
          column_values,
          sizeof(column_values),
          cudaMemcpyHostToDevice),
      cudaSuccess);
  values.write(0, 2);
  x.write_all();
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t in = nullptr, out = nullptr;
  ASSERT_EQ(
      cusparseCreateCsr(
          &matrix,
          3,
          3,
          3,
          offsets.get(),
          columns.get(),
          values.get(),
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_BASE_ZERO,
          CUDA_R_32F),
      CUSPARSE_STATUS_SUCCESS);
  ASSERT_EQ(
      cusparseCreateDnVec(&in, 3, x.get(), CUDA_R_32F),
      CUSPARSE_STATUS_SUCCESS);
  ASSERT_EQ(
      cusparseCreateDnVec(&out, 3, y.get(), CUDA_R_32F),
      CUSPARSE_STATUS_SUCCESS);
  const float one = 1, zero = 0;
  const auto multiply = [&] {
    EXPECT_EQ(
        cusparseSpMV(
            handle,
            CUSPARSE_OPERATION_NON_TRANSPOSE,
            &one,
            matrix,
            in,
            &zero,
            out,
            CUDA_R_32F,
            CUSPARSE_SPMV_ALG_DEFAULT,
            work.get()),
        CUSPARSE_STATUS_SUCCESS);
  };
  expect_report(reports(multiply), "cusparseSpMV", values, 8, 4);
  values.write_all();
  EXPECT_EQ(reports(multiply), "");
  EXPECT_EQ(cusparseDestroyDnVec(in), CUSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(cusparseDestroyDnVec(out), CUSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(cusparseDestroySpMat(matrix), CUSPARSE_STATUS_SUCCESS);
  EXPECT_EQ(cusparseDestroy(handle), CUSPARSE_STATUS_SUCCESS);
}

TEST(Nccl, ReadsWhatItSends) {
  ncclComm_t communicator = nullptr;
  int device = 0;
  ASSERT_EQ(ncclCommInitAll(&communicator, 1, &device), ncclSuccess);
  Fresh from(8), to(8);
  from.write(0, 6);
  const auto reduce = [&] {
    EXPECT_EQ(
        ncclAllReduce(
            from.get(), to.get(), 8, ncclFloat, ncclSum, communicator, nullptr),
        ncclSuccess);
  };
  expect_report(reports(reduce), "ncclAllReduce", from, 24, 8);
  from.write_all();
  EXPECT_EQ(reports(reduce), "");
  EXPECT_EQ(ncclCommDestroy(communicator), ncclSuccess);
}

TEST(Copies, ToTheHostRead) {
  Fresh memory(16);
  memory.write(0, 4).write(8, 4);
  float host[16];
  // Two rows of four, eight apart: what is written.
  EXPECT_EQ(
      reports([&] {
        EXPECT_EQ(
            cudaMemcpy2D(
                host, 16, memory.get(), 32, 16, 2, cudaMemcpyDeviceToHost),
            cudaSuccess);
      }),
      "");
  const std::string text = reports([&] {
    EXPECT_EQ(
        cudaMemcpy(host, memory.get(), memory.bytes(), cudaMemcpyDeviceToHost),
        cudaSuccess);
  });
  expect_report(text, "a copy to the host", memory, 16, 32);
}

TEST(Copies, OnTheDeviceKeepWhatIsUnwritten) {
  Fresh from(16), to(16);
  from.write(0, 4);
  to.write_all();
  EXPECT_EQ(
      reports([&] {
        EXPECT_EQ(
            cudaMemcpy(
                to.get(), from.get(), from.bytes(), cudaMemcpyDeviceToDevice),
            cudaSuccess);
      }),
      "");
  float host[16];
  const std::string text = reports([&] {
    EXPECT_EQ(
        cudaMemcpy(host, to.get(), to.bytes(), cudaMemcpyDeviceToHost),
        cudaSuccess);
  });
  expect_report(text, "a copy to the host", to, 16, 48);
}

TEST(Copies, FillsWrite) {
  Fresh memory(16);
  ASSERT_EQ(cudaMemset(memory.get(), 0, memory.bytes()), cudaSuccess);
  float host[16];
  EXPECT_EQ(
      reports([&] {
        EXPECT_EQ(
            cudaMemcpy(
                host, memory.get(), memory.bytes(), cudaMemcpyDeviceToHost),
            cudaSuccess);
      }),
      "");
}

} // namespace
} // namespace accelerator::runtime

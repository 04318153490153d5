// cublasLtMatmul: layouts, batches and every epilogue, held against loops in
// double precision.
#include <cublasLt.h>

#include <cmath>
#include <cstdint>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kM = 16;
constexpr int kN = 5;
constexpr int kK = 7;
constexpr double kTolerance = 1e-5;

double gelu(double x) {
  return 0.5 * x *
      (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/// By difference, so that it owes nothing to the formula under test.
double gelu_slope(double x) {
  constexpr double kStep = 1e-5;
  return (gelu(x + kStep) - gelu(x - kStep)) / (2 * kStep);
}

/// A product D = op(A) op(B) in float32, with what a test changes about it.
class LtMatmul : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_NE(handle, nullptr);
    ASSERT_EQ(
        cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F),
        CUBLAS_STATUS_SUCCESS);
    a_layout = layout(kM, kK, kM);
    b_layout = layout(kK, kN, kK);
    d_layout = layout(kM, kN, kM);
    const Matrix exact = Matrix(a, kM, kK, kM) * Matrix(b, kK, kN, kK);
    for (const Wide value : exact.values) {
      sums.push_back(value.real());
    }
  }
  void TearDown() override {
    for (auto* made : {a_layout, b_layout, d_layout}) {
      EXPECT_EQ(cublasLtMatrixLayoutDestroy(made), CUBLAS_STATUS_SUCCESS);
    }
    EXPECT_EQ(cublasLtMatmulDescDestroy(desc), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
  }

  static cublasLtMatrixLayout_t layout(int rows, int columns, int leading) {
    cublasLtMatrixLayout_t made = nullptr;
    EXPECT_EQ(
        cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, rows, columns, leading),
        CUBLAS_STATUS_SUCCESS);
    return made;
  }
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    ASSERT_EQ(
        cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof(value)),
        CUBLAS_STATUS_SUCCESS);
  }
  template <typename T>
  static void set(
      cublasLtMatrixLayout_t of,
      cublasLtMatrixLayoutAttribute_t attribute,
      T value) {
    ASSERT_EQ(
        cublasLtMatrixLayoutSetAttribute(of, attribute, &value, sizeof(value)),
        CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t run() {
    return cublasLtMatmul(
        handle,
        desc,
        &alpha,
        a_array.get(),
        a_layout,
        b_array.get(),
        b_layout,
        &beta,
        d_array.get(),
        d_layout,
        d_array.get(),
        d_layout,
        nullptr,
        nullptr,
        0,
        nullptr);
  }
  /// Element for element: what `wanted` makes of the exact sum at (row,
  /// column).
  template <typename Function>
  void expect(Function wanted) const {
    const auto actual = d_array.values();
    for (int column = 0; column < kN; ++column) {
      for (int row = 0; row < kM; ++row) {
        const int at = column * kM + row;
        EXPECT_NEAR(actual[at], wanted(sums[at], row, at), kTolerance)
            << "row " << row << ", column " << column;
      }
    }
  }

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a_layout = nullptr;
  cublasLtMatrixLayout_t b_layout = nullptr;
  cublasLtMatrixLayout_t d_layout = nullptr;
  float alpha = 1;
  float beta = 0;
  const std::vector<float> a = random<float>(kM * kK, 1);
  const std::vector<float> b = random<float>(kK * kN, 2);
  const std::vector<float> bias = random<float>(kM, 3);
  const std::vector<float> old = random<float>(kM * kN, 4);
  const Array<float> a_array{a};
  const Array<float> b_array{b};
  const Array<float> bias_array{bias};
  const Array<float> d_array{old};
  std::vector<double> sums;
};

TEST_F(LtMatmul, FactorsApplyToTheProductAndToWhatWasThere) {
  alpha = 2;
  beta = 0.5;
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  expect([&](double sum, int, int at) { return 2 * sum + 0.5 * old[at]; });
}

TEST_F(LtMatmul, TheHeuristicHasAnAlgorithm) {
  cublasLtMatmulPreference_t preference = nullptr;
  ASSERT_EQ(cublasLtMatmulPreferenceCreate(&preference), CUBLAS_STATUS_SUCCESS);
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  ASSERT_EQ(
      cublasLtMatmulAlgoGetHeuristic(
          handle,
          desc,
          a_layout,
          b_layout,
          d_layout,
          d_layout,
          preference,
          1,
          &result,
          &found),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(found, 1);
  EXPECT_EQ(result.state, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasLtMatmulPreferenceDestroy(preference), CUBLAS_STATUS_SUCCESS);
}

TEST_F(LtMatmul, RowMajorMatricesAreTheTransposedOnes) {
  for (auto* one : {a_layout, b_layout, d_layout}) {
    set(one, CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_ROW);
  }
  set(a_layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{kK});
  set(b_layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{kN});
  set(d_layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{kN});
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  const auto actual = d_array.values();
  for (int row = 0; row < kM; ++row) {
    for (int column = 0; column < kN; ++column) {
      double wanted = 0;
      for (int i = 0; i < kK; ++i) {
        wanted += static_cast<double>(a[row * kK + i]) * b[i * kN + column];
      }
      EXPECT_NEAR(actual[row * kN + column], wanted, kTolerance);
    }
  }
}

TEST_F(LtMatmul, TransposedOperandsAreReadAcross) {
  set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(a_layout, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{kK});
  set(a_layout, CUBLASLT_MATRIX_LAYOUT_COLS, std::uint64_t{kM});
  set(a_layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{kK});
  const Matrix exact =
      apply(CUBLAS_OP_T, Matrix(a, kK, kM, kK)) * Matrix(b, kK, kN, kK);
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  expect([&](double, int, int at) { return exact.values[at].real(); });
}

TEST_F(LtMatmul, ABatchHasAStrideForEachMatrix) {
  constexpr int kCount = 3;
  const auto more_a = random<float>(kM * kK * kCount, 5);
  const Array<float> many_a(more_a);
  const Array<float> many_d(std::vector<float>(kM * kN * kCount));
  for (auto* one : {a_layout, b_layout, d_layout}) {
    set(one, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{kCount});
  }
  constexpr auto kStride = CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
  set(a_layout, kStride, std::int64_t{kM * kK});
  set(b_layout, kStride, std::int64_t{0}); // one for all
  set(d_layout, kStride, std::int64_t{kM * kN});
  ASSERT_EQ(
      cublasLtMatmul(
          handle,
          desc,
          &alpha,
          many_a.get(),
          a_layout,
          b_array.get(),
          b_layout,
          &beta,
          many_d.get(),
          d_layout,
          many_d.get(),
          d_layout,
          nullptr,
          nullptr,
          0,
          nullptr),
      CUBLAS_STATUS_SUCCESS);
  const auto actual = many_d.values();
  for (std::ptrdiff_t i = 0; i < kCount; ++i) {
    const auto from = more_a.begin() + i * kM * kK;
    const Matrix exact =
        Matrix(std::vector<float>(from, from + kM * kK), kM, kK, kM) *
        Matrix(b, kK, kN, kK);
    for (int at = 0; at < kM * kN; ++at) {
      EXPECT_NEAR(
          actual[i * kM * kN + at], exact.values[at].real(), kTolerance);
    }
  }
}

/// An epilogue without a second output, and what it makes of a sum.
struct Forward {
  cublasLtEpilogue_t epilogue;
  bool with_bias;
  double (*activation)(double);
};

class LtForward : public LtMatmul,
                  public ::testing::WithParamInterface<Forward> {};

TEST_P(LtForward, TheEpilogueIsApplied) {
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, GetParam().epilogue);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_array.get());
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  expect([&](double sum, int row, int) {
    return GetParam().activation(sum + (GetParam().with_bias ? bias[row] : 0));
  });
}

double same(double x) {
  return x;
}
double relu(double x) {
  return x > 0 ? x : 0;
}

INSTANTIATE_TEST_SUITE_P(
    Epilogues,
    LtForward,
    ::testing::Values(
        Forward{CUBLASLT_EPILOGUE_DEFAULT, false, same},
        Forward{CUBLASLT_EPILOGUE_BIAS, true, same},
        Forward{CUBLASLT_EPILOGUE_RELU, false, relu},
        Forward{CUBLASLT_EPILOGUE_RELU_BIAS, true, relu},
        Forward{CUBLASLT_EPILOGUE_GELU, false, gelu},
        Forward{CUBLASLT_EPILOGUE_GELU_BIAS, true, gelu}));

TEST_F(LtMatmul, ReluKeepsItsMaskForTheWayBack) {
  const Array<std::uint8_t> mask(std::vector<std::uint8_t>(kM * kN / 8, 0xaa));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_array.get());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, mask.get());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{kM});
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  expect([&](double sum, int row, int) { return relu(sum + bias[row]); });

  // Back: the same product counts as the gradient of the output.
  const auto positive = [&](int at) { return sums[at] + bias[at % kM] > 0; };
  const Array<float> bias_gradient{std::vector<float>(kM)};
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DRELU_BGRAD);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_gradient.get());
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  expect([&](double sum, int, int at) { return positive(at) ? sum : 0; });
  const auto gradient = bias_gradient.values();
  for (int row = 0; row < kM; ++row) {
    double wanted = 0;
    for (int at = row; at < kM * kN; at += kM) {
      wanted += positive(at) ? sums[at] : 0;
    }
    EXPECT_NEAR(gradient[row], wanted, kTolerance);
  }
}

TEST_F(LtMatmul, GeluKeepsItsInputForTheWayBack) {
  const Array<float> input(std::vector<float>(kM * kN));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_array.get());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, input.get());
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{kM});
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  expect([&](double sum, int row, int) { return gelu(sum + bias[row]); });
  const auto kept = input.values();
  for (int at = 0; at < kM * kN; ++at) {
    EXPECT_NEAR(kept[at], sums[at] + bias[at % kM], kTolerance);
  }

  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  expect([&](double sum, int row, int) {
    return sum * gelu_slope(sum + bias[row]);
  });
}

TEST_F(LtMatmul, SizesThatDoNotFitAreRefused) {
  set(b_layout, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{kK + 1});
  EXPECT_EQ(run(), CUBLAS_STATUS_INVALID_VALUE);
}

TEST_F(LtMatmul, MemoryThatIsNotThereIsAnError) {
  set(d_layout, CUBLASLT_MATRIX_LAYOUT_LD, std::int64_t{kM * 100});
  EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED);
}

TEST_F(LtMatmul, VectorsAndScalesThatAreNotThereAreErrors) {
  // One element less than the epilogue reads or writes.
  const Array<float> bias(std::vector<float>(kM - 1));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<void*>(bias.get()));
  EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED);
  const Array<float> auxiliary(std::vector<float>(kM * kN - 1));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
      static_cast<void*>(auxiliary.get()));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{kM});
  EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED);
  // ReLU keeps a bit for each element: 80 of them here.
  const Array<std::uint8_t> few(std::vector<std::uint8_t>(kM * kN / 8 - 1));
  const Array<std::uint8_t> enough(std::vector<std::uint8_t>(kM * kN / 8));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_AUX);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<void*>(few.get()));
  EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
      static_cast<void*>(enough.get()));
  EXPECT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  for (const auto attribute :
       {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_AMAX_D_POINTER}) {
    float on_host = 1;
    set(attribute, static_cast<void*>(&on_host));
    EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED);
    set(attribute, static_cast<void*>(nullptr));
  }
  EXPECT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

} // namespace
} // namespace accelerator::blas::testing

// cublasLtMatmul of complex matrices, held against loops in double precision.
#include <cublasLt.h>

#include <algorithm>
#include <complex>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr int kM = 9, kN = 5, kK = 7, kBatch = 3;

/// A matrix that is op(X) in the product, by columns or by rows, with gaps.
struct Operand {
  Operand(int rows, int columns, cublasOperation_t operation, bool by_rows)
      : rows(operation == CUBLAS_OP_N ? rows : columns),
        columns(operation == CUBLAS_OP_N ? columns : rows),
        by_rows(by_rows),
        leading((by_rows ? this->columns : this->rows) + 2),
        stride(leading * (by_rows ? this->rows : this->columns) + 5) {}
  int at(int batch, int row, int column) const {
    return batch * stride +
        (by_rows ? row * leading + column : column * leading + row);
  }
  template <typename T>
  Matrix dense(const std::vector<T>& values, int batch) const {
    Matrix matrix(rows, columns);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        matrix(i, j) = Wide(values[static_cast<std::size_t>(at(batch, i, j))]);
      }
    }
    return matrix;
  }

  int rows, columns;
  bool by_rows;
  int leading;
  int stride;
};

template <typename R>
class ComplexProducts : public ::testing::Test {
 protected:
  using T = std::complex<R>;
  static constexpr cudaDataType_t kType =
      sizeof(R) == 4 ? CUDA_C_32F : CUDA_C_64F;
  static constexpr cublasComputeType_t kCompute =
      sizeof(R) == 4 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F;

  void SetUp() override {
    ASSERT_EQ(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(
        cublasLtMatmulDescCreate(&desc, kCompute, kType),
        CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cublasLtMatmulDescDestroy(desc), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
  }
  template <typename Value>
  void set(cublasLtMatmulDescAttributes_t attribute, Value value) {
    ASSERT_EQ(
        cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof(value)),
        CUBLAS_STATUS_SUCCESS);
  }
  static cublasLtMatrixLayout_t layout(const Operand& of) {
    cublasLtMatrixLayout_t made = nullptr;
    EXPECT_EQ(
        cublasLtMatrixLayoutCreate(
            &made,
            kType,
            static_cast<std::uint64_t>(of.rows),
            static_cast<std::uint64_t>(of.columns),
            of.leading),
        CUBLAS_STATUS_SUCCESS);
    const cublasLtOrder_t order =
        of.by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    const int count = kBatch;
    const std::int64_t stride = of.stride;
    EXPECT_EQ(
        cublasLtMatrixLayoutSetAttribute(
            made, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof(order)),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(
        cublasLtMatrixLayoutSetAttribute(
            made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(
        cublasLtMatrixLayoutSetAttribute(
            made,
            CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
            &stride,
            sizeof(stride)),
        CUBLAS_STATUS_SUCCESS);
    return made;
  }
  static std::vector<T> values(const Operand& of, unsigned seed) {
    return random<T>(static_cast<std::size_t>(kBatch * of.stride), seed);
  }

  /// Multiplies, and compares all of D, also its gaps.
  void expect(
      cublasOperation_t operation_a,
      cublasOperation_t operation_b,
      bool by_rows,
      T alpha,
      T beta,
      bool on_device) {
    const Operand a(kM, kK, operation_a, by_rows);
    const Operand b(kK, kN, operation_b, !by_rows);
    const Operand c(kM, kN, CUBLAS_OP_N, by_rows);
    set(CUBLASLT_MATMUL_DESC_TRANSA, operation_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, operation_b);
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE,
        on_device ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST);
    const auto a_values = values(a, 1);
    const auto b_values = values(b, 2);
    const auto c_values = values(c, 3);
    const Array<T> a_array(a_values), b_array(b_values), d_array(c_values);
    const Array<T> scalars(std::vector<T>{alpha, beta});
    const cublasLtMatrixLayout_t layouts[] = {layout(a), layout(b), layout(c)};
    EXPECT_EQ(
        cublasLtMatmul(
            handle,
            desc,
            on_device ? scalars.get() : &alpha,
            a_array.get(),
            layouts[0],
            b_array.get(),
            layouts[1],
            on_device ? scalars.get() + 1 : &beta,
            d_array.get(),
            layouts[2],
            d_array.get(),
            layouts[2],
            nullptr,
            nullptr,
            0,
            nullptr),
        CUBLAS_STATUS_SUCCESS);
    for (auto* const made : layouts) {
      EXPECT_EQ(cublasLtMatrixLayoutDestroy(made), CUBLAS_STATUS_SUCCESS);
    }
    std::vector<Wide> wanted(c_values.begin(), c_values.end());
    for (int batch = 0; batch < kBatch; ++batch) {
      const Matrix product = apply(operation_a, a.dense(a_values, batch)) *
          apply(operation_b, b.dense(b_values, batch));
      for (int i = 0; i < kM; ++i) {
        for (int j = 0; j < kN; ++j) {
          Wide& one = wanted[static_cast<std::size_t>(c.at(batch, i, j))];
          one = Wide(alpha) * product(i, j) + Wide(beta) * one;
        }
      }
    }
    const auto found = d_array.values();
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_LE(
          std::abs(Wide(found[i]) - wanted[i]), sizeof(R) == 4 ? 2e-5 : 1e-13)
          << "at " << i;
    }
  }

  void expect_refused(cudaDataType_t type) {
    const Array<T> array(random<T>(16, 1));
    const T one = 1;
    cublasLtMatrixLayout_t made = nullptr;
    EXPECT_EQ(
        cublasLtMatrixLayoutCreate(&made, type, 4, 4, 4),
        CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(
        cublasLtMatmul(
            handle,
            desc,
            &one,
            array.get(),
            made,
            array.get(),
            made,
            &one,
            array.get(),
            made,
            array.get(),
            made,
            nullptr,
            nullptr,
            0,
            nullptr),
        CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT_EQ(cublasLtMatrixLayoutDestroy(made), CUBLAS_STATUS_SUCCESS);
  }

  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t desc = nullptr;
};

using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexProducts, Types);

TYPED_TEST(ComplexProducts, HaveAllOperationsAndOrders) {
  using T = std::complex<TypeParam>;
  constexpr cublasOperation_t kAll[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
  for (const cublasOperation_t a : kAll) {
    for (const cublasOperation_t b : kAll) {
      for (const bool by_rows : {false, true}) {
        this->expect(a, b, by_rows, T(2, -1), T(0, 3), false);
      }
    }
  }
}

TYPED_TEST(ComplexProducts, HaveScalarsOnTheDevice) {
  using T = std::complex<TypeParam>;
  this->expect(CUBLAS_OP_N, CUBLAS_OP_C, false, T(0, 1), T(0, 1), true);
  this->expect(CUBLAS_OP_N, CUBLAS_OP_C, false, T(1, 1), T(0), true);
}

TYPED_TEST(ComplexProducts, HaveNoEpilogue) {
  this->set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU);
  this->expect_refused(this->kType);
}

TYPED_TEST(ComplexProducts, AreOfComplexMatrices) {
  this->expect_refused(this->kType == CUDA_C_32F ? CUDA_R_32F : CUDA_R_64F);
}

} // namespace
} // namespace accelerator::blas::testing

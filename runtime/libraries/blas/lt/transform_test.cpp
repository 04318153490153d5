// cublasLtMatrixTransform, and products of matrices in tiles.
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr auto kGood = CUBLAS_STATUS_SUCCESS;
constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kUnsupported = CUBLAS_STATUS_NOT_SUPPORTED;
constexpr cublasLtOrder_t kOrders[] = {
    CUBLASLT_ORDER_COL,
    CUBLASLT_ORDER_ROW,
    CUBLASLT_ORDER_COL32,
    CUBLASLT_ORDER_COL4_4R2_8C,
    CUBLASLT_ORDER_COL32_2R_4R4};

int rounded_up(int value, int to) {
  return (value + to - 1) / to * to;
}

/// A matrix's rows and columns in the order of its memory, as cuBLASLt's header
/// has it in words; gaps have rows and columns outside.
std::vector<std::pair<int, int>> walk(
    cublasLtOrder_t order,
    int rows,
    int columns) {
  std::vector<std::pair<int, int>> places;
  const auto block = [&](int row, int column, int down, int step, int across) {
    for (int i = 0; i < down; ++i) {
      for (int j = 0; j < across; ++j) {
        places.emplace_back(row + i * step, column + j);
      }
    }
  };
  switch (order) {
    case CUBLASLT_ORDER_COL:
      for (int j = 0; j < columns; ++j) {
        block(0, j, rows, 1, 1);
      }
      break;
    case CUBLASLT_ORDER_ROW:
      block(0, 0, rows, 1, columns);
      break;
    case CUBLASLT_ORDER_COL32:
      for (int j = 0; j < columns; j += 32) {
        block(0, j, rows, 1, 32);
      }
      break;
    case CUBLASLT_ORDER_COL4_4R2_8C:
      for (int j = 0; j < columns; j += 32) {
        for (int i = 0; i < rows; i += 8) {
          for (const int odd : {0, 1}) {
            for (int k = 0; k < 32; k += 4) {
              block(i + odd, j + k, 4, 2, 4);
            }
          }
        }
      }
      break;
    default:
      for (int j = 0; j < columns; j += 32) {
        for (int i = 0; i < rows; i += 32) {
          for (int pair = 0; pair < 8; pair += 2) {
            for (int eight = 0; eight < 32; eight += 8) {
              block(i + eight + pair, j, 2, 1, 32);
            }
          }
        }
      }
  }
  return places;
}

int leading_of(cublasLtOrder_t order, int rows, int columns) {
  switch (order) {
    case CUBLASLT_ORDER_COL:
      return rows;
    case CUBLASLT_ORDER_ROW:
      return columns;
    case CUBLASLT_ORDER_COL32:
      return 32 * rows;
    case CUBLASLT_ORDER_COL4_4R2_8C:
      return 32 * rounded_up(rows, 8);
    default:
      return 32 * rounded_up(rows, 32);
  }
}

/// A layout that is destroyed.
class Layout {
 public:
  Layout(
      cudaDataType_t type,
      int rows,
      int columns,
      cublasLtOrder_t order = CUBLASLT_ORDER_COL,
      int leading = 0) {
    EXPECT_EQ(
        cublasLtMatrixLayoutCreate(
            &layout_,
            type,
            rows,
            columns,
            leading != 0 ? leading : leading_of(order, rows, columns)),
        kGood);
    set(CUBLASLT_MATRIX_LAYOUT_ORDER, order);
  }
  ~Layout() {
    EXPECT_EQ(cublasLtMatrixLayoutDestroy(layout_), kGood);
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  template <typename T>
  void set(cublasLtMatrixLayoutAttribute_t attribute, T value) {
    EXPECT_EQ(
        cublasLtMatrixLayoutSetAttribute(
            layout_, attribute, &value, sizeof(value)),
        kGood);
  }
  operator cublasLtMatrixLayout_t() const {
    return layout_;
  }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class TransformTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cublasLtCreate(&handle), kGood);
    ASSERT_EQ(cublasLtMatrixTransformDescCreate(&transform, CUDA_R_32F), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cublasLtMatrixTransformDescDestroy(transform), kGood);
    EXPECT_EQ(cublasLtDestroy(handle), kGood);
  }
  template <typename T>
  void set(cublasLtMatrixTransformDescAttributes_t attribute, T value) const {
    ASSERT_EQ(
        cublasLtMatrixTransformDescSetAttribute(
            transform, attribute, &value, sizeof(value)),
        kGood);
  }
  /// C = A, in the order of C.
  cublasStatus_t copy(
      const void* a,
      cublasLtMatrixLayout_t a_layout,
      void* c,
      cublasLtMatrixLayout_t c_layout) const {
    const float one = 1, zero = 0;
    return cublasLtMatrixTransform(
        handle,
        transform,
        &one,
        a,
        a_layout,
        &zero,
        nullptr,
        nullptr,
        c,
        c_layout,
        nullptr);
  }

  cublasLtHandle_t handle = nullptr;
  cublasLtMatrixTransformDesc_t transform = nullptr;
};

TEST_F(TransformTest, AllOrders) {
  constexpr int kRows = 37, kColumns = 45;
  std::vector<std::int8_t> values(kRows * kColumns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int8_t>(i * 7 % 251);
  }
  const Array<std::int8_t> plain(values);
  const Layout plain_layout(CUDA_R_8I, kRows, kColumns);
  for (const auto from : kOrders) {
    const auto from_places = walk(from, kRows, kColumns);
    const Array<std::int8_t> a(
        std::vector<std::int8_t>(from_places.size(), 99));
    const Layout a_layout(CUDA_R_8I, kRows, kColumns, from);
    ASSERT_EQ(copy(plain.get(), plain_layout, a.get(), a_layout), kGood);
    for (const auto to : kOrders) {
      SCOPED_TRACE(::testing::Message() << from << " to " << to);
      const auto places = walk(to, kRows, kColumns);
      const Array<std::int8_t> c(std::vector<std::int8_t>(places.size(), 99));
      const Layout c_layout(CUDA_R_8I, kRows, kColumns, to);
      ASSERT_EQ(copy(a.get(), a_layout, c.get(), c_layout), kGood);
      std::vector<std::int8_t> wanted;
      for (const auto& [row, column] : places) {
        const bool is_there = row < kRows && column < kColumns;
        wanted.push_back(is_there ? values[column * kRows + row] : 99);
      }
      EXPECT_EQ(c.values(), wanted);
    }
  }
}

// C = 2 * A + 0.5 * transpose of B, of other types, with gaps, in a batch.
TEST_F(TransformTest, ScaledSum) {
  set(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, CUBLAS_OP_T);
  const Array<std::int32_t> a({1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  const Array<float> b({2, 4, 6, 0, 8, 10, 12, 0, 1, 3, 5, 0, 7, 9, 11, 0});
  Layout a_layout(CUDA_R_32I, 2, 3),
      b_layout(CUDA_R_32F, 3, 2, CUBLASLT_ORDER_COL, 4);
  Layout c_layout(CUDA_R_64F, 2, 3, CUBLASLT_ORDER_ROW);
  for (Layout* const layout : {&a_layout, &b_layout, &c_layout}) {
    layout->set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, std::int32_t{2});
  }
  a_layout.set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{6});
  b_layout.set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{8});
  c_layout.set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{6});
  const std::vector<double> wanted{
      3, 8, 13, 8, 13, 18, 20.5, 61.5, 102.5, 43.5, 84.5, 125.5};
  const float alpha = 2, beta = 0.5;
  const Array<float> factors({2, 0.5});
  for (const auto mode :
       {CUBLASLT_POINTER_MODE_HOST, CUBLASLT_POINTER_MODE_DEVICE}) {
    set(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, mode);
    const bool on_host = mode == CUBLASLT_POINTER_MODE_HOST;
    const Array<double> c(std::vector<double>(12));
    ASSERT_EQ(
        cublasLtMatrixTransform(
            handle,
            transform,
            on_host ? &alpha : factors.get(),
            a.get(),
            a_layout,
            on_host ? &beta : factors.get() + 1,
            b.get(),
            b_layout,
            c.get(),
            c_layout,
            nullptr),
        kGood);
    EXPECT_EQ(c.values(), wanted);
  }
}

TEST_F(TransformTest, IntegersAreExactAndSaturated) {
  set(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, CUDA_R_32I);
  const Array<std::int32_t> a({123456789, -5, 100, -100});
  const Layout wide(CUDA_R_32I, 2, 2), narrow(CUDA_R_8I, 2, 2);
  const std::int32_t three = 3, two = 2;
  const Array<std::int32_t> c(std::vector<std::int32_t>(4));
  const auto scale = [&](void* result, cublasLtMatrixLayout_t layout) {
    return cublasLtMatrixTransform(
        handle,
        transform,
        &three,
        a.get(),
        wide,
        &two,
        a.get(),
        wide,
        result,
        layout,
        nullptr);
  };
  ASSERT_EQ(scale(c.get(), wide), kGood);
  EXPECT_EQ(c.values(), (std::vector<std::int32_t>{617283945, -25, 500, -500}));
  const Array<std::int8_t> bytes(std::vector<std::int8_t>(4));
  ASSERT_EQ(scale(bytes.get(), narrow), kGood);
  EXPECT_EQ(bytes.values(), (std::vector<std::int8_t>{127, -25, 127, -128}));
  const Layout real(CUDA_R_32F, 2, 2);
  EXPECT_EQ(scale(c.get(), real), kUnsupported);
}

// The transposed matrix may take the place of the matrix.
TEST_F(TransformTest, InPlace) {
  set(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, CUBLAS_OP_T);
  const Array<float> a({1, 2, 3, 4});
  const Layout layout(CUDA_R_32F, 2, 2);
  ASSERT_EQ(copy(a.get(), layout, a.get(), layout), kGood);
  EXPECT_EQ(a.values(), (std::vector<float>{1, 3, 2, 4}));
}

TEST_F(TransformTest, WhatIsWrong) {
  const Array<float> a(std::vector<float>(64));
  const Layout layout(CUDA_R_32F, 4, 4), other(CUDA_R_32F, 4, 5);
  const Layout overlapping(CUDA_R_32F, 4, 4, CUBLASLT_ORDER_COL, 3);
  const Layout complex(CUDA_C_32F, 4, 4);
  EXPECT_EQ(copy(a.get(), layout, a.get(), other), kInvalid);
  EXPECT_EQ(copy(a.get(), overlapping, a.get(), layout), kInvalid);
  EXPECT_EQ(copy(nullptr, layout, a.get(), layout), kInvalid);
  EXPECT_EQ(copy(a.get(), nullptr, a.get(), layout), kInvalid);
  EXPECT_EQ(copy(a.get(), layout, nullptr, layout), kInvalid);
  EXPECT_EQ(copy(a.get(), complex, a.get(), complex), kUnsupported);
  // Planes of complex numbers are not passed over.
  cublasLtMatrixLayout_t planar = complex;
  const std::int64_t offset = 256;
  EXPECT_EQ(
      cublasLtMatrixLayoutSetAttribute(
          planar, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, &offset, sizeof(offset)),
      kUnsupported);
  set(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, CUDA_C_32F);
  EXPECT_EQ(copy(a.get(), layout, a.get(), layout), kUnsupported);
}

TEST_F(TransformTest, Attributes) {
  cublasLtMatrixTransformDescOpaque_t memory;
  ASSERT_EQ(cublasLtMatrixTransformDescInit(&memory, CUDA_R_64F), kGood);
  const auto expect = [&](auto attribute, auto wanted) {
    auto value = decltype(wanted)();
    std::size_t written = 0;
    EXPECT_EQ(
        cublasLtMatrixTransformDescGetAttribute(
            &memory, attribute, &value, sizeof(value), &written),
        kGood);
    EXPECT_EQ(value, wanted);
    EXPECT_EQ(written, sizeof(value));
  };
  expect(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, CUDA_R_64F);
  expect(
      CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_HOST);
  expect(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, CUBLAS_OP_N);
  expect(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, CUBLAS_OP_N);
}

/// As NVIDIA's example LtIgemmTensor: C = A * B of 8-bit integers, in tiles.
class TilesTest : public TransformTest {
 protected:
  static constexpr int kM = 21, kN = 35, kK = 70;

  void SetUp() override {
    TransformTest::SetUp();
    ASSERT_EQ(
        cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32I, CUDA_R_32I),
        kGood);
    const cublasOperation_t turned = CUBLAS_OP_T;
    ASSERT_EQ(
        cublasLtMatmulDescSetAttribute(
            product, CUBLASLT_MATMUL_DESC_TRANSB, &turned, sizeof(turned)),
        kGood);
  }
  void TearDown() override {
    TransformTest::TearDown();
    EXPECT_EQ(cublasLtMatmulDescDestroy(product), kGood);
  }
  static std::vector<std::int8_t> bytes(int count, int factor) {
    std::vector<std::int8_t> values(count);
    for (int i = 0; i < count; ++i) {
      values[i] = static_cast<std::int8_t>(i * factor % 256 - 128);
    }
    return values;
  }
  cublasStatus_t multiply(
      const Array<std::int8_t>& a,
      const Layout& a_layout,
      const Array<std::int8_t>& b,
      const Layout& b_layout,
      const Array<std::int32_t>& c,
      const Layout& c_layout) const {
    const std::int32_t one = 1, zero = 0;
    return cublasLtMatmul(
        handle,
        product,
        &one,
        a.get(),
        a_layout,
        b.get(),
        b_layout,
        &zero,
        c.get(),
        c_layout,
        c.get(),
        c_layout,
        nullptr,
        nullptr,
        0,
        nullptr);
  }

  cublasLtMatmulDesc_t product = nullptr;
};

TEST_F(TilesTest, Product) {
  const auto a_values = bytes(kM * kK, 37), b_values = bytes(kK * kN, 91);
  std::vector<std::int32_t> wanted(kM * kN);
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) {
      for (int k = 0; k < kK; ++k) {
        wanted[j * kM + i] += a_values[k * kM + i] * b_values[j * kK + k];
      }
    }
  }
  const Array<std::int8_t> a(a_values), b(b_values);
  const Layout a_plain(CUDA_R_8I, kM, kK), b_plain(CUDA_R_8I, kK, kN);
  const Layout a_layout(CUDA_R_8I, kM, kK, CUBLASLT_ORDER_COL32);
  const Layout c_layout(CUDA_R_32I, kM, kN, CUBLASLT_ORDER_COL32);
  const Layout c_plain(CUDA_R_32I, kM, kN);
  const Array<std::int8_t> a_tiles(
      std::vector<std::int8_t>(walk(CUBLASLT_ORDER_COL32, kM, kK).size()));
  ASSERT_EQ(copy(a.get(), a_plain, a_tiles.get(), a_layout), kGood);
  for (const auto order :
       {CUBLASLT_ORDER_COL4_4R2_8C, CUBLASLT_ORDER_COL32_2R_4R4}) {
    const Layout b_layout(CUDA_R_8I, kN, kK, order);
    const Array<std::int8_t> b_tiles(
        std::vector<std::int8_t>(walk(order, kN, kK).size()));
    set(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, CUBLAS_OP_T);
    ASSERT_EQ(copy(b.get(), b_plain, b_tiles.get(), b_layout), kGood);
    set(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, CUBLAS_OP_N);
    const Array<std::int32_t> c_tiles(
        std::vector<std::int32_t>(walk(CUBLASLT_ORDER_COL32, kM, kN).size()));
    ASSERT_EQ(
        multiply(a_tiles, a_layout, b_tiles, b_layout, c_tiles, c_layout),
        kGood);
    const Array<std::int32_t> c(std::vector<std::int32_t>(kM * kN));
    ASSERT_EQ(copy(c_tiles.get(), c_layout, c.get(), c_plain), kGood);
    EXPECT_EQ(c.values(), wanted);
    // B has to be transposed, and C in the order of A.
    EXPECT_EQ(
        multiply(a_tiles, a_layout, b_tiles, b_layout, c, c_plain),
        kUnsupported);
  }
}

} // namespace
} // namespace accelerator::blas::testing

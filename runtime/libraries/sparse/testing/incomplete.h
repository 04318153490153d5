// What tests of incomplete factorizations share.
#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

#include "runtime/libraries/sparse/testing/matrices.h"
#include "runtime/libraries/sparse/testing/triangles.h"

namespace accelerator::sparse::testing {

// clang-format off
#define ACCEL_FUNCTIONS(Name, L, ApiType, RealType, type)              \
  struct Name {                                                        \
    using Api = ApiType;                                               \
    static constexpr cudaDataType kType = type;                        \
    static constexpr double kTolerance =                               \
        1000 * std::numeric_limits<RealType>::epsilon();               \
    static constexpr auto lu_size = cusparse##L##csrilu02_bufferSize;  \
    static constexpr auto lu_analysis = cusparse##L##csrilu02_analysis; \
    static constexpr auto lu = cusparse##L##csrilu02;                  \
    static constexpr auto lu_boost = cusparse##L##csrilu02_numericBoost; \
    static constexpr auto cholesky_size = cusparse##L##csric02_bufferSize; \
    static constexpr auto cholesky_analysis = cusparse##L##csric02_analysis; \
    static constexpr auto cholesky = cusparse##L##csric02;             \
    static constexpr auto blu_size = cusparse##L##bsrilu02_bufferSize; \
    static constexpr auto blu_analysis = cusparse##L##bsrilu02_analysis; \
    static constexpr auto blu = cusparse##L##bsrilu02;                 \
    static constexpr auto blu_boost = cusparse##L##bsrilu02_numericBoost; \
    static constexpr auto bcholesky_size = cusparse##L##bsric02_bufferSize; \
    static constexpr auto bcholesky_analysis = cusparse##L##bsric02_analysis; \
    static constexpr auto bcholesky = cusparse##L##bsric02;            \
  };
ACCEL_FUNCTIONS(IncompleteSingle, S, float, float, CUDA_R_32F)
ACCEL_FUNCTIONS(IncompleteDouble, D, double, double, CUDA_R_64F)
ACCEL_FUNCTIONS(IncompleteSingleComplex, C, cuComplex, float, CUDA_C_32F)
ACCEL_FUNCTIONS(IncompleteDoubleComplex, Z, cuDoubleComplex, double, CUDA_C_64F)
#undef ACCEL_FUNCTIONS
// clang-format on

template <typename F>
class IncompleteTest : public SparseTest {
 protected:
  using Api = typename F::Api;
  static constexpr int kRows = 12, kBlock = 2, kNoZero = -1;
  static constexpr auto kLevels = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  static constexpr auto kNoLevels = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
  static constexpr auto kZeroPivot = CUSPARSE_STATUS_ZERO_PIVOT;

  void SetUp() override {
    SparseTest::SetUp();
    ASSERT_EQ(cusparseCreateMatDescr(&description), kGood);
    ASSERT_EQ(
        cusparseSetMatIndexBase(description, CUSPARSE_INDEX_BASE_ONE), kGood);
    ASSERT_EQ(cusparseCreateCsrilu02Info(&lu), kGood);
    ASSERT_EQ(cusparseCreateBsrilu02Info(&block_lu), kGood);
    ASSERT_EQ(cusparseCreateCsric02Info(&cholesky), kGood);
    ASSERT_EQ(cusparseCreateBsric02Info(&block_cholesky), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cusparseDestroyCsrilu02Info(lu), kGood);
    EXPECT_EQ(cusparseDestroyBsrilu02Info(block_lu), kGood);
    EXPECT_EQ(cusparseDestroyCsric02Info(cholesky), kGood);
    EXPECT_EQ(cusparseDestroyBsric02Info(block_cholesky), kGood);
    EXPECT_EQ(cusparseDestroyMatDescr(description), kGood);
    SparseTest::TearDown();
  }
  static Storage storage_of(
      cusparseFormat_t format,
      cusparseOrder_t order = CUSPARSE_ORDER_ROW) {
    Storage storage{format, F::kType};
    storage.base = CUSPARSE_INDEX_BASE_ONE;
    storage.block = kBlock;
    storage.order = order;
    return storage;
  }
  /// With entries on all of its diagonal, which are the largest of their rows;
  /// `block` by `block` of them are there together.
  static Matrix dominant(unsigned seed, int block = 1) {
    Matrix matrix = sparse_matrix(kRows, kRows, F::kType, seed, block);
    const Matrix full = full_matrix(kRows, kRows, F::kType, seed + 1);
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kRows; ++j) {
        if (i / block == j / block) {
          matrix(i, j) = full(i, j);
        }
      }
      matrix(i, i) += 40;
    }
    return matrix;
  }
  static Matrix definite(unsigned seed, int block = 1) {
    Matrix matrix = dominant(seed, block);
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < i; ++j) {
        matrix(j, i) = std::conj(matrix(i, j));
      }
      matrix(i, i) = 100;
    }
    return matrix;
  }
  static Api* elements(const Sparse& a) {
    return static_cast<Api*>(a.values.get());
  }
  static int* integers(const Indices& indices) {
    return static_cast<int*>(indices.get());
  }
  static int nnz(const Sparse& a) {
    return static_cast<int>(a.arrays.nnz);
  }
  /// The elements that a matrix has now, as a matrix.
  static Matrix read(const Sparse& a, const Storage& storage) {
    const std::vector<Wide> values = a.values.read();
    Matrix result(kRows, kRows);
    const int block = storage.format == CUSPARSE_FORMAT_BSR ? kBlock : 1;
    for (int line = 0; line < kRows / block; ++line) {
      for (auto k = a.arrays.offsets[line] - 1;
           k < a.arrays.offsets[line + 1] - 1;
           ++k) {
        const auto column = static_cast<int>(a.arrays.indices[k] - 1) * block;
        for (int i = 0; i < block * block; ++i) {
          const bool by_rows = storage.order == CUSPARSE_ORDER_ROW;
          const int down = by_rows ? i / block : i % block;
          const int along = by_rows ? i % block : i / block;
          result(line * block + down, column + along) =
              values[k * block * block + i];
        }
      }
    }
    return result;
  }
  /// That a product is the matrix where that has entries.
  static void expect_product(
      const Matrix& product,
      const Matrix& wanted,
      const std::function<bool(int, int)>& is_entry) {
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kRows; ++j) {
        if (is_entry(i, j)) {
          EXPECT_NEAR(
              std::abs(product(i, j) - wanted(i, j)), 0, 40 * F::kTolerance)
              << i << ", " << j;
        }
      }
    }
  }
  void expect_lu(const Matrix& factors, const Matrix& wanted, int block) const {
    expect_product(
        triangle_of(factors, false, true) * triangle_of(factors, true, false),
        wanted,
        [&](int i, int j) { return is_entry(wanted, i, j, block); });
  }
  void expect_cholesky(const Matrix& factors, const Matrix& wanted, int block)
      const {
    const Matrix lower = triangle_of(factors, false, false);
    expect_product(lower * apply(kConj, lower), wanted, [&](int i, int j) {
      return i >= j && is_entry(wanted, i, j, block);
    });
    // The rest is as it was.
    for (int i = 0; i < kRows; ++i) {
      for (int j = i + 1; j < kRows; ++j) {
        EXPECT_EQ(factors(i, j), wanted(i, j)) << i << ", " << j;
      }
    }
  }
  static bool is_entry(const Matrix& a, int i, int j, int block) {
    for (int k = 0; k < block * block; ++k) {
      if (a(i / block * block + k / block, j / block * block + k % block) !=
          Wide()) {
        return true;
      }
    }
    return false;
  }
  cusparseStatus_t analyse_lu(
      const Sparse& a,
      cusparseSolvePolicy_t policy = kLevels) const {
    return F::lu_analysis(
        handle,
        kRows,
        nnz(a),
        description,
        elements(a),
        integers(a.offsets),
        integers(a.indices),
        lu,
        policy,
        work.get());
  }
  cusparseStatus_t factor_lu(
      const Sparse& a,
      cusparseSolvePolicy_t policy = kLevels,
      std::ptrdiff_t from = 0) const {
    return F::lu(
        handle,
        kRows,
        nnz(a),
        description,
        elements(a),
        integers(a.offsets),
        integers(a.indices),
        lu,
        policy,
        work.template get<char>() + from);
  }
  void expect_zero(int wanted) const {
    int position = 7;
    EXPECT_EQ(
        cusparseXcsrilu02_zeroPivot(handle, lu, &position),
        wanted == kNoZero ? kGood : kZeroPivot);
    EXPECT_EQ(position, wanted);
  }

  cusparseMatDescr_t description = nullptr;
  csrilu02Info_t lu = nullptr;
  bsrilu02Info_t block_lu = nullptr;
  csric02Info_t cholesky = nullptr;
  bsric02Info_t block_cholesky = nullptr;
};

using IncompleteTypes = ::testing::Types<
    IncompleteSingle,
    IncompleteDouble,
    IncompleteSingleComplex,
    IncompleteDoubleComplex>;

} // namespace accelerator::sparse::testing

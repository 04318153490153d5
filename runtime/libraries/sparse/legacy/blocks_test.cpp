// Matrices in BSR as the older functions have them: products and solutions.
#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/matrices.h"
#include "runtime/libraries/sparse/testing/triangles.h"

namespace accelerator::sparse::testing {
namespace {

constexpr int kBlock = 2, kBlockRows = 3, kBlockColumns = 4, kWidth = 3;
constexpr auto kPolicy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;

// clang-format off
#define ACCEL_FUNCTIONS(Name, L, ApiType, type)                              \
  struct Name {                                                              \
    using Api = ApiType;                                                     \
    static constexpr cudaDataType kType = type;                              \
    static constexpr auto bsrmv = cusparse##L##bsrmv;                        \
    static constexpr auto bsrmm = cusparse##L##bsrmm;                        \
    static constexpr auto bsrsv2_size = cusparse##L##bsrsv2_bufferSize;      \
    static constexpr auto bsrsv2_analysis = cusparse##L##bsrsv2_analysis;    \
    static constexpr auto bsrsv2_solve = cusparse##L##bsrsv2_solve;          \
    static constexpr auto bsrsm2_size = cusparse##L##bsrsm2_bufferSize;      \
    static constexpr auto bsrsm2_analysis = cusparse##L##bsrsm2_analysis;    \
    static constexpr auto bsrsm2_solve = cusparse##L##bsrsm2_solve;          \
  };
ACCEL_FUNCTIONS(Single, S, float, CUDA_R_32F)
ACCEL_FUNCTIONS(Double, D, double, CUDA_R_64F)
ACCEL_FUNCTIONS(SingleComplex, C, cuComplex, CUDA_C_32F)
ACCEL_FUNCTIONS(DoubleComplex, Z, cuDoubleComplex, CUDA_C_64F)
#undef ACCEL_FUNCTIONS
// clang-format on

template <typename F>
class BlocksTest : public SparseTest {
 protected:
  using Api = typename F::Api;

  void SetUp() override {
    SparseTest::SetUp();
    ASSERT_EQ(cusparseCreateMatDescr(&description), kGood);
    ASSERT_EQ(cusparseCreateBsrsv2Info(&of_vector), kGood);
    ASSERT_EQ(cusparseCreateBsrsm2Info(&of_matrix), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cusparseDestroyMatDescr(description), kGood);
    EXPECT_EQ(cusparseDestroyBsrsv2Info(of_vector), kGood);
    EXPECT_EQ(cusparseDestroyBsrsm2Info(of_matrix), kGood);
    SparseTest::TearDown();
  }
  static Storage storage_of(cusparseDirection_t direction) {
    Storage storage{CUSPARSE_FORMAT_BSR, F::kType};
    storage.base = CUSPARSE_INDEX_BASE_ONE;
    storage.order = direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW
                                                        : CUSPARSE_ORDER_COL;
    return storage;
  }
  static Api* elements(const Values& values) {
    return static_cast<Api*>(values.get());
  }
  static int* integers(const Indices& indices) {
    return static_cast<int*>(indices.get());
  }
  static const Api* scalar(const Number& number) {
    return static_cast<const Api*>(number.get());
  }
  /// A block triangle, all of whose diagonal blocks are there.
  static Matrix solvable_blocks(unsigned seed) {
    constexpr int kN = kBlock * kBlockRows;
    const Matrix full = full_matrix(kN, kN, F::kType, seed);
    Matrix matrix = solvable_matrix(kN, F::kType, seed);
    for (int i = 0; i < kN; ++i) {
      for (int j = 0; j < kN; ++j) {
        const bool is_diagonal = i / kBlock == j / kBlock;
        if (i != j && (is_diagonal || i / kBlock == 0 || j / kBlock == 0)) {
          matrix(i, j) = full(i, j);
        }
      }
    }
    return matrix;
  }

  cusparseMatDescr_t description = nullptr;
  bsrsv2Info_t of_vector = nullptr;
  bsrsm2Info_t of_matrix = nullptr;
};

using AllTypes = ::testing::Types<Single, Double, SingleComplex, DoubleComplex>;
TYPED_TEST_SUITE(BlocksTest, AllTypes);

TYPED_TEST(BlocksTest, Products) {
  using F = TypeParam;
  ASSERT_EQ(
      cusparseSetMatIndexBase(this->description, CUSPARSE_INDEX_BASE_ONE),
      kGood);
  for (const auto direction :
       {CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN}) {
    const Matrix first = sparse_matrix(6, 8, F::kType, 1, kBlock);
    const Sparse a(first, this->storage_of(direction));
    const auto nnz = static_cast<int>(a.arrays.nnz);
    const Matrix vector = full_matrix(8, 1, F::kType, 2);
    const Values x(F::kType, vector.values);
    const Values y(F::kType, std::vector<Wide>(6, 1));
    const Number alpha(F::kType, 2), beta(F::kType, 3);
    ASSERT_EQ(
        F::bsrmv(
            this->handle,
            direction,
            kNone,
            kBlockRows,
            kBlockColumns,
            nnz,
            this->scalar(alpha),
            this->description,
            this->elements(a.values),
            this->integers(a.offsets),
            this->integers(a.indices),
            kBlock,
            this->elements(x),
            this->scalar(beta),
            this->elements(y)),
        kGood);
    Matrix wanted = first * vector;
    for (Wide& value : wanted.values) {
      value = 2.0 * value + 3.0;
    }
    EXPECT_EQ(y.read(), wanted.values);
    for (const cusparseOperation_t op : {kNone, kTurn}) {
      const Matrix right = op == kNone ? full_matrix(8, kWidth, F::kType, 3)
                                       : full_matrix(kWidth, 8, F::kType, 3);
      const Dense b(right, F::kType);
      const Dense c(full_matrix(6, kWidth, F::kType, 4), F::kType);
      Matrix sum = first * apply(op, right);
      const Matrix old = c.read();
      for (std::size_t i = 0; i < sum.values.size(); ++i) {
        sum.values[i] = 2.0 * sum.values[i] + 3.0 * old.values[i];
      }
      const auto multiply = [&](cusparseOperation_t op_a, int ldb) {
        return F::bsrmm(
            this->handle,
            direction,
            op_a,
            op,
            kBlockRows,
            kWidth,
            kBlockColumns,
            nnz,
            this->scalar(alpha),
            this->description,
            this->elements(a.values),
            this->integers(a.offsets),
            this->integers(a.indices),
            kBlock,
            this->elements(b.values),
            ldb,
            this->scalar(beta),
            this->elements(c.values),
            6 + 2);
      };
      ASSERT_EQ(multiply(kNone, right.rows + 2), kGood);
      expect_equal(c.read(), sum);
      EXPECT_EQ(multiply(kNone, right.rows - 1), kInvalid);
      EXPECT_EQ(multiply(kTurn, right.rows + 2), kUnsupported);
    }
  }
}

TYPED_TEST(BlocksTest, Solutions) {
  using F = TypeParam;
  constexpr int kN = kBlock * kBlockRows;
  ASSERT_EQ(
      cusparseSetMatIndexBase(this->description, CUSPARSE_INDEX_BASE_ONE),
      kGood);
  for (const auto direction :
       {CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN}) {
    for (const bool is_upper : {false, true}) {
      for (const cusparseOperation_t op : kOperations) {
        SCOPED_TRACE(::testing::Message() << direction << is_upper << op);
        ASSERT_EQ(
            cusparseSetMatFillMode(
                this->description,
                is_upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER),
            kGood);
        const Matrix full = this->solvable_blocks(5);
        const Sparse a(full, this->storage_of(direction));
        const auto nnz = static_cast<int>(a.arrays.nnz);
        const Matrix wanted = full_matrix(kN, kWidth, F::kType, 6);
        const Matrix sides =
            apply(op, triangle_of(full, is_upper, false)) * wanted;
        const Number alpha(F::kType, 1);
        int size = 0, position = 7;
        // The first column alone.
        const Values b(
            F::kType, {sides.values.begin(), sides.values.begin() + kN});
        const Values x(F::kType, std::vector<Wide>(kN));
        ASSERT_EQ(
            F::bsrsv2_size(
                this->handle,
                direction,
                op,
                kBlockRows,
                nnz,
                this->description,
                this->elements(a.values),
                this->integers(a.offsets),
                this->integers(a.indices),
                kBlock,
                this->of_vector,
                &size),
            kGood);
        ASSERT_GT(size, 0);
        ASSERT_EQ(
            F::bsrsv2_analysis(
                this->handle,
                direction,
                op,
                kBlockRows,
                nnz,
                this->description,
                this->elements(a.values),
                this->integers(a.offsets),
                this->integers(a.indices),
                kBlock,
                this->of_vector,
                kPolicy,
                this->work.get()),
            kGood);
        ASSERT_EQ(
            cusparseXbsrsv2_zeroPivot(this->handle, this->of_vector, &position),
            kGood);
        EXPECT_EQ(position, -1);
        ASSERT_EQ(
            F::bsrsv2_solve(
                this->handle,
                direction,
                op,
                kBlockRows,
                nnz,
                this->scalar(alpha),
                this->description,
                this->elements(a.values),
                this->integers(a.offsets),
                this->integers(a.indices),
                kBlock,
                this->of_vector,
                this->elements(b),
                this->elements(x),
                kPolicy,
                this->work.get()),
            kGood);
        EXPECT_EQ(
            x.read(),
            std::vector<Wide>(
                wanted.values.begin(), wanted.values.begin() + kN));
        for (const cusparseOperation_t op_x : {kNone, kTurn}) {
          const Matrix stored = apply(op_x, sides);
          const Dense right(stored, F::kType);
          const Dense got(Matrix(stored.rows, stored.columns), F::kType);
          size = 0;
          ASSERT_EQ(
              F::bsrsm2_size(
                  this->handle,
                  direction,
                  op,
                  op_x,
                  kBlockRows,
                  kWidth,
                  nnz,
                  this->description,
                  this->elements(a.values),
                  this->integers(a.offsets),
                  this->integers(a.indices),
                  kBlock,
                  this->of_matrix,
                  &size),
              kGood);
          ASSERT_GT(size, 0);
          ASSERT_EQ(
              F::bsrsm2_analysis(
                  this->handle,
                  direction,
                  op,
                  op_x,
                  kBlockRows,
                  kWidth,
                  nnz,
                  this->description,
                  this->elements(a.values),
                  this->integers(a.offsets),
                  this->integers(a.indices),
                  kBlock,
                  this->of_matrix,
                  kPolicy,
                  this->work.get()),
              kGood);
          ASSERT_EQ(
              F::bsrsm2_solve(
                  this->handle,
                  direction,
                  op,
                  op_x,
                  kBlockRows,
                  kWidth,
                  nnz,
                  this->scalar(alpha),
                  this->description,
                  this->elements(a.values),
                  this->integers(a.offsets),
                  this->integers(a.indices),
                  kBlock,
                  this->of_matrix,
                  this->elements(right.values),
                  stored.rows + 2,
                  this->elements(got.values),
                  stored.rows + 2,
                  kPolicy,
                  this->work.get()),
              kGood);
          expect_equal(apply(op_x, got.read()), wanted);
          position = 7;
          EXPECT_EQ(
              cusparseXbsrsm2_zeroPivot(
                  this->handle, this->of_matrix, &position),
              kGood);
          EXPECT_EQ(position, -1);
        }
      }
    }
  }
}

// A block that is missing is found by the analysis, a zero by the solution.
TYPED_TEST(BlocksTest, ZeroPivots) {
  using F = TypeParam;
  constexpr int kN = kBlock * kBlockRows;
  for (const bool is_missing : {true, false}) {
    Matrix full = this->solvable_blocks(7);
    for (int k = 0; k < kBlock * kBlock; ++k) {
      const int i = 4 + k / kBlock, j = 4 + k % kBlock;
      if (is_missing || i == j) {
        full(i, j) = 0;
      }
    }
    Storage storage = this->storage_of(CUSPARSE_DIRECTION_ROW);
    storage.base = CUSPARSE_INDEX_BASE_ZERO;
    const Sparse a(full, storage);
    const auto nnz = static_cast<int>(a.arrays.nnz);
    const Values b(F::kType, std::vector<Wide>(kN, 1));
    const Number alpha(F::kType, 1);
    int position = 7;
    ASSERT_EQ(
        F::bsrsv2_analysis(
            this->handle,
            CUSPARSE_DIRECTION_ROW,
            kNone,
            kBlockRows,
            nnz,
            this->description,
            this->elements(a.values),
            this->integers(a.offsets),
            this->integers(a.indices),
            kBlock,
            this->of_vector,
            kPolicy,
            this->work.get()),
        kGood);
    EXPECT_EQ(
        cusparseXbsrsv2_zeroPivot(this->handle, this->of_vector, &position),
        is_missing ? CUSPARSE_STATUS_ZERO_PIVOT : kGood);
    EXPECT_EQ(position, is_missing ? 2 : -1);
    // One that knows nothing yet.
    ASSERT_EQ(cusparseDestroyBsrsm2Info(this->of_matrix), kGood);
    ASSERT_EQ(cusparseCreateBsrsm2Info(&this->of_matrix), kGood);
    position = 7;
    ASSERT_EQ(
        F::bsrsm2_solve(
            this->handle,
            CUSPARSE_DIRECTION_ROW,
            kNone,
            kNone,
            kBlockRows,
            1,
            nnz,
            this->scalar(alpha),
            this->description,
            this->elements(a.values),
            this->integers(a.offsets),
            this->integers(a.indices),
            kBlock,
            this->of_matrix,
            this->elements(b),
            kN,
            this->elements(b),
            kN,
            kPolicy,
            this->work.get()),
        kGood);
    EXPECT_EQ(
        cusparseXbsrsm2_zeroPivot(this->handle, this->of_matrix, &position),
        CUSPARSE_STATUS_ZERO_PIVOT);
    EXPECT_EQ(position, 2);
  }
  int position = 0;
  EXPECT_EQ(
      cusparseXbsrsv2_zeroPivot(nullptr, this->of_vector, &position),
      CUSPARSE_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(
      cusparseXbsrsm2_zeroPivot(this->handle, nullptr, &position), kInvalid);
}

TEST(BlockInfos, HaveToHaveAPlace) {
  EXPECT_EQ(cusparseCreateBsrsv2Info(nullptr), kInvalid);
  EXPECT_EQ(cusparseCreateBsrsm2Info(nullptr), kInvalid);
  EXPECT_EQ(cusparseDestroyBsrsv2Info(nullptr), kGood);
  EXPECT_EQ(cusparseDestroyBsrsm2Info(nullptr), kGood);
}

} // namespace
} // namespace accelerator::sparse::testing

// The older functions that sort, convert and add up matrices, and what they are
// told of matrices.
#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

constexpr auto kUninitialised = CUSPARSE_STATUS_NOT_INITIALIZED;
constexpr auto kNoMatrix = CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
constexpr auto kZero = CUSPARSE_INDEX_BASE_ZERO;
constexpr auto kOne = CUSPARSE_INDEX_BASE_ONE;
using Integers = std::vector<int>;

class StructureTest : public SparseTest {
 protected:
  void SetUp() override {
    SparseTest::SetUp();
    ASSERT_EQ(cusparseCreateMatDescr(&description), kGood);
    ASSERT_EQ(cusparseSetMatIndexBase(description, kOne), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cusparseDestroyMatDescr(description), kGood);
    SparseTest::TearDown();
  }

  cusparseMatDescr_t description = nullptr;
};

// As NVIDIA's library answers.
TEST_F(StructureTest, Descriptions) {
  cusparseMatDescr_t plain = nullptr;
  ASSERT_EQ(cusparseCreateMatDescr(&plain), kGood);
  EXPECT_EQ(cusparseGetMatType(plain), CUSPARSE_MATRIX_TYPE_GENERAL);
  EXPECT_EQ(cusparseGetMatFillMode(plain), CUSPARSE_FILL_MODE_LOWER);
  EXPECT_EQ(cusparseGetMatDiagType(plain), CUSPARSE_DIAG_TYPE_NON_UNIT);
  EXPECT_EQ(cusparseGetMatIndexBase(plain), kZero);
  EXPECT_EQ(cusparseSetMatType(plain, CUSPARSE_MATRIX_TYPE_HERMITIAN), kGood);
  EXPECT_EQ(cusparseSetMatFillMode(plain, CUSPARSE_FILL_MODE_UPPER), kGood);
  EXPECT_EQ(cusparseSetMatDiagType(plain, CUSPARSE_DIAG_TYPE_UNIT), kGood);
  EXPECT_EQ(cusparseSetMatIndexBase(plain, kOne), kGood);
  EXPECT_EQ(cusparseGetMatType(plain), CUSPARSE_MATRIX_TYPE_HERMITIAN);
  EXPECT_EQ(cusparseGetMatFillMode(plain), CUSPARSE_FILL_MODE_UPPER);
  EXPECT_EQ(cusparseGetMatDiagType(plain), CUSPARSE_DIAG_TYPE_UNIT);
  EXPECT_EQ(cusparseGetMatIndexBase(plain), kOne);
  EXPECT_EQ(
      cusparseSetMatType(plain, static_cast<cusparseMatrixType_t>(4)),
      kInvalid);
  EXPECT_EQ(
      cusparseSetMatFillMode(plain, static_cast<cusparseFillMode_t>(2)),
      kInvalid);
  EXPECT_EQ(
      cusparseSetMatDiagType(plain, static_cast<cusparseDiagType_t>(2)),
      kInvalid);
  EXPECT_EQ(
      cusparseSetMatIndexBase(plain, static_cast<cusparseIndexBase_t>(2)),
      kInvalid);
  EXPECT_EQ(cusparseDestroyMatDescr(plain), kGood);
  EXPECT_EQ(
      cusparseSetMatType(nullptr, CUSPARSE_MATRIX_TYPE_GENERAL),
      kUninitialised);
  EXPECT_EQ(static_cast<int>(cusparseGetMatIndexBase(nullptr)), -1);
  EXPECT_EQ(cusparseCreateMatDescr(nullptr), kInvalid);
  EXPECT_EQ(cusparseDestroyMatDescr(nullptr), kGood);
}

TEST_F(StructureTest, CoordinatesAreSorted) {
  const Integers rows{2, 0, 1, 2, 0, 1}, columns{1, 3, 0, 0, 1, 2};
  for (const bool by_row : {true, false}) {
    for (const bool permutes : {true, false}) {
      const Array<int> r(rows), c(columns), p(Integers(6, -1));
      ASSERT_EQ(cusparseCreateIdentityPermutation(handle, 6, p.get()), kGood);
      EXPECT_EQ(p.values(), (Integers{0, 1, 2, 3, 4, 5}));
      std::size_t size = 0;
      ASSERT_EQ(
          cusparseXcoosort_bufferSizeExt(
              handle, 3, 4, 6, r.get(), c.get(), &size),
          kGood);
      EXPECT_GT(size, 0U);
      ASSERT_EQ(
          (by_row ? cusparseXcoosortByRow : cusparseXcoosortByColumn)(
              handle,
              3,
              4,
              6,
              r.get(),
              c.get(),
              permutes ? p.get() : nullptr,
              work.get()),
          kGood);
      const Integers order =
          by_row ? Integers{4, 1, 2, 5, 3, 0} : Integers{2, 3, 4, 0, 5, 1};
      const Integers new_rows = r.values(), new_columns = c.values();
      for (int k = 0; k < 6; ++k) {
        EXPECT_EQ(new_rows[k], rows[order[k]]);
        EXPECT_EQ(new_columns[k], columns[order[k]]);
      }
      EXPECT_EQ(p.values(), permutes ? order : Integers({0, 1, 2, 3, 4, 5}));
    }
  }
}

TEST_F(StructureTest, LinesAreSorted) {
  for (const bool is_csr : {true, false}) {
    const Array<int> offsets(Integers{1, 4, 4, 6});
    const Array<int> indices(Integers{3, 1, 2, 4, 1});
    const Array<int> p(Integers{10, 20, 30, 40, 50});
    std::size_t size = 0;
    const int rows = is_csr ? 3 : 4, columns = is_csr ? 4 : 3;
    ASSERT_EQ(
        (is_csr ? cusparseXcsrsort_bufferSizeExt
                : cusparseXcscsort_bufferSizeExt)(
            handle, rows, columns, 5, offsets.get(), indices.get(), &size),
        kGood);
    EXPECT_GT(size, 0U);
    const auto sort = is_csr ? cusparseXcsrsort : cusparseXcscsort;
    ASSERT_EQ(
        sort(
            handle,
            rows,
            columns,
            5,
            description,
            offsets.get(),
            indices.get(),
            p.get(),
            work.get()),
        kGood);
    EXPECT_EQ(indices.values(), (Integers{1, 2, 3, 1, 4}));
    EXPECT_EQ(p.values(), (Integers{20, 30, 10, 50, 40}));
    EXPECT_EQ(
        sort(
            handle,
            rows,
            columns,
            5,
            nullptr,
            offsets.get(),
            indices.get(),
            p.get(),
            work.get()),
        kInvalid);
  }
}

TEST_F(StructureTest, OffsetsAndRows) {
  for (const auto base : {kZero, kOne}) {
    Integers wanted_offsets{0, 2, 2, 5, 5}, wanted_rows{0, 0, 2, 2, 2};
    for (Integers* const all : {&wanted_offsets, &wanted_rows}) {
      for (int& index : *all) {
        index += base;
      }
    }
    const Array<int> offsets(Integers(5, -1)), rows(Integers(5, -1));
    const Array<int> from(wanted_rows);
    ASSERT_EQ(
        cusparseXcoo2csr(handle, from.get(), 5, 4, offsets.get(), base), kGood);
    EXPECT_EQ(offsets.values(), wanted_offsets);
    ASSERT_EQ(
        cusparseXcsr2coo(handle, offsets.get(), 5, 4, rows.get(), base), kGood);
    EXPECT_EQ(rows.values(), wanted_rows);
  }
}

TEST_F(StructureTest, TransposedMatrices) {
  for (const cudaDataType type : {CUDA_R_8I, CUDA_R_16F, CUDA_C_64F}) {
    for (const bool has_values : {true, false}) {
      const Matrix matrix = sparse_matrix(5, 7, type, 1);
      Storage storage{CUSPARSE_FORMAT_CSR, type};
      storage.base = kOne;
      const Sparse csr(matrix, storage);
      storage.format = CUSPARSE_FORMAT_CSC;
      const Arrays wanted = arrays_of(matrix, storage);
      const auto nnz = static_cast<int>(csr.arrays.nnz);
      const Array<int> offsets(Integers(8, -1)), indices(Integers(nnz, -1));
      const std::vector<Wide> old(nnz, 9);
      const Values values(type, old);
      const auto action =
          has_values ? CUSPARSE_ACTION_NUMERIC : CUSPARSE_ACTION_SYMBOLIC;
      std::size_t size = 0;
      ASSERT_EQ(
          cusparseCsr2cscEx2_bufferSize(
              handle,
              5,
              7,
              nnz,
              csr.values.get(),
              static_cast<int*>(csr.offsets.get()),
              static_cast<int*>(csr.indices.get()),
              values.get(),
              offsets.get(),
              indices.get(),
              type,
              action,
              kOne,
              CUSPARSE_CSR2CSC_ALG_DEFAULT,
              &size),
          kGood);
      EXPECT_GT(size, 0U);
      ASSERT_EQ(
          cusparseCsr2cscEx2(
              handle,
              5,
              7,
              nnz,
              csr.values.get(),
              static_cast<int*>(csr.offsets.get()),
              static_cast<int*>(csr.indices.get()),
              values.get(),
              offsets.get(),
              indices.get(),
              type,
              action,
              kOne,
              CUSPARSE_CSR2CSC_ALG_DEFAULT,
              work.get()),
          kGood);
      EXPECT_EQ(
          offsets.values(),
          Integers(wanted.offsets.begin(), wanted.offsets.end()));
      EXPECT_EQ(
          indices.values(),
          Integers(wanted.indices.begin(), wanted.indices.end()));
      EXPECT_EQ(values.read(), has_values ? wanted.values : old);
    }
  }
}

template <typename Api, typename Size, typename Add>
void expect_sum(
    cusparseHandle_t handle,
    cusparseMatDescr_t description,
    cudaDataType type,
    void* work,
    Size size_of_work,
    Add add) {
  SCOPED_TRACE(type);
  const Matrix first = sparse_matrix(5, 6, type, 2);
  const Matrix second = sparse_matrix(5, 6, type, 3);
  Matrix places(5, 6), wanted(5, 6);
  for (std::size_t i = 0; i < places.values.size(); ++i) {
    const Wide a = first.values[i], b = second.values[i];
    places.values[i] = a != 0.0 || b != 0.0 ? 1 : 0;
    wanted.values[i] = 2.0 * a - b;
  }
  Storage storage{CUSPARSE_FORMAT_CSR, type};
  storage.base = kOne;
  const Sparse a(first, storage), b(second, storage);
  const Arrays structure = arrays_of(places, storage);
  const auto elements = [](const Values& values) {
    return static_cast<Api*>(values.get());
  };
  const auto integers = [](const Indices& indices) {
    return static_cast<int*>(indices.get());
  };
  const auto nnz_a = static_cast<int>(a.arrays.nnz);
  const auto nnz_b = static_cast<int>(b.arrays.nnz);
  const Number alpha(type, 2), beta(type, -1);
  const auto* const factor_a = static_cast<const Api*>(alpha.get());
  const auto* const factor_b = static_cast<const Api*>(beta.get());
  const Array<int> offsets(Integers(6, -1));
  std::size_t size = 0;
  ASSERT_EQ(
      size_of_work(
          handle,
          5,
          6,
          factor_a,
          description,
          nnz_a,
          elements(a.values),
          integers(a.offsets),
          integers(a.indices),
          factor_b,
          description,
          nnz_b,
          elements(b.values),
          integers(b.offsets),
          integers(b.indices),
          description,
          nullptr,
          offsets.get(),
          nullptr,
          &size),
      kGood);
  EXPECT_GT(size, 0U);
  const Array<int> count(Integers{-1});
  int nnz = -1;
  for (const bool on_host : {true, false}) {
    ASSERT_EQ(
        cusparseSetPointerMode(
            handle,
            on_host ? CUSPARSE_POINTER_MODE_HOST
                    : CUSPARSE_POINTER_MODE_DEVICE),
        kGood);
    ASSERT_EQ(
        cusparseXcsrgeam2Nnz(
            handle,
            5,
            6,
            description,
            nnz_a,
            integers(a.offsets),
            integers(a.indices),
            description,
            nnz_b,
            integers(b.offsets),
            integers(b.indices),
            description,
            offsets.get(),
            on_host ? &nnz : count.get(),
            work),
        kGood);
  }
  ASSERT_EQ(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST), kGood);
  ASSERT_EQ(nnz, static_cast<int>(structure.nnz));
  EXPECT_EQ(count.values()[0], nnz);
  const Array<int> indices(Integers(nnz, -1));
  const Values values(type, std::vector<Wide>(nnz));
  ASSERT_EQ(
      add(handle,
          5,
          6,
          factor_a,
          description,
          nnz_a,
          elements(a.values),
          integers(a.offsets),
          integers(a.indices),
          factor_b,
          description,
          nnz_b,
          elements(b.values),
          integers(b.offsets),
          integers(b.indices),
          description,
          elements(values),
          offsets.get(),
          indices.get(),
          work),
      kGood);
  EXPECT_EQ(
      offsets.values(),
      Integers(structure.offsets.begin(), structure.offsets.end()));
  EXPECT_EQ(
      indices.values(),
      Integers(structure.indices.begin(), structure.indices.end()));
  const std::vector<Wide> got = values.read();
  std::size_t k = 0;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 6; ++j) {
      if (places(i, j) != 0.0) {
        EXPECT_EQ(got[k++], wanted(i, j)) << i << " " << j;
      }
    }
  }
}

TEST_F(StructureTest, Sums) {
  expect_sum<float>(
      handle,
      description,
      CUDA_R_32F,
      work.get(),
      cusparseScsrgeam2_bufferSizeExt,
      cusparseScsrgeam2);
  expect_sum<double>(
      handle,
      description,
      CUDA_R_64F,
      work.get(),
      cusparseDcsrgeam2_bufferSizeExt,
      cusparseDcsrgeam2);
  expect_sum<cuComplex>(
      handle,
      description,
      CUDA_C_32F,
      work.get(),
      cusparseCcsrgeam2_bufferSizeExt,
      cusparseCcsrgeam2);
  expect_sum<cuDoubleComplex>(
      handle,
      description,
      CUDA_C_64F,
      work.get(),
      cusparseZcsrgeam2_bufferSizeExt,
      cusparseZcsrgeam2);
}

TEST_F(StructureTest, WhatIsRefused) {
  const Array<int> a(Integers(8)), b(Integers(8));
  int* const p = a.get();
  int* const q = b.get();
  std::size_t size = 0;
  EXPECT_EQ(cusparseXcoo2csr(nullptr, p, 4, 4, q, kZero), kUninitialised);
  EXPECT_EQ(cusparseXcoo2csr(handle, p, -4, 4, q, kZero), kInvalid);
  EXPECT_EQ(cusparseXcsr2coo(nullptr, p, 4, 4, q, kZero), kUninitialised);
  EXPECT_EQ(cusparseXcsr2coo(handle, p, 4, -4, q, kZero), kInvalid);
  EXPECT_EQ(cusparseCreateIdentityPermutation(nullptr, 4, p), kUninitialised);
  EXPECT_EQ(cusparseCreateIdentityPermutation(handle, -4, p), kInvalid);
  EXPECT_EQ(
      cusparseXcoosort_bufferSizeExt(nullptr, 4, 4, 4, p, q, &size),
      kUninitialised);
  EXPECT_EQ(
      cusparseXcsrsort_bufferSizeExt(handle, -4, 4, 4, p, q, &size), kInvalid);
  EXPECT_EQ(
      cusparseXcsrsort_bufferSizeExt(handle, 4, 4, 4, p, q, nullptr), kInvalid);
  EXPECT_EQ(
      cusparseXcoosortByRow(nullptr, 4, 4, 4, p, q, nullptr, nullptr),
      kUninitialised);
  EXPECT_EQ(
      cusparseXcoosortByRow(handle, 4, 4, 4, p, nullptr, nullptr, nullptr),
      kInvalid);
  EXPECT_EQ(
      cusparseCsr2cscEx2_bufferSize(
          nullptr,
          4,
          4,
          4,
          p,
          p,
          p,
          q,
          q,
          q,
          CUDA_R_32F,
          CUSPARSE_ACTION_NUMERIC,
          kZero,
          CUSPARSE_CSR2CSC_ALG_DEFAULT,
          &size),
      kInvalid);
  ASSERT_EQ(
      cusparseSetMatType(description, CUSPARSE_MATRIX_TYPE_TRIANGULAR), kGood);
  EXPECT_EQ(
      cusparseXcsrsort(handle, 4, 4, 4, description, p, q, nullptr, work.get()),
      kNoMatrix);
}

} // namespace
} // namespace accelerator::sparse::testing

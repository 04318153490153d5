// Products of batches of sparse matrices with batches of dense ones.
#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

constexpr int kRows = 6, kColumns = 8, kWidth = 3;

class BatchTest : public SparseTest {};

/// Two matrices on the device of the same pattern, one after the other.
TEST_F(BatchTest, Batches) {
  for (const bool shares_matrix : {false, true}) {
    for (const bool is_coo : {false, true}) {
      Matrix a[] = {
          sparse_matrix(kRows, kColumns, CUDA_R_64F, 7),
          sparse_matrix(kRows, kColumns, CUDA_R_64F, 7)};
      for (Wide& value : a[1].values) {
        value *= shares_matrix ? 1 : -2;
      }
      const Storage storage{is_coo ? CUSPARSE_FORMAT_COO : CUSPARSE_FORMAT_CSR};
      const Arrays one = arrays_of(a[0], storage);
      std::vector<std::int64_t> offsets = one.offsets, indices = one.indices;
      std::vector<Wide> values = one.values;
      offsets.insert(offsets.end(), one.offsets.begin(), one.offsets.end());
      indices.insert(indices.end(), one.indices.begin(), one.indices.end());
      for (const Wide value : one.values) {
        values.push_back(-2.0 * value);
      }
      const Indices all_offsets(storage.index_type, offsets);
      const Indices all_indices(storage.index_type, indices);
      const Values all_values(storage.type, values);
      cusparseSpMatDescr_t left = nullptr;
      if (is_coo) {
        ASSERT_EQ(
            cusparseCreateCoo(
                &left,
                kRows,
                kColumns,
                one.nnz,
                all_offsets.get(),
                all_indices.get(),
                all_values.get(),
                storage.index_type,
                storage.base,
                storage.type),
            kGood);
        ASSERT_EQ(
            cusparseCooSetStridedBatch(left, 2, shares_matrix ? 0 : one.nnz),
            kGood);
      } else {
        ASSERT_EQ(
            cusparseCreateCsr(
                &left,
                kRows,
                kColumns,
                one.nnz,
                all_offsets.get(),
                all_indices.get(),
                all_values.get(),
                storage.index_type,
                storage.index_type,
                storage.base,
                storage.type),
            kGood);
        ASSERT_EQ(
            cusparseCsrSetStridedBatch(
                left,
                2,
                shares_matrix ? 0 : kRows + 1,
                shares_matrix ? 0 : one.nnz),
            kGood);
      }
      int batches = 0;
      ASSERT_EQ(cusparseSpMatGetStridedBatch(left, &batches), kGood);
      EXPECT_EQ(batches, 2);
      // A matrix of twice the columns is two, by columns.
      const Matrix b = full_matrix(kColumns, 2 * kWidth, CUDA_R_64F, 8);
      const Dense right(b, CUDA_R_64F);
      const Dense result(Matrix(kRows, 2 * kWidth), CUDA_R_64F);
      cusparseDnMatDescr_t halves[2] = {};
      int half = 0;
      for (const Dense* const whole : {&right, &result}) {
        const int rows = whole == &right ? kColumns : kRows;
        ASSERT_EQ(
            cusparseCreateDnMat(
                &halves[half],
                rows,
                kWidth,
                rows + 2,
                whole->values.get(),
                CUDA_R_64F,
                CUSPARSE_ORDER_COL),
            kGood);
        ASSERT_EQ(
            cusparseDnMatSetStridedBatch(
                halves[half], 2, static_cast<std::int64_t>(rows + 2) * kWidth),
            kGood);
        ++half;
      }
      const double alpha = 1, beta = 0;
      ASSERT_EQ(
          cusparseSpMM(
              handle,
              kNone,
              kNone,
              &alpha,
              left,
              halves[0],
              &beta,
              halves[1],
              CUDA_R_64F,
              CUSPARSE_SPMM_ALG_DEFAULT,
              work.get()),
          kGood);
      const Matrix got = result.read();
      for (int batch = 0; batch < 2; ++batch) {
        const Matrix wanted = a[batch] * b;
        for (int i = 0; i < kRows; ++i) {
          for (int j = batch * kWidth; j < (batch + 1) * kWidth; ++j) {
            EXPECT_EQ(got(i, j), wanted(i, j)) << i << " " << j;
          }
        }
      }
      EXPECT_EQ(cusparseDestroySpMat(left), kGood);
      EXPECT_EQ(cusparseDestroyDnMat(halves[0]), kGood);
      EXPECT_EQ(cusparseDestroyDnMat(halves[1]), kGood);
    }
  }
}

} // namespace
} // namespace accelerator::sparse::testing

// Descriptors of sparse matrices: what they tell, and what NVIDIA's library
// answers to arguments that do not fit. The expectations are what cuSPARSE
// 12.3.1 said to the same calls.
#include <cusparse.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "runtime/libraries/sparse/testing/places.h"

namespace accelerator::sparse::testing {
namespace {

template <typename... T>
cusparseStatus_t make_csr(T... arguments) {
  return make_matrix(cusparseCreateCsr, arguments...);
}

TEST(Csr, TakesWhatFits) {
  EXPECT_EQ(make_csr(4, 5, 6, p, q, r, kNarrow, kNarrow, kZero, kFloat), kGood);
  EXPECT_EQ(make_csr(4, 5, 6, p, q, r, kWide, kWide, kOne, kFloat), kGood);
  EXPECT_EQ(make_csr(0, 5, 0, p, q, r, kWide, kWide, kZero, kFloat), kGood);
  for (void* const pointer : {p, static_cast<void*>(nullptr)}) {
    EXPECT_EQ(
        make_csr(
            4,
            5,
            6,
            pointer,
            nullptr,
            nullptr,
            kNarrow,
            kNarrow,
            kZero,
            kFloat),
        kGood);
  }
}

TEST(Csr, RefusesWhatDoesNot) {
  const auto kNoIndex = static_cast<cusparseIndexType_t>(9);
  EXPECT_EQ(
      make_csr(4, 5, 6, p, q, r, kWide, kNarrow, kZero, kFloat), kUnsupported);
  EXPECT_EQ(
      make_csr(4, 5, 6, p, q, r, kNarrow, kWide, kZero, kFloat), kUnsupported);
  EXPECT_EQ(
      make_csr(4, 5, 6, p, q, r, kNoIndex, kNarrow, kZero, kFloat), kInvalid);
  EXPECT_EQ(
      make_csr(4, 5, 6, p, q, r, kNarrow, kNoIndex, kZero, kFloat), kInvalid);
  EXPECT_EQ(
      make_csr(
          4,
          5,
          6,
          p,
          q,
          r,
          kNarrow,
          kNarrow,
          static_cast<cusparseIndexBase_t>(7),
          kFloat),
      kInvalid);
  const auto sized = [](std::int64_t rows,
                        std::int64_t columns,
                        std::int64_t nnz,
                        cusparseIndexBase_t base = kZero) {
    return make_csr(
        rows, columns, nnz, p, q, r, kNarrow, kNarrow, base, kFloat);
  };
  EXPECT_EQ(sized(-1, 5, 0), kInvalid);
  EXPECT_EQ(sized(4, -5, 0), kInvalid);
  EXPECT_EQ(sized(4, 5, -1), kInvalid);
  EXPECT_EQ(sized(4, 5, 20), kGood);
  EXPECT_EQ(sized(4, 5, 21), kInvalid);
  constexpr std::int64_t kMost = (1LL << 31) - 1;
  EXPECT_EQ(sized(kMost, kMost, kMost), kGood);
  EXPECT_EQ(sized(kMost, 5, 0, kOne), kInvalid);
  EXPECT_EQ(sized(kMost + 1, 5, 0), kInvalid);
  EXPECT_EQ(sized(5, kMost + 1, 0), kInvalid);
  EXPECT_EQ(sized(kMost, 5, kMost + 1), kInvalid);
  for (int which = 0; which < 3; ++which) {
    void* pointers[] = {p, q, r};
    pointers[which] = odd;
    EXPECT_EQ(
        make_csr(
            4,
            5,
            6,
            pointers[0],
            pointers[1],
            pointers[2],
            kNarrow,
            kNarrow,
            kZero,
            kFloat),
        kInvalid);
  }
  EXPECT_EQ(
      cusparseCreateCsr(
          nullptr, 4, 5, 6, p, q, r, kNarrow, kNarrow, kZero, kFloat),
      kInvalid);
}

TEST(Types, ThatElementsCanHave) {
  const std::vector<int> known{0, 1, 2, 3, 4, 5, 6, 10, 14, 15};
  for (int number = -1; number < 32; ++number) {
    const auto type = static_cast<cudaDataType>(number);
    const bool is_known =
        std::find(known.begin(), known.end(), number) != known.end();
    const auto wanted = is_known ? kGood : kInvalid;
    EXPECT_EQ(
        make_csr(4, 5, 6, p, q, r, kNarrow, kNarrow, kZero, type), wanted);
    EXPECT_EQ(
        make<cusparseDnMatDescr_t>(
            cusparseDestroyDnMat,
            cusparseCreateDnMat,
            4,
            5,
            5,
            p,
            type,
            kByRows),
        wanted);
    EXPECT_EQ(
        make<cusparseDnVecDescr_t>(
            cusparseDestroyDnVec, cusparseCreateDnVec, 4, p, type),
        wanted);
  }
}

/// What a matrix of three arrays tells of itself.
template <typename Descriptor, typename Pointer, typename Get>
void expect_told(Descriptor matrix, Get get, cusparseStatus_t wanted) {
  std::int64_t rows = 0, columns = 0, nnz = 0;
  Pointer first = nullptr, second = nullptr, third = nullptr;
  auto offsets_type = kNarrow, indices_type = kNarrow;
  auto base = kZero;
  auto type = CUDA_R_8I;
  EXPECT_EQ(
      get(matrix,
          &rows,
          &columns,
          &nnz,
          &first,
          &second,
          &third,
          &offsets_type,
          &indices_type,
          &base,
          &type),
      wanted);
  EXPECT_EQ(
      get(matrix,
          nullptr,
          &columns,
          &nnz,
          &first,
          &second,
          &third,
          &offsets_type,
          &indices_type,
          &base,
          &type),
      kInvalid);
  if (wanted == kGood) {
    EXPECT_EQ(rows, 4);
    EXPECT_EQ(columns, 5);
    EXPECT_EQ(nnz, 6);
    EXPECT_EQ(first, p);
    EXPECT_EQ(second, q);
    EXPECT_EQ(third, r);
    EXPECT_EQ(offsets_type, kWide);
    EXPECT_EQ(indices_type, kWide);
    EXPECT_EQ(base, kOne);
    EXPECT_EQ(type, CUDA_C_32F);
  }
}

template <typename Get>
auto coo(Get get) {
  return [get](
             auto matrix,
             std::int64_t* rows,
             std::int64_t* columns,
             std::int64_t* nnz,
             auto* first,
             auto* second,
             auto* third,
             cusparseIndexType_t* offsets_type,
             cusparseIndexType_t* indices_type,
             cusparseIndexBase_t* base,
             cudaDataType* type) {
    const cusparseStatus_t status =
        get(matrix,
            rows,
            columns,
            nnz,
            first,
            second,
            third,
            offsets_type,
            base,
            type);
    *indices_type = *offsets_type;
    return status;
  };
}

TEST(Matrices, TellWhatTheyAre) {
  cusparseSpMatDescr_t csr = nullptr, csc = nullptr, other = nullptr;
  ASSERT_EQ(
      cusparseCreateCsr(&csr, 4, 5, 6, p, q, r, kWide, kWide, kOne, CUDA_C_32F),
      kGood);
  ASSERT_EQ(
      cusparseCreateCsc(&csc, 4, 5, 6, p, q, r, kWide, kWide, kOne, CUDA_C_32F),
      kGood);
  ASSERT_EQ(
      cusparseCreateCoo(&other, 4, 5, 6, p, q, r, kWide, kOne, CUDA_C_32F),
      kGood);
  using Matrix = cusparseSpMatDescr_t;
  using ConstMatrix = cusparseConstSpMatDescr_t;
  for (const Matrix matrix : {csr, csc, other, Matrix()}) {
    const auto wanted = [matrix](Matrix its) {
      return matrix == its ? kGood : kInvalid;
    };
    expect_told<Matrix, void*>(matrix, cusparseCsrGet, wanted(csr));
    expect_told<Matrix, void*>(matrix, cusparseCscGet, wanted(csc));
    expect_told<Matrix, void*>(matrix, coo(cusparseCooGet), wanted(other));
    expect_told<ConstMatrix, const void*>(
        matrix, cusparseConstCsrGet, wanted(csr));
    expect_told<ConstMatrix, const void*>(
        matrix, cusparseConstCscGet, wanted(csc));
    expect_told<ConstMatrix, const void*>(
        matrix, coo(cusparseConstCooGet), wanted(other));
    EXPECT_EQ(cusparseCsrSetPointers(matrix, p, q, r), wanted(csr));
    EXPECT_EQ(cusparseCscSetPointers(matrix, p, q, r), wanted(csc));
    EXPECT_EQ(cusparseCooSetPointers(matrix, p, q, r), wanted(other));
    EXPECT_EQ(cusparseCsrSetPointers(matrix, odd, q, r), kInvalid);
    EXPECT_EQ(cusparseDestroySpMat(matrix), kGood);
  }
}

TEST(Matrices, CanBeReadOnly) {
  cusparseConstSpMatDescr_t matrix = nullptr;
  ASSERT_EQ(
      cusparseCreateConstCsr(
          &matrix, 4, 5, 6, p, q, r, kWide, kWide, kOne, CUDA_C_32F),
      kGood);
  expect_told<cusparseConstSpMatDescr_t, const void*>(
      matrix, cusparseConstCsrGet, kGood);
  ASSERT_EQ(cusparseDestroySpMat(matrix), kGood);
  ASSERT_EQ(
      cusparseCreateConstCsc(
          &matrix, 4, 5, 6, p, q, r, kWide, kWide, kOne, CUDA_C_32F),
      kGood);
  expect_told<cusparseConstSpMatDescr_t, const void*>(
      matrix, cusparseConstCscGet, kGood);
  ASSERT_EQ(cusparseDestroySpMat(matrix), kGood);
  ASSERT_EQ(
      cusparseCreateConstCoo(
          &matrix, 4, 5, 6, p, q, r, kWide, kOne, CUDA_C_32F),
      kGood);
  expect_told<cusparseConstSpMatDescr_t, const void*>(
      matrix, coo(cusparseConstCooGet), kGood);
  ASSERT_EQ(cusparseDestroySpMat(matrix), kGood);
  cusparseFormat_t format{};
  ASSERT_EQ(
      cusparseCreateConstBsr(
          &matrix, 4, 5, 6, 2, 2, p, q, r, kWide, kWide, kOne, kFloat, kByRows),
      kGood);
  EXPECT_EQ(cusparseSpMatGetFormat(matrix, &format), kGood);
  EXPECT_EQ(format, CUSPARSE_FORMAT_BSR);
  ASSERT_EQ(cusparseDestroySpMat(matrix), kGood);
  ASSERT_EQ(
      cusparseCreateConstBlockedEll(
          &matrix, 8, 8, 2, 4, p, q, kNarrow, kZero, kFloat),
      kGood);
  EXPECT_EQ(cusparseSpMatGetFormat(matrix, &format), kGood);
  EXPECT_EQ(format, CUSPARSE_FORMAT_BLOCKED_ELL);
  ASSERT_EQ(cusparseDestroySpMat(matrix), kGood);
  ASSERT_EQ(
      cusparseCreateConstSlicedEll(
          &matrix, 8, 8, 10, 16, 2, p, q, r, kNarrow, kNarrow, kZero, kFloat),
      kGood);
  EXPECT_EQ(cusparseSpMatGetFormat(matrix, &format), kGood);
  EXPECT_EQ(format, CUSPARSE_FORMAT_SLICED_ELLPACK);
  ASSERT_EQ(cusparseDestroySpMat(matrix), kGood);
}

TEST(Matrices, HaveSettings) {
  cusparseSpMatDescr_t matrix = nullptr;
  ASSERT_EQ(
      cusparseCreateCsr(
          &matrix, 4, 5, 6, p, q, r, kNarrow, kNarrow, kOne, kFloat),
      kGood);
  void* values = nullptr;
  const void* constant = nullptr;
  EXPECT_EQ(cusparseSpMatSetValues(matrix, q), kGood);
  EXPECT_EQ(cusparseSpMatGetValues(matrix, &values), kGood);
  EXPECT_EQ(values, q);
  EXPECT_EQ(cusparseConstSpMatGetValues(matrix, &constant), kGood);
  EXPECT_EQ(constant, q);
  EXPECT_EQ(cusparseSpMatSetValues(matrix, nullptr), kGood);
  EXPECT_EQ(cusparseSpMatSetValues(matrix, odd), kInvalid);
  EXPECT_EQ(cusparseSpMatSetValues(nullptr, q), kInvalid);
  EXPECT_EQ(cusparseSpMatGetValues(matrix, nullptr), kInvalid);
  EXPECT_EQ(cusparseConstSpMatGetValues(matrix, nullptr), kInvalid);
  std::int64_t rows = 0, columns = 0, nnz = 0;
  EXPECT_EQ(cusparseSpMatGetSize(matrix, &rows, &columns, &nnz), kGood);
  EXPECT_EQ(
      (std::vector{rows, columns, nnz}), (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_EQ(cusparseSpMatGetSize(nullptr, &rows, &columns, &nnz), kInvalid);
  EXPECT_EQ(cusparseSpMatGetSize(matrix, nullptr, &columns, &nnz), kInvalid);
  auto base = kZero;
  EXPECT_EQ(cusparseSpMatGetIndexBase(matrix, &base), kGood);
  EXPECT_EQ(base, kOne);
  EXPECT_EQ(cusparseSpMatGetIndexBase(matrix, nullptr), kInvalid);
  EXPECT_EQ(cusparseSpMatGetFormat(matrix, nullptr), kInvalid);
  int batches = 0;
  EXPECT_EQ(cusparseSpMatGetStridedBatch(matrix, &batches), kGood);
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(cusparseSpMatGetStridedBatch(matrix, nullptr), kInvalid);
  for (const auto attribute :
       {CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE}) {
    int value = 1, got = -1;
    EXPECT_EQ(cusparseSpMatGetAttribute(matrix, attribute, &got, 4), kGood);
    EXPECT_EQ(got, 0);
    EXPECT_EQ(cusparseSpMatSetAttribute(matrix, attribute, &value, 4), kGood);
    EXPECT_EQ(cusparseSpMatGetAttribute(matrix, attribute, &got, 4), kGood);
    EXPECT_EQ(got, 1);
    EXPECT_EQ(
        cusparseSpMatSetAttribute(matrix, attribute, &value, 8), kInvalid);
    EXPECT_EQ(cusparseSpMatGetAttribute(matrix, attribute, &got, 8), kInvalid);
    EXPECT_EQ(
        cusparseSpMatSetAttribute(matrix, attribute, nullptr, 4), kInvalid);
  }
  int value = 0;
  EXPECT_EQ(
      cusparseSpMatSetAttribute(
          matrix, static_cast<cusparseSpMatAttribute_t>(5), &value, 4),
      kInvalid);
  EXPECT_EQ(cusparseDestroySpMat(matrix), kGood);
}

TEST(Matrices, InBatches) {
  cusparseSpMatDescr_t csr = nullptr, other = nullptr, bsr = nullptr;
  ASSERT_EQ(
      cusparseCreateCsr(&csr, 4, 5, 6, p, q, r, kNarrow, kNarrow, kOne, kFloat),
      kGood);
  ASSERT_EQ(
      cusparseCreateCoo(&other, 4, 5, 6, p, q, r, kNarrow, kOne, kFloat),
      kGood);
  ASSERT_EQ(
      cusparseCreateBsr(
          &bsr,
          4,
          5,
          6,
          2,
          2,
          p,
          q,
          r,
          kNarrow,
          kNarrow,
          kOne,
          kFloat,
          kByRows),
      kGood);
  for (const auto& [offsets, entries] :
       std::vector<std::pair<int, int>>{{0, 0}, {5, 6}, {5, 0}, {0, 6}}) {
    EXPECT_EQ(cusparseCsrSetStridedBatch(csr, 2, offsets, entries), kGood);
  }
  for (const auto& [offsets, entries] :
       std::vector<std::pair<int, int>>{{4, 6}, {5, 5}, {-5, 6}, {5, -6}}) {
    EXPECT_EQ(cusparseCsrSetStridedBatch(csr, 2, offsets, entries), kInvalid);
  }
  EXPECT_EQ(cusparseCsrSetStridedBatch(csr, 0, 5, 6), kInvalid);
  EXPECT_EQ(cusparseCsrSetStridedBatch(csr, 65536, 5, 6), kInvalid);
  EXPECT_EQ(cusparseCooSetStridedBatch(other, 2, 6), kGood);
  EXPECT_EQ(cusparseCooSetStridedBatch(other, 2, 0), kGood);
  EXPECT_EQ(cusparseCooSetStridedBatch(other, 2, 5), kInvalid);
  EXPECT_EQ(cusparseBsrSetStridedBatch(bsr, 2, 5, 6, 24), kGood);
  EXPECT_EQ(cusparseBsrSetStridedBatch(bsr, 2, 0, 0, 24), kGood);
  EXPECT_EQ(cusparseBsrSetStridedBatch(bsr, 2, 4, 6, 24), kInvalid);
  EXPECT_EQ(cusparseBsrSetStridedBatch(bsr, 2, 5, 5, 24), kInvalid);
  EXPECT_EQ(cusparseBsrSetStridedBatch(bsr, 2, 5, 6, 23), kInvalid);
  // Each has a function of its own.
  EXPECT_EQ(cusparseCsrSetStridedBatch(other, 2, 0, 0), kInvalid);
  EXPECT_EQ(cusparseCooSetStridedBatch(bsr, 2, 0), kInvalid);
  EXPECT_EQ(cusparseBsrSetStridedBatch(csr, 2, 0, 0, 0), kInvalid);
  int batches = 0;
  for (const cusparseSpMatDescr_t matrix : {csr, other, bsr}) {
    EXPECT_EQ(cusparseSpMatGetStridedBatch(matrix, &batches), kGood);
    EXPECT_EQ(batches, 2);
    EXPECT_EQ(cusparseDestroySpMat(matrix), kGood);
  }
}

} // namespace
} // namespace accelerator::sparse::testing

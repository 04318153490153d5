// What sparse matrices and vectors do with dense ones besides products of both:
// sampled products, conversions, and vectors' sums and products.
#include <cusparse.h>
#include <gtest/gtest.h>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

constexpr int kRows = 6, kColumns = 8, kInner = 4;

class DenseOperandsTest : public SparseTest {
 protected:
  void sample(
      cusparseOperation_t op_a,
      cusparseOperation_t op_b,
      const Storage& storage,
      cudaDataType input,
      cudaDataType compute) {
    const Matrix c = sparse_matrix(kRows, kColumns, storage.type, 1, 2);
    const Matrix a = op_a == kNone ? full_matrix(kRows, kInner, input, 2)
                                   : full_matrix(kInner, kRows, input, 2);
    const Matrix b = op_b == kNone ? full_matrix(kInner, kColumns, input, 3)
                                   : full_matrix(kColumns, kInner, input, 3);
    const Sparse result(c, storage);
    const Dense left(a, input), right(b, input, CUSPARSE_ORDER_ROW);
    const Wide factor = is_complex(compute) ? Wide(1, 1) : Wide(2);
    const Number alpha(compute, factor), beta(compute, -1);
    std::size_t size = 0;
    ASSERT_EQ(
        cusparseSDDMM_bufferSize(
            handle,
            op_a,
            op_b,
            alpha.get(),
            left.descriptor,
            right.descriptor,
            beta.get(),
            result.descriptor,
            compute,
            CUSPARSE_SDDMM_ALG_DEFAULT,
            &size),
        kGood);
    ASSERT_GT(size, 0U);
    for (const auto function : {cusparseSDDMM_preprocess, cusparseSDDMM}) {
      ASSERT_EQ(
          function(
              handle,
              op_a,
              op_b,
              alpha.get(),
              left.descriptor,
              right.descriptor,
              beta.get(),
              result.descriptor,
              compute,
              CUSPARSE_SDDMM_ALG_DEFAULT,
              work.get()),
          kGood);
    }
    Matrix wanted = apply(op_a, a) * apply(op_b, b);
    for (std::size_t i = 0; i < wanted.values.size(); ++i) {
      wanted.values[i] =
          c.values[i] == 0.0 ? 0.0 : factor * wanted.values[i] - c.values[i];
    }
    // The places are those of the old matrix, of which some may be zero now.
    Matrix marked = c;
    Storage places = storage;
    places.type = CUDA_R_64F;
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      marked.values[i] = c.values[i] == 0.0 ? 0.0 : static_cast<double>(i + 1);
    }
    const Arrays numbers = arrays_of(marked, places);
    const std::vector<Wide> got = result.values.read();
    ASSERT_EQ(got.size(), numbers.values.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
      const auto at = static_cast<std::size_t>(numbers.values[k].real());
      EXPECT_EQ(got[k], wanted.values[at - 1]) << k;
    }
  }
};

TEST_F(DenseOperandsTest, SampledProducts) {
  for (const cudaDataType type : kPlainTypes) {
    for (const auto format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_BSR}) {
      for (const cusparseOperation_t op_a : kOperations) {
        for (const cusparseOperation_t op_b : kOperations) {
          SCOPED_TRACE(::testing::Message() << type << format << op_a << op_b);
          sample(op_a, op_b, {format, type}, type, type);
        }
      }
    }
  }
  sample(
      kNone, kTurn, {CUSPARSE_FORMAT_CSR, CUDA_R_16F}, CUDA_R_16F, CUDA_R_32F);
  sample(
      kNone, kTurn, {CUSPARSE_FORMAT_CSR, CUDA_R_32F}, CUDA_R_16F, CUDA_R_32F);
}

TEST_F(DenseOperandsTest, SampledProductsThatAreRefused) {
  const Matrix values = sparse_matrix(kRows, kColumns, CUDA_R_64F, 4, 2);
  const Dense left(Matrix(kRows, kInner), CUDA_R_64F);
  const Dense right(Matrix(kInner, kColumns), CUDA_R_64F);
  const double one = 1;
  std::size_t size = 0;
  const auto answer = [&](const Dense& a,
                          const Dense& b,
                          cusparseFormat_t format,
                          cudaDataType type) {
    const Sparse c(values, {format});
    return cusparseSDDMM_bufferSize(
        handle,
        kNone,
        kNone,
        &one,
        a.descriptor,
        b.descriptor,
        &one,
        c.descriptor,
        type,
        CUSPARSE_SDDMM_ALG_DEFAULT,
        &size);
  };
  constexpr auto kCsr = CUSPARSE_FORMAT_CSR;
  EXPECT_EQ(answer(left, right, kCsr, CUDA_R_64F), kGood);
  EXPECT_EQ(answer(right, left, kCsr, CUDA_R_64F), kInvalid);
  EXPECT_EQ(answer(left, left, kCsr, CUDA_R_64F), kInvalid);
  EXPECT_EQ(answer(left, right, kCsr, CUDA_R_32F), kUnsupported);
  EXPECT_EQ(answer(left, right, CUSPARSE_FORMAT_COO, CUDA_R_64F), kUnsupported);
}

constexpr cusparseFormat_t kFormats[] = {
    CUSPARSE_FORMAT_CSR,
    CUSPARSE_FORMAT_CSC,
    CUSPARSE_FORMAT_COO,
    CUSPARSE_FORMAT_BLOCKED_ELL};
constexpr cudaDataType kTypes[] = {
    CUDA_R_8I,
    CUDA_R_16F,
    CUDA_R_16BF,
    CUDA_R_32F,
    CUDA_R_64F,
    CUDA_C_16F,
    CUDA_C_16BF,
    CUDA_C_32F,
    CUDA_C_64F};

TEST_F(DenseOperandsTest, SparseToDense) {
  for (const cusparseFormat_t format : kFormats) {
    for (const cudaDataType type : kTypes) {
      SCOPED_TRACE(::testing::Message() << format << " " << type);
      const Matrix wanted = sparse_matrix(kRows, kColumns, type, 5, 2);
      const Sparse a(wanted, {format, type});
      const Dense b(
          full_matrix(kRows, kColumns, type, 6), type, CUSPARSE_ORDER_ROW);
      std::size_t size = 0;
      ASSERT_EQ(
          cusparseSparseToDense_bufferSize(
              handle,
              a.descriptor,
              b.descriptor,
              CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
              &size),
          kGood);
      ASSERT_GT(size, 0U);
      ASSERT_EQ(
          cusparseSparseToDense(
              handle,
              a.descriptor,
              b.descriptor,
              CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
              work.get()),
          kGood);
      expect_equal(b.read(), wanted);
    }
  }
}

TEST_F(DenseOperandsTest, DenseToSparse) {
  constexpr auto kDefault = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
  for (const cusparseFormat_t format : kFormats) {
    for (const cudaDataType type : kTypes) {
      SCOPED_TRACE(::testing::Message() << format << " " << type);
      const Matrix values = sparse_matrix(kRows, kColumns, type, 7, 2);
      const Storage storage{
          format, type, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ONE};
      const Dense a(values, type);
      // All arrays have their sizes, and in them other values and, but for
      // ELL's, no indices.
      Matrix doubled = values;
      for (Wide& value : doubled.values) {
        value *= 2;
      }
      const Sparse b(doubled, storage);
      const bool is_ell = format == CUSPARSE_FORMAT_BLOCKED_ELL;
      const auto clear = [](void* array, std::size_t bytes) {
        ASSERT_EQ(cudaMemset(array, 0, bytes), cudaSuccess);
      };
      if (!is_ell) {
        clear(b.offsets.get(), b.arrays.offsets.size() * 8);
        clear(b.indices.get(), b.arrays.indices.size() * 8);
      }
      std::size_t size = 0;
      ASSERT_EQ(
          cusparseDenseToSparse_bufferSize(
              handle, a.descriptor, b.descriptor, kDefault, &size),
          kGood);
      ASSERT_GT(size, 0U);
      for (const auto function :
           {cusparseDenseToSparse_analysis, cusparseDenseToSparse_convert}) {
        ASSERT_EQ(
            function(handle, a.descriptor, b.descriptor, kDefault, work.get()),
            kGood);
        std::int64_t rows = 0, columns = 0, nnz = 0;
        ASSERT_EQ(
            cusparseSpMatGetSize(b.descriptor, &rows, &columns, &nnz), kGood);
        EXPECT_EQ(nnz, is_ell ? kRows * kColumns : b.arrays.nnz);
      }
      EXPECT_EQ(b.offsets.read(), b.arrays.offsets);
      EXPECT_EQ(b.indices.read(), b.arrays.indices);
      EXPECT_EQ(b.values.read(), arrays_of(values, storage).values);
    }
  }
}

// The analysis finds out how many entries there are.
TEST_F(DenseOperandsTest, DenseToSparseTellsTheSize) {
  constexpr auto kDefault = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
  const Matrix values = sparse_matrix(kRows, kColumns, CUDA_R_64F, 8);
  const Arrays wanted = arrays_of(values, {});
  const Dense a(values, CUDA_R_64F);
  const Array<int> offsets{std::vector<int>(kRows + 1, -1)};
  cusparseSpMatDescr_t b = nullptr;
  ASSERT_EQ(
      cusparseCreateCsr(
          &b,
          kRows,
          kColumns,
          0,
          offsets.get<void>(),
          nullptr,
          nullptr,
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_BASE_ZERO,
          CUDA_R_64F),
      kGood);
  ASSERT_EQ(
      cusparseDenseToSparse_analysis(
          handle, a.descriptor, b, kDefault, work.get()),
      kGood);
  std::int64_t rows = 0, columns = 0, nnz = 0;
  ASSERT_EQ(cusparseSpMatGetSize(b, &rows, &columns, &nnz), kGood);
  EXPECT_EQ(nnz, wanted.nnz);
  // There is no place for them yet.
  EXPECT_EQ(
      cusparseDenseToSparse_convert(
          handle, a.descriptor, b, kDefault, work.get()),
      kFailed);
  const Dense other(Matrix(kRows, kColumns + 1), CUDA_R_64F);
  const Dense floats(Matrix(kRows, kColumns), CUDA_R_32F);
  EXPECT_EQ(
      cusparseDenseToSparse_analysis(
          handle, other.descriptor, b, kDefault, work.get()),
      kInvalid);
  EXPECT_EQ(
      cusparseSparseToDense(
          handle,
          b,
          floats.descriptor,
          CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
          work.get()),
      kUnsupported);
  EXPECT_EQ(cusparseDestroySpMat(b), kGood);
}

/// Two of five elements.
class VectorsTest : public DenseOperandsTest {
 protected:
  template <typename Call>
  void run(cudaDataType type, Call call) {
    SCOPED_TRACE(type);
    const std::vector<Wide> entries = smalls(2, type, 9);
    const std::vector<Wide> elements = smalls(5, type, 10);
    const Indices places(CUSPARSE_INDEX_64I, {2, 5});
    const Values values(type, entries);
    const Vector y(elements, type);
    cusparseSpVecDescr_t x = nullptr;
    ASSERT_EQ(
        cusparseCreateSpVec(
            &x,
            5,
            2,
            places.get(),
            values.get(),
            CUSPARSE_INDEX_64I,
            CUSPARSE_INDEX_BASE_ONE,
            type),
        kGood);
    call(x, values, entries, y, elements);
    EXPECT_EQ(cusparseDestroySpVec(x), kGood);
  }
  static cudaDataType scalar_type(cudaDataType type) {
    return type == CUDA_R_16F || type == CUDA_R_16BF ? CUDA_R_32F
        : type == CUDA_C_16F || type == CUDA_C_16BF  ? CUDA_C_32F
                                                     : type;
  }
};

TEST_F(VectorsTest, SumsAndRotations) {
  for (const cudaDataType type : kTypes) {
    run(type,
        [&](auto x,
            const auto& values,
            const auto& from,
            const auto& y,
            auto to) {
          const Number first(scalar_type(type), 2),
              second(scalar_type(type), 3);
          if (type == CUDA_R_8I) {
            EXPECT_EQ(
                cusparseAxpby(
                    handle, first.get(), x, second.get(), y.descriptor),
                kUnsupported);
            EXPECT_EQ(
                cusparseRot(handle, first.get(), second.get(), x, y.descriptor),
                kUnsupported);
            return;
          }
          ASSERT_EQ(
              cusparseAxpby(handle, first.get(), x, second.get(), y.descriptor),
              kGood);
          for (Wide& value : to) {
            value *= 3;
          }
          to[1] += 2.0 * from[0];
          to[4] += 2.0 * from[1];
          EXPECT_EQ(y.values.read(), to);
          ASSERT_EQ(
              cusparseRot(handle, first.get(), second.get(), x, y.descriptor),
              kGood);
          const std::vector<Wide> turned{
              2.0 * from[0] + 3.0 * to[1], 2.0 * from[1] + 3.0 * to[4]};
          to[1] = 2.0 * to[1] - 3.0 * from[0];
          to[4] = 2.0 * to[4] - 3.0 * from[1];
          EXPECT_EQ(values.read(), turned);
          EXPECT_EQ(y.values.read(), to);
        });
  }
}

TEST_F(VectorsTest, GatherAndScatter) {
  for (const cudaDataType type : kTypes) {
    run(type,
        [&](auto x,
            const auto& values,
            const auto& from,
            const auto& y,
            auto to) {
          ASSERT_EQ(cusparseScatter(handle, x, y.descriptor), kGood);
          to[1] = from[0];
          to[4] = from[1];
          EXPECT_EQ(y.values.read(), to);
          const Vector other({6, 7, 8, 9, 10}, type);
          ASSERT_EQ(cusparseGather(handle, other.descriptor, x), kGood);
          EXPECT_EQ(values.read(), (std::vector<Wide>{7, 10}));
          const Vector narrow({6, 7}, type);
          EXPECT_EQ(cusparseGather(handle, narrow.descriptor, x), kInvalid);
          EXPECT_EQ(cusparseScatter(handle, x, narrow.descriptor), kInvalid);
          EXPECT_EQ(cusparseScatter(nullptr, x, y.descriptor), kInvalid);
        });
  }
}

TEST_F(VectorsTest, Products) {
  for (const cudaDataType type : kTypes) {
    // Bytes are added up as integers.
    const cudaDataType compute =
        type == CUDA_R_8I ? CUDA_R_32I : scalar_type(type);
    for (const cusparseOperation_t op : {kNone, kConj}) {
      run(type,
          [&](auto x, const auto&, const auto& from, const auto& y, auto to) {
            const auto turn = [op](Wide value) {
              return op == kConj ? std::conj(value) : value;
            };
            Number result(compute, 0);
            void* const place = const_cast<void*>(result.get());
            std::size_t size = 0;
            const bool is_possible = op == kNone || is_complex(type);
            ASSERT_EQ(
                cusparseSpVV_bufferSize(
                    handle, op, x, y.descriptor, place, compute, &size),
                is_possible ? kGood : kUnsupported);
            ASSERT_EQ(size > 0, is_possible);
            ASSERT_EQ(
                cusparseSpVV(
                    handle, op, x, y.descriptor, place, compute, work.get()),
                is_possible ? kGood : kUnsupported);
            const Wide sum = turn(from[0]) * to[1] + turn(from[1]) * to[4];
            const Number wanted(compute, is_possible ? sum : Wide());
            EXPECT_EQ(std::memcmp(place, wanted.get(), 16), 0);
            EXPECT_EQ(
                cusparseSpVV(
                    handle, kTurn, x, y.descriptor, place, compute, work.get()),
                kUnsupported);
          });
    }
  }
}

// An index outside is a fault of the device, and a result on the host tells so.
TEST(VectorFaultTest, IndicesOutside) {
  cusparseHandle_t handle = nullptr;
  ASSERT_EQ(cusparseCreate(&handle), kGood);
  {
    const Indices places(CUSPARSE_INDEX_32I, {1, 5});
    const Values values(CUDA_R_64F, {1, 1});
    const Vector y(std::vector<Wide>(5), CUDA_R_64F);
    cusparseSpVecDescr_t x = nullptr;
    ASSERT_EQ(
        cusparseCreateSpVec(
            &x,
            5,
            2,
            places.get(),
            values.get(),
            CUSPARSE_INDEX_32I,
            CUSPARSE_INDEX_BASE_ZERO,
            CUDA_R_64F),
        kGood);
    double result = 0;
    EXPECT_EQ(
        cusparseSpVV(
            handle, kNone, x, y.descriptor, &result, CUDA_R_64F, nullptr),
        kFailed);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT_EQ(cusparseDestroySpVec(x), kGood);
  }
  EXPECT_EQ(cusparseDestroy(handle), kGood);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
}

} // namespace
} // namespace accelerator::sparse::testing

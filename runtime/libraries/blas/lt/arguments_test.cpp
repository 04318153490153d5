// Arguments of cuBLASLt that make no sense are refused, and by the heuristic
// too: nothing is read through a null pointer, and no column is written twice.
#include <cublasLt.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::blas::testing {
namespace {

constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kNotSupported = CUBLAS_STATUS_NOT_SUPPORTED;
constexpr auto kSuccess = CUBLAS_STATUS_SUCCESS;
constexpr std::int64_t kRoom = 256; // elements behind each pointer

/// A matrix as a table writes it.
struct Shape {
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
};

/// Everything that a product needs: D = A B of 4x3 and 3x2 elements, with what
/// a test changes about it.
class LtArguments : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cublasLtCreate(&handle), kSuccess);
    ASSERT_EQ(
        cublasLtMatmulDescInit(desc, CUBLAS_COMPUTE_32F, CUDA_R_32F), kSuccess);
    lay(a, {4, 3, 4});
    lay(b, {3, 2, 3});
    lay(c, {4, 2, 4});
    lay(d, {4, 2, 4});
  }
  void TearDown() override {
    EXPECT_EQ(cublasLtDestroy(handle), kSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  static void lay(
      cublasLtMatrixLayout_t layout,
      Shape shape,
      cublasLtOrder_t order = CUBLASLT_ORDER_COL) {
    ASSERT_EQ(
        cublasLtMatrixLayoutInit(
            layout, CUDA_R_32F, shape.rows, shape.columns, shape.leading),
        kSuccess);
    ASSERT_EQ(
        cublasLtMatrixLayoutSetAttribute(
            layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof(order)),
        kSuccess);
  }
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    ASSERT_EQ(
        cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof(value)),
        kSuccess);
  }
  cublasStatus_t run() {
    return cublasLtMatmul(
        handle,
        desc,
        alpha,
        left.get(),
        a,
        right.get(),
        b,
        beta,
        result.get(),
        c,
        result.get(),
        d,
        nullptr,
        nullptr,
        0,
        nullptr);
  }
  cublasStatus_t ask() {
    cublasLtMatmulHeuristicResult_t algorithm;
    int found = -1;
    const auto status = cublasLtMatmulAlgoGetHeuristic(
        handle, desc, a, b, c, d, nullptr, 1, &algorithm, &found);
    EXPECT_EQ(found, status == kSuccess ? 1 : 0);
    return status;
  }
  /// That both functions say so, and that what is refused writes nothing.
  void expect(cublasStatus_t status) {
    EXPECT_EQ(run(), status);
    EXPECT_EQ(ask(), status);
    if (status != kSuccess) {
      EXPECT_EQ(result.values(), std::vector<float>(kRoom, 7));
    }
  }

  cublasLtMatmulDescOpaque_t product_memory;
  cublasLtMatrixLayoutOpaque_t layout_memory[4];
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t desc = &product_memory;
  cublasLtMatrixLayout_t a = &layout_memory[0];
  cublasLtMatrixLayout_t b = &layout_memory[1];
  cublasLtMatrixLayout_t c = &layout_memory[2];
  cublasLtMatrixLayout_t d = &layout_memory[3];
  const float one = 1;
  const void* alpha = &one;
  const void* beta = &one;
  const Array<float> left{std::vector<float>(kRoom, 1)};
  const Array<float> right{std::vector<float>(kRoom, 1)};
  const Array<float> result{std::vector<float>(kRoom, 7)};
};

/// The layouts of a product, all in one order, and what is said of it.
struct Layouts {
  const char* name;
  cublasLtOrder_t order;
  Shape a, b, c, d;
  cublasStatus_t status;
};

void PrintTo(const Layouts& layouts, std::ostream* stream) {
  *stream << layouts.name;
}

class LtLayouts : public LtArguments,
                  public ::testing::WithParamInterface<Layouts> {};

TEST_P(LtLayouts, AreTakenOrRefused) {
  lay(a, GetParam().a, GetParam().order);
  lay(b, GetParam().b, GetParam().order);
  lay(c, GetParam().c, GetParam().order);
  lay(d, GetParam().d, GetParam().order);
  expect(GetParam().status);
}

constexpr auto kColumns = CUBLASLT_ORDER_COL;
constexpr auto kRows = CUBLASLT_ORDER_ROW;
constexpr std::uint64_t kInt = std::numeric_limits<int>::max();
constexpr std::uint64_t kMore = kInt + 1;
constexpr std::uint64_t kWraps = (std::uint64_t{1} << 32) + 1; // an int's 1
constexpr std::uint64_t kNegative = std::uint64_t{1} << 63;

// clang-format off
INSTANTIATE_TEST_SUITE_P(
    LeadingDimensions,
    LtLayouts,
    ::testing::Values(
        Layouts{"Dense", kColumns, {4, 3, 4}, {3, 2, 3}, {4, 2, 4}, {4, 2, 4}, kSuccess},
        Layouts{"Wide", kColumns, {4, 3, 9}, {3, 2, 8}, {4, 2, 6}, {4, 2, 5}, kSuccess},
        Layouts{"ShortA", kColumns, {4, 3, 3}, {3, 2, 3}, {4, 2, 4}, {4, 2, 4}, kInvalid},
        Layouts{"ShortB", kColumns, {4, 3, 4}, {3, 2, 2}, {4, 2, 4}, {4, 2, 4}, kInvalid},
        Layouts{"ShortC", kColumns, {4, 3, 4}, {3, 2, 3}, {4, 2, 3}, {4, 2, 4}, kInvalid},
        Layouts{"ShortD", kColumns, {4, 3, 4}, {3, 2, 3}, {4, 2, 4}, {4, 2, 3}, kInvalid},
        Layouts{"NoneA", kColumns, {4, 3, 0}, {3, 2, 3}, {4, 2, 4}, {4, 2, 4}, kInvalid},
        Layouts{"NoneD", kColumns, {4, 3, 4}, {3, 2, 3}, {4, 2, 4}, {4, 2, 0}, kInvalid},
        Layouts{"NegativeD", kColumns, {4, 3, 4}, {3, 2, 3}, {4, 2, 4}, {4, 2, -4}, kInvalid},
        Layouts{"DenseRows", kRows, {4, 3, 3}, {3, 2, 2}, {4, 2, 2}, {4, 2, 2}, kSuccess},
        Layouts{"ShortRowsA", kRows, {4, 3, 2}, {3, 2, 2}, {4, 2, 2}, {4, 2, 2}, kInvalid},
        Layouts{"ShortRowsB", kRows, {4, 3, 3}, {3, 2, 1}, {4, 2, 2}, {4, 2, 2}, kInvalid},
        Layouts{"ShortRowsD", kRows, {4, 3, 3}, {3, 2, 2}, {4, 2, 2}, {4, 2, 1}, kInvalid},
        // What PyTorch may say of matrices with one column or without elements.
        Layouts{"OneColumn", kColumns, {4, 3, 4}, {3, 1, 1}, {4, 1, 1}, {4, 1, 1}, kSuccess},
        Layouts{"OneRow", kRows, {1, 3, 1}, {3, 2, 2}, {1, 2, 1}, {1, 2, 1}, kSuccess},
        Layouts{"NoRows", kColumns, {0, 3, 1}, {3, 2, 3}, {0, 2, 1}, {0, 2, 1}, kSuccess},
        Layouts{"NoRowsAndNoLeading", kColumns, {0, 3, 0}, {3, 2, 3}, {0, 2, 0}, {0, 2, 0}, kSuccess},
        Layouts{"NoColumns", kColumns, {4, 3, 4}, {3, 0, 3}, {4, 0, 4}, {4, 0, 4}, kSuccess},
        Layouts{"NoSum", kColumns, {4, 0, 4}, {0, 2, 1}, {4, 2, 4}, {4, 2, 4}, kSuccess}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Sizes,
    LtLayouts,
    ::testing::Values(
        Layouts{"ManyRows", kColumns, {kMore, 0, kMore}, {0, 0, 1}, {kMore, 0, kMore}, {kMore, 0, kMore}, kNotSupported},
        Layouts{"ManyColumns", kColumns, {0, 3, 1}, {3, kMore, 3}, {0, kMore, 1}, {0, kMore, 1}, kNotSupported},
        Layouts{"ManySummands", kColumns, {0, kMore, 1}, {kMore, 0, kMore}, {0, 0, 1}, {0, 0, 1}, kNotSupported},
        Layouts{"AnIntsRows", kColumns, {kWraps, 1, kWraps}, {1, 1, 1}, {kWraps, 1, kWraps}, {kWraps, 1, kWraps}, kNotSupported},
        Layouts{"NegativeRows", kColumns, {kNegative, 1, 1}, {1, 1, 1}, {kNegative, 1, 1}, {kNegative, 1, 1}, kNotSupported}),
    [](const auto& info) { return std::string(info.param.name); });
// clang-format on

TEST_F(LtArguments, ASizeMayBeAsLargeAsAnInt) {
  lay(a, {kInt, 1, kInt});
  lay(b, {1, 2, 1});
  lay(c, {kInt, 2, kInt});
  lay(d, {kInt, 2, kInt});
  EXPECT_EQ(ask(), kSuccess);
  EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED); // so much is not there
}

TEST_F(LtArguments, ColumnsOfTheAuxiliaryMatrixDoNotOverlap) {
  const Array<float> input{std::vector<float>(kRoom)};
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_GELU_AUX);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
      static_cast<void*>(input.get()));
  for (const std::int64_t leading : {-1, 0, 3}) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, leading);
    expect(kInvalid);
  }
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{4});
  expect(kSuccess);
}

TEST_F(LtArguments, OperationsThatThereAreNotAreRefused) {
  // All sides are 2 long, so that no operation makes them unfit.
  for (auto* one_of_them : {a, b, c, d}) {
    lay(one_of_them, {2, 2, 2});
  }
  for (const auto attribute :
       {CUBLASLT_MATMUL_DESC_TRANSA,
        CUBLASLT_MATMUL_DESC_TRANSB,
        CUBLASLT_MATMUL_DESC_TRANSC}) {
    SCOPED_TRACE(attribute);
    for (const auto operation :
         {CUBLAS_OP_CONJG, static_cast<cublasOperation_t>(9)}) {
      set(attribute, operation);
      expect(kInvalid);
    }
    set(attribute, CUBLAS_OP_N);
  }
  for (const auto operation : {CUBLAS_OP_T, CUBLAS_OP_C}) {
    set(CUBLASLT_MATMUL_DESC_TRANSC, operation);
    expect(kNotSupported);
  }
  set(CUBLASLT_MATMUL_DESC_TRANSC, CUBLAS_OP_N);
  expect(kSuccess);
}

TEST_F(LtArguments, DescriptorsThatAreMissingAreRefused) {
  for (auto* missing : {&a, &b, &c, &d}) {
    const auto kept = *missing;
    *missing = nullptr;
    expect(kInvalid);
    *missing = kept;
  }
  desc = nullptr;
  expect(kInvalid);
}

TEST_F(LtArguments, FactorsThatAreMissingAreRefused) {
  for (const auto mode :
       {CUBLASLT_POINTER_MODE_HOST, CUBLASLT_POINTER_MODE_DEVICE}) {
    set(CUBLASLT_MATMUL_DESC_POINTER_MODE, mode);
    for (auto* missing : {&alpha, &beta}) {
      const auto* kept = *missing;
      *missing = nullptr;
      EXPECT_EQ(run(), kInvalid);
      *missing = kept;
    }
  }
}

TEST_F(LtArguments, MatricesThatAreMissingAreMemoryThatIsNotThere) {
  const auto call = [&](const float* x, const float* y, float* z, float* w) {
    return cublasLtMatmul(
        handle,
        desc,
        alpha,
        x,
        a,
        y,
        b,
        beta,
        z,
        c,
        w,
        d,
        nullptr,
        nullptr,
        0,
        nullptr);
  };
  constexpr auto kFault = CUBLAS_STATUS_EXECUTION_FAILED;
  float* const good = result.get();
  EXPECT_EQ(call(nullptr, good, good, good), kFault);
  EXPECT_EQ(call(good, nullptr, good, good), kFault);
  EXPECT_EQ(call(good, good, nullptr, good), kFault);
  EXPECT_EQ(call(good, good, good, nullptr), kFault);
  // C is not read.
  const float zero = 0;
  beta = &zero;
  EXPECT_EQ(call(left.get(), right.get(), nullptr, good), kSuccess);
}

TEST_F(LtArguments, TheHeuristicNeedsRoomForItsAnswer) {
  cublasLtMatmulHeuristicResult_t algorithm;
  int found = -1;
  const auto heuristic =
      [&](int count, cublasLtMatmulHeuristicResult_t* results, int* returned) {
        return cublasLtMatmulAlgoGetHeuristic(
            handle, desc, a, b, c, d, nullptr, count, results, returned);
      };
  EXPECT_EQ(heuristic(1, &algorithm, nullptr), kInvalid);
  EXPECT_EQ(heuristic(1, nullptr, &found), kInvalid);
  EXPECT_EQ(found, 0);
  EXPECT_EQ(heuristic(0, &algorithm, &found), kInvalid);
  EXPECT_EQ(heuristic(1, &algorithm, &found), kSuccess);
  EXPECT_EQ(found, 1);
}

TEST(LtNull, NothingIsMadeWhereThereIsNoRoomForIt) {
  EXPECT_EQ(cublasLtCreate(nullptr), kInvalid);
  EXPECT_EQ(
      cublasLtMatmulDescCreate(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F),
      kInvalid);
  EXPECT_EQ(cublasLtMatrixLayoutCreate(nullptr, CUDA_R_32F, 1, 1, 1), kInvalid);
  EXPECT_EQ(cublasLtMatmulPreferenceCreate(nullptr), kInvalid);
}

TEST(LtNull, NothingHasNoAttributes) {
  std::uint64_t value = 0;
  std::size_t written = 0;
  EXPECT_EQ(
      cublasLtMatmulDescSetAttribute(
          nullptr, CUBLASLT_MATMUL_DESC_TRANSA, &value, 4),
      kInvalid);
  EXPECT_EQ(
      cublasLtMatmulDescGetAttribute(
          nullptr, CUBLASLT_MATMUL_DESC_TRANSA, &value, 4, &written),
      kInvalid);
  EXPECT_EQ(
      cublasLtMatrixLayoutSetAttribute(
          nullptr, CUBLASLT_MATRIX_LAYOUT_ROWS, &value, 8),
      kInvalid);
  EXPECT_EQ(
      cublasLtMatrixLayoutGetAttribute(
          nullptr, CUBLASLT_MATRIX_LAYOUT_ROWS, &value, 8, &written),
      kInvalid);
  EXPECT_EQ(
      cublasLtMatmulPreferenceSetAttribute(
          nullptr, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &value, 8),
      kInvalid);
  EXPECT_EQ(
      cublasLtMatmulPreferenceSetAttribute(
          nullptr, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &value, 4),
      kInvalid);
}

} // namespace
} // namespace accelerator::blas::testing

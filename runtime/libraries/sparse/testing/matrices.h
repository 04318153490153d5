// What the tests of this folder share: vectors and matrices on the device of
// all types and formats. Their elements are small integers, so that results are
// exact in every type.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::sparse::testing {

using blas::testing::Array;
using blas::testing::Matrix;
using blas::testing::Wide;

constexpr auto kGood = CUSPARSE_STATUS_SUCCESS;
constexpr auto kInvalid = CUSPARSE_STATUS_INVALID_VALUE;
constexpr auto kUnsupported = CUSPARSE_STATUS_NOT_SUPPORTED;
constexpr auto kFailed = CUSPARSE_STATUS_EXECUTION_FAILED;
constexpr auto kNone = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto kTurn = CUSPARSE_OPERATION_TRANSPOSE;
constexpr auto kConj = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
constexpr cusparseOperation_t kOperations[] = {kNone, kTurn, kConj};
constexpr cudaDataType kPlainTypes[] = {
    CUDA_R_32F,
    CUDA_R_64F,
    CUDA_C_32F,
    CUDA_C_64F};

inline bool is_complex(cudaDataType type) {
  return type == CUDA_C_16F || type == CUDA_C_16BF || type == CUDA_C_32F ||
      type == CUDA_C_64F;
}

/// The bytes of one real number.
inline std::vector<unsigned char> real_bytes(cudaDataType type, double value) {
  const auto bytes = [](auto element) {
    std::vector<unsigned char> result(sizeof(element));
    std::memcpy(result.data(), &element, sizeof(element));
    return result;
  };
  switch (type) {
    case CUDA_R_8I:
      return bytes(static_cast<std::int8_t>(value));
    case CUDA_R_32I:
      return bytes(static_cast<std::int32_t>(value));
    case CUDA_R_16F:
    case CUDA_C_16F:
      return bytes(__float2half(static_cast<float>(value)));
    case CUDA_R_16BF:
    case CUDA_C_16BF:
      return bytes(__float2bfloat16(static_cast<float>(value)));
    case CUDA_R_32F:
    case CUDA_C_32F:
      return bytes(static_cast<float>(value));
    default:
      return bytes(value);
  }
}

/// The other way round.
inline double real_value(cudaDataType type, const unsigned char* bytes) {
  const auto as = [bytes](auto element) {
    std::memcpy(&element, bytes, sizeof(element));
    return element;
  };
  switch (type) {
    case CUDA_R_8I:
      return as(std::int8_t());
    case CUDA_R_32I:
      return as(std::int32_t());
    case CUDA_R_16F:
    case CUDA_C_16F:
      return __half2float(as(__half()));
    case CUDA_R_16BF:
    case CUDA_C_16BF:
      return __bfloat162float(as(__nv_bfloat16()));
    case CUDA_R_32F:
    case CUDA_C_32F:
      return as(float());
    default:
      return as(double());
  }
}

inline std::vector<unsigned char> bytes_of(cudaDataType type, Wide value) {
  std::vector<unsigned char> bytes = real_bytes(type, value.real());
  if (is_complex(type)) {
    const std::vector<unsigned char> imaginary = real_bytes(type, value.imag());
    bytes.insert(bytes.end(), imaginary.begin(), imaginary.end());
  }
  return bytes;
}

inline std::vector<unsigned char> bytes_of(
    cudaDataType type,
    const std::vector<Wide>& values) {
  std::vector<unsigned char> bytes;
  for (const Wide value : values) {
    const std::vector<unsigned char> one = bytes_of(type, value);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

/// Elements on the device.
class Values {
 public:
  Values(cudaDataType type, const std::vector<Wide>& values)
      : type_(type), bytes_(bytes_of(type, values)) {}
  void* get() const {
    return bytes_.get<void>();
  }
  std::vector<Wide> read() const {
    const std::vector<unsigned char> bytes = bytes_.values();
    const std::size_t size = bytes_of(type_, Wide()).size();
    std::vector<Wide> values;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      const unsigned char* const from = bytes.data() + at;
      values.emplace_back(
          real_value(type_, from),
          is_complex(type_) ? real_value(type_, from + size / 2) : 0);
    }
    return values;
  }

 private:
  cudaDataType type_;
  Array<unsigned char> bytes_;
};

/// Indices on the device.
class Indices {
 public:
  Indices(cusparseIndexType_t type, const std::vector<std::int64_t>& values)
      : wide_(type == CUSPARSE_INDEX_64I ? values : Wanted()),
        narrow_(
            type == CUSPARSE_INDEX_64I
                ? std::vector<int>()
                : std::vector<int>(values.begin(), values.end())),
        is_wide_(type == CUSPARSE_INDEX_64I) {}
  void* get() const {
    return is_wide_ ? wide_.get<void>() : narrow_.get<void>();
  }
  std::vector<std::int64_t> read() const {
    if (is_wide_) {
      return wide_.values();
    }
    const std::vector<int> values = narrow_.values();
    return {values.begin(), values.end()};
  }

 private:
  using Wanted = std::vector<std::int64_t>;
  Array<std::int64_t> wide_;
  Array<int> narrow_;
  bool is_wide_;
};

/// A small integer, of complex types with an imaginary part; never zero.
inline Wide small(std::mt19937& generator, cudaDataType type) {
  const double real = static_cast<double>(1 + generator() % 3);
  const double sign = generator() % 2 == 0 ? 1 : -1;
  return {
      sign * real,
      is_complex(type) ? static_cast<double>(generator() % 5) - 2 : 0};
}

inline std::vector<Wide> smalls(
    std::size_t count,
    cudaDataType type,
    unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<Wide> values(count);
  for (Wide& value : values) {
    value = small(generator, type);
  }
  return values;
}

inline Matrix full_matrix(
    int rows,
    int columns,
    cudaDataType type,
    unsigned seed) {
  Matrix matrix(rows, columns);
  matrix.values = smalls(matrix.values.size(), type, seed);
  return matrix;
}

/// A matrix with zeros; each `block` by `block` elements are zero together. One
/// row has none, one column has all.
inline Matrix sparse_matrix(
    int rows,
    int columns,
    cudaDataType type,
    unsigned seed,
    int block = 1) {
  std::mt19937 generator(seed);
  Matrix matrix(rows, columns);
  for (int i = 0; i < rows; i += block) {
    for (int j = 0; j < columns; j += block) {
      const bool is_there = generator() % 3 == 0 || j == 0;
      for (int k = 0; is_there && i != block && k < block * block; ++k) {
        matrix(i + k / block, j + k % block) = small(generator, type);
      }
    }
  }
  return matrix;
}

inline Matrix apply(cusparseOperation_t operation, const Matrix& a) {
  return blas::testing::apply(
      operation == kNone       ? CUBLAS_OP_N
          : operation == kTurn ? CUBLAS_OP_T
                               : CUBLAS_OP_C,
      a);
}

/// How a sparse matrix is stored.
struct Storage {
  cusparseFormat_t format = CUSPARSE_FORMAT_CSR;
  cudaDataType type = CUDA_R_64F;
  cusparseIndexType_t index_type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  /// Of BSR and both ELL.
  int block = 2;
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;
};

/// What is in a sparse matrix's three arrays.
struct Arrays {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> indices;
  std::vector<Wide> values;
  std::int64_t nnz = 0;
};

Arrays arrays_of(const Matrix& matrix, const Storage& storage);

/// A sparse matrix on the device.
class Sparse {
 public:
  Sparse(const Matrix& matrix, const Storage& storage);
  ~Sparse() {
    EXPECT_EQ(cusparseDestroySpMat(descriptor), kGood);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  Arrays arrays;
  Indices offsets, indices;
  Values values;
  cusparseSpMatDescr_t descriptor = nullptr;
};

/// A dense matrix on the device, with something between its lines.
class Dense {
 public:
  Dense(
      const Matrix& matrix,
      cudaDataType type,
      cusparseOrder_t order = CUSPARSE_ORDER_COL)
      : rows_(matrix.rows),
        columns_(matrix.columns),
        by_columns_(order == CUSPARSE_ORDER_COL),
        leading_((by_columns_ ? rows_ : columns_) + 2),
        values(type, packed(matrix)) {
    EXPECT_EQ(
        cusparseCreateDnMat(
            &descriptor, rows_, columns_, leading_, values.get(), type, order),
        kGood);
  }
  ~Dense() {
    EXPECT_EQ(cusparseDestroyDnMat(descriptor), kGood);
  }
  Dense(const Dense&) = delete;
  Dense& operator=(const Dense&) = delete;

  /// What is in it; what is between its lines has to be as it was.
  Matrix read() const {
    const std::vector<Wide> all = values.read();
    Matrix matrix(rows_, columns_);
    for (int i = 0; i < rows_; ++i) {
      for (int j = 0; j < columns_; ++j) {
        matrix(i, j) = all[place(i, j)];
      }
    }
    EXPECT_EQ(all, packed(matrix));
    return matrix;
  }

 private:
  std::size_t place(int i, int j) const {
    return by_columns_ ? i + j * leading_ : i * leading_ + j;
  }
  std::vector<Wide> packed(const Matrix& matrix) const {
    std::vector<Wide> all(
        static_cast<std::size_t>(leading_) * (by_columns_ ? columns_ : rows_),
        77);
    for (int i = 0; i < rows_; ++i) {
      for (int j = 0; j < columns_; ++j) {
        all[place(i, j)] = matrix(i, j);
      }
    }
    return all;
  }

  int rows_, columns_;
  bool by_columns_;
  int leading_;

 public:
  Values values;
  cusparseDnMatDescr_t descriptor = nullptr;
};

/// A dense vector on the device.
class Vector {
 public:
  Vector(const std::vector<Wide>& elements, cudaDataType type)
      : values(type, elements) {
    EXPECT_EQ(
        cusparseCreateDnVec(
            &descriptor,
            static_cast<std::int64_t>(elements.size()),
            values.get(),
            type),
        kGood);
  }
  ~Vector() {
    EXPECT_EQ(cusparseDestroyDnVec(descriptor), kGood);
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  Values values;
  cusparseDnVecDescr_t descriptor = nullptr;
};

/// A scalar as the functions want it.
class Number {
 public:
  Number(cudaDataType type, Wide value) : bytes_(bytes_of(type, value)) {
    std::copy(bytes_.begin(), bytes_.end(), aligned_.begin());
  }
  const void* get() const {
    return aligned_.data();
  }

 private:
  std::vector<unsigned char> bytes_;
  alignas(16) std::array<unsigned char, 16> aligned_{};
};

/// A test with a handle and a work area.
class SparseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cusparseCreate(&handle), kGood);
  }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cusparseDestroy(handle), kGood);
  }

  cusparseHandle_t handle = nullptr;
  const Array<double> work{std::vector<double>(64)};
};

/// The same elements, which are all exact.
inline void expect_equal(const Matrix& a, const Matrix& b) {
  blas::testing::expect_near(a, b, 0);
}

} // namespace accelerator::sparse::testing

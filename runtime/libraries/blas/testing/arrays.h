// What the tests of this folder share: arrays on the device, random numbers,
// and the functions of cuBLAS by element type.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace accelerator::blas::testing {

using Wide = std::complex<double>;

/// An array on the device that starts with given values.
template <typename T>
class Array {
 public:
  explicit Array(const std::vector<T>& values) : size_(values.size()) {
    EXPECT_EQ(
        cudaMalloc(&pointer_, std::max<std::size_t>(1, size_) * sizeof(T)),
        cudaSuccess);
    EXPECT_EQ(
        cudaMemcpy(
            pointer_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice),
        cudaSuccess);
  }
  ~Array() {
    cudaFree(pointer_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  /// Its address, as the type that cuBLAS has for the elements.
  template <typename Api = T>
  Api* get() const {
    return static_cast<Api*>(pointer_);
  }
  /// What is in it when all work is done.
  std::vector<T> values() const {
    std::vector<T> result(size_);
    EXPECT_EQ(
        cudaMemcpy(
            result.data(), pointer_, size_ * sizeof(T), cudaMemcpyDeviceToHost),
        cudaSuccess);
    return result;
  }

 private:
  void* pointer_ = nullptr;
  std::size_t size_;
};

/// Random values of real and complex types, the same in each run.
template <typename T>
struct Random {
  static T value(std::mt19937& generator) {
    return static_cast<T>(std::normal_distribution<double>()(generator));
  }
};
template <typename R>
struct Random<std::complex<R>> {
  static std::complex<R> value(std::mt19937& generator) {
    const R real = Random<R>::value(generator);
    return {real, Random<R>::value(generator)};
  }
};

template <typename T>
std::vector<T> random(std::size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<T> values(size);
  for (T& value : values) {
    value = Random<T>::value(generator);
  }
  return values;
}

/// A column-major matrix in double precision, for the answers.
struct Matrix {
  int rows, columns;
  std::vector<Wide> values;

  Matrix(int rows_, int columns_)
      : rows(rows_),
        columns(columns_),
        values(static_cast<std::size_t>(rows_) * columns_) {}
  /// Takes a matrix out of an array with a leading dimension.
  template <typename T>
  Matrix(const std::vector<T>& from, int rows_, int columns_, int leading)
      : Matrix(rows_, columns_) {
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        (*this)(i, j) = Wide(from[static_cast<std::size_t>(j) * leading + i]);
      }
    }
  }
  Wide& operator()(int i, int j) {
    return values[static_cast<std::size_t>(j) * rows + i];
  }
  Wide operator()(int i, int j) const {
    return values[static_cast<std::size_t>(j) * rows + i];
  }
};

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int i = 0; i < c.rows; ++i) {
    for (int j = 0; j < c.columns; ++j) {
      for (int k = 0; k < a.columns; ++k) {
        c(i, j) += a(i, k) * b(k, j);
      }
    }
  }
  return c;
}

/// op(a) as cuBLAS means it.
inline Matrix apply(cublasOperation_t operation, const Matrix& a) {
  if (operation == CUBLAS_OP_N) {
    return a;
  }
  Matrix result(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.columns; ++j) {
      result(j, i) = operation == CUBLAS_OP_C ? std::conj(a(i, j)) : a(i, j);
    }
  }
  return result;
}

inline void expect_near(const Matrix& a, const Matrix& b, double tolerance) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.columns, b.columns);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.columns; ++j) {
      EXPECT_NEAR(std::abs(a(i, j) - b(i, j)), 0, tolerance)
          << "row " << i << ", column " << j << ": " << a(i, j) << ", not "
          << b(i, j);
    }
  }
}

// clang-format off
#define ACCEL_FUNCTIONS(Name, letter, lower, Element, ApiType, RealType, dot_, dotc_, nrm2_, asum_) \
  struct Name {                                                              \
    using T = Element;                                                       \
    using Api = ApiType;                                                     \
    using Real = RealType;                                                   \
    static constexpr double kTolerance = 2000 * std::numeric_limits<Real>::epsilon(); \
    static constexpr auto trsm = cublas##letter##trsm;                       \
    static constexpr auto trsm_batched = cublas##letter##trsmBatched;        \
    static constexpr auto getrf = cublas##letter##getrfBatched;              \
    static constexpr auto getrs = cublas##letter##getrsBatched;              \
    static constexpr auto getri = cublas##letter##getriBatched;              \
    static constexpr auto geqrf = cublas##letter##geqrfBatched;              \
    static constexpr auto gels = cublas##letter##gelsBatched;                \
    static constexpr auto gemm = cublas##letter##gemm;                       \
    static constexpr auto gemm_batched = cublas##letter##gemmBatched;        \
    static constexpr auto gemm_strided = cublas##letter##gemmStridedBatched; \
    static constexpr auto gemv = cublas##letter##gemv;                       \
    static constexpr auto geam = cublas##letter##geam;                       \
    static constexpr auto dgmm = cublas##letter##dgmm;                       \
    static constexpr auto axpy = cublas##letter##axpy;                       \
    static constexpr auto scal = cublas##letter##scal;                       \
    static constexpr auto copy = cublas##letter##copy;                       \
    static constexpr auto swap = cublas##letter##swap;                       \
    static constexpr auto dot = dot_;                                        \
    static constexpr auto dotc = dotc_;                                      \
    static constexpr auto nrm2 = nrm2_;                                      \
    static constexpr auto asum = asum_;                                      \
    static constexpr auto amax = cublasI##lower##amax;                       \
    static constexpr auto amin = cublasI##lower##amin;                       \
  };
ACCEL_FUNCTIONS(Single, S, s, float, float, float,
    cublasSdot, cublasSdot, cublasSnrm2, cublasSasum)
ACCEL_FUNCTIONS(Double, D, d, double, double, double,
    cublasDdot, cublasDdot, cublasDnrm2, cublasDasum)
ACCEL_FUNCTIONS(SingleComplex, C, c, std::complex<float>, cuComplex, float,
    cublasCdotu, cublasCdotc, cublasScnrm2, cublasScasum)
ACCEL_FUNCTIONS(DoubleComplex, Z, z, std::complex<double>, cuDoubleComplex, double,
    cublasZdotu, cublasZdotc, cublasDznrm2, cublasDzasum)
#undef ACCEL_FUNCTIONS
// clang-format on

using AllTypes = ::testing::Types<Single, Double, SingleComplex, DoubleComplex>;
using ComplexTypes = ::testing::Types<SingleComplex, DoubleComplex>;

/// A test with a handle, for one element type.
template <typename F>
class HandleTest : public ::testing::Test {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;

  void SetUp() override {
    ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  static const Api* scalar(const T* value) {
    return reinterpret_cast<const Api*>(value);
  }
  /// `count` matrices one after the other, as the pointers that the batched
  /// functions want.
  static std::vector<Api*> pieces(
      const Array<T>& array,
      int count,
      std::size_t elements) {
    std::vector<Api*> pointers;
    for (int i = 0; i < count; ++i) {
      pointers.push_back(
          array.template get<Api>() + static_cast<std::size_t>(i) * elements);
    }
    return pointers;
  }

  cublasHandle_t handle = nullptr;
};

} // namespace accelerator::blas::testing

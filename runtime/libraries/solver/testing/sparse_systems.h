// What tests of sparse systems share: the functions of each type of numbers,
// and systems whose solutions are known, on the host and on the device.
#pragma once

#include <cuda_runtime_api.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <cusparse.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/libraries/blas/testing/arrays.h"

namespace accelerator::solver::testing {

using blas::testing::Array;
using blas::testing::Wide;

constexpr auto kSolved = CUSOLVER_STATUS_SUCCESS;
constexpr auto kWrong = CUSOLVER_STATUS_INVALID_VALUE;

// clang-format off
#define ACCEL_STEPS(L, Name, suffix, Suffix)                               \
    static constexpr auto qr_size##suffix = cusolverSp##L##csrqrBufferInfo##Suffix; \
    static constexpr auto qr_setup##suffix = cusolverSp##L##csrqrSetup##Suffix; \
    static constexpr auto qr_factor##suffix = cusolverSp##L##csrqrFactor##Suffix; \
    static constexpr auto qr_zero##suffix = cusolverSp##L##csrqrZeroPivot##Suffix; \
    static constexpr auto qr_solve##suffix = cusolverSp##L##csrqrSolve##Suffix; \
    static constexpr auto chol_size##suffix = cusolverSp##L##csrcholBufferInfo##Suffix; \
    static constexpr auto chol_factor##suffix = cusolverSp##L##csrcholFactor##Suffix; \
    static constexpr auto chol_zero##suffix = cusolverSp##L##csrcholZeroPivot##Suffix; \
    static constexpr auto chol_solve##suffix = cusolverSp##L##csrcholSolve##Suffix;
#define ACCEL_FUNCTIONS(Name, L, Element, ApiType, RealType)               \
  struct Name {                                                            \
    using T = Element;                                                     \
    using Api = ApiType;                                                   \
    using Real = RealType;                                                 \
    static constexpr double kTolerance = 2000 * std::numeric_limits<Real>::epsilon(); \
    static constexpr auto lsv_qr = cusolverSp##L##csrlsvqr;                \
    static constexpr auto lsv_qr_host = cusolverSp##L##csrlsvqrHost;       \
    static constexpr auto lsv_lu_host = cusolverSp##L##csrlsvluHost;       \
    static constexpr auto lsv_chol = cusolverSp##L##csrlsvchol;            \
    static constexpr auto lsv_chol_host = cusolverSp##L##csrlsvcholHost;   \
    static constexpr auto eigenvalue = cusolverSp##L##csreigvsi;           \
    static constexpr auto eigenvalue_host = cusolverSp##L##csreigvsiHost;  \
    static constexpr auto batch_size = cusolverSp##L##csrqrBufferInfoBatched; \
    static constexpr auto batch = cusolverSp##L##csrqrsvBatched;           \
    static constexpr auto chol_diagonal = cusolverSp##L##csrcholDiag;      \
    ACCEL_STEPS(L, Name, , )                                               \
    ACCEL_STEPS(L, Name, _host, Host)                                      \
  };
ACCEL_FUNCTIONS(SparseSingle, S, float, float, float)
ACCEL_FUNCTIONS(SparseDouble, D, double, double, double)
ACCEL_FUNCTIONS(SparseSingleComplex, C, std::complex<float>, cuComplex, float)
ACCEL_FUNCTIONS(SparseDoubleComplex, Z, std::complex<double>, cuDoubleComplex, double)
#undef ACCEL_FUNCTIONS
#undef ACCEL_STEPS
// clang-format on

using SparseTypes = ::testing::
    Types<SparseSingle, SparseDouble, SparseSingleComplex, SparseDoubleComplex>;

/// A system with its solution.
template <typename T>
struct System {
  int rows = 0;
  int columns = 0;
  std::vector<int> offsets, indices;
  std::vector<T> values, x, b;

  int nnz() const {
    return static_cast<int>(values.size());
  }
};

/// A test with a handle and a description of matrices with base 1.
template <typename F>
class SparseSolverTest : public ::testing::Test {
 protected:
  using T = typename F::T;
  using Api = typename F::Api;
  using Entry = std::pair<std::pair<int, int>, Wide>;

  void SetUp() override {
    ASSERT_EQ(cusolverSpCreate(&handle), kSolved);
    ASSERT_EQ(cusparseCreateMatDescr(&description), CUSPARSE_STATUS_SUCCESS);
    ASSERT_EQ(
        cusparseSetMatIndexBase(description, CUSPARSE_INDEX_BASE_ONE),
        CUSPARSE_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cusparseDestroyMatDescr(description), CUSPARSE_STATUS_SUCCESS);
    EXPECT_EQ(cusolverSpDestroy(handle), kSolved);
  }
  static T narrow(Wide value) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(value.real());
    } else {
      return T(value);
    }
  }
  static Api api(Wide value) {
    const T element = narrow(value);
    return *reinterpret_cast<const Api*>(&element);
  }
  static Api* api(const std::vector<T>& values) {
    return reinterpret_cast<Api*>(const_cast<T*>(values.data()));
  }
  static Api* api(const Array<T>& values) {
    return reinterpret_cast<Api*>(values.get());
  }
  /// Entries as a matrix, with a solution that is no accident.
  static System<T> make_system(
      int rows,
      int columns,
      std::vector<Entry> entries) {
    std::sort(
        entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
          return a.first < b.first;
        });
    System<T> system;
    system.rows = rows;
    system.columns = columns;
    system.offsets.push_back(1);
    std::vector<Wide> b(rows);
    for (int j = 0; j < columns; ++j) {
      system.x.push_back(narrow({1 + 0.25 * (j % 7), 0.5 * (j % 3)}));
    }
    std::size_t k = 0;
    for (int row = 0; row < rows; ++row) {
      for (; k < entries.size() && entries[k].first.first == row; ++k) {
        const int column = entries[k].first.second;
        system.indices.push_back(column + 1);
        system.values.push_back(narrow(entries[k].second));
        b[row] += Wide(system.values.back()) * Wide(system.x[column]);
      }
      system.offsets.push_back(static_cast<int>(k) + 1);
      system.b.push_back(narrow(b[row]));
    }
    return system;
  }
  /// The five-point stencil on a grid, with some numbers of its own; Hermitian
  /// with positive eigenvalues on demand.
  static System<T> grid(int side, bool is_definite, unsigned seed) {
    std::mt19937 generator(seed);
    const auto random = [&] {
      const double real = static_cast<double>(generator() % 8) / 16;
      return Wide(real - 1, static_cast<double>(generator() % 4) / 8);
    };
    std::vector<Entry> entries;
    const auto connect = [&](int a, int b) {
      const Wide value = random();
      entries.push_back({{a, b}, value});
      entries.push_back({{b, a}, is_definite ? std::conj(value) : random()});
    };
    for (int i = 0; i < side * side; ++i) {
      entries.push_back(
          {{i, i}, Wide(is_definite || i % 5 != 0 ? 4.5 : 0.125)});
      if (i % side != 0) {
        connect(i, i - 1);
      }
      if (i >= side) {
        connect(i, i - side);
      }
    }
    return make_system(side * side, side * side, entries);
  }
  static void expect_values(
      const std::vector<T>& found,
      const std::vector<T>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(std::abs(Wide(found[i]) - Wide(wanted[i])), 0, F::kTolerance)
          << i;
    }
  }

  cusolverSpHandle_t handle = nullptr;
  cusparseMatDescr_t description = nullptr;
  const Array<double> work{std::vector<double>(8)};
};

/// The same on the device.
template <typename T>
struct DeviceSystem {
  explicit DeviceSystem(const System<T>& system)
      : offsets(system.offsets),
        indices(system.indices),
        values(system.values),
        b(system.b),
        x(std::vector<T>(system.columns)) {}

  const Array<int> offsets, indices;
  const Array<T> values, b, x;
};

} // namespace accelerator::solver::testing

// Tridiagonal and pentadiagonal systems in all four layouts and types: the
// solutions are those of which the right sides were made.
#include <cusparse.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "runtime/libraries/sparse/testing/matrices.h"

namespace accelerator::sparse::testing {
namespace {

/// Systems with small integers, of which each has some zeros on the diagonal:
/// without row interchanges these have no solution here.
struct Problem {
  /// Element i of diagonal d (from the lowest up) of system k; what lies
  /// outside of the matrix is no number that may be used.
  Wide diagonal(int k, int d, int i) const {
    const int column = i + d - width;
    if (column < 0 || column >= size) {
      return {1e30, 1e30};
    }
    if (d == width) {
      return i % 3 == 1 ? Wide(0) : Wide(9 + (i + k) % 4, complex ? 1 : 0);
    }
    const int value = (5 * i + 3 * d + 7 * k) % 5 + 1;
    return {
        static_cast<double>(d % 2 == 0 ? value : -value),
        complex ? static_cast<double>(i % 2) : 0.0};
  }
  Wide solution(int k, int i) const {
    return {
        static_cast<double>((i * i + k) % 7 - 3),
        complex ? static_cast<double>((i + k) % 3) : 0.0};
  }
  Wide right_side(int k, int i, int of_diagonals) const {
    Wide sum = 0;
    for (int d = 0; d < 2 * width + 1; ++d) {
      const int column = i + d - width;
      if (column >= 0 && column < size) {
        sum += diagonal(of_diagonals, d, i) * solution(k, column);
      }
    }
    return sum;
  }

  int size;
  int width;
  int count;
  bool complex;
};

/// Where element i of system k is.
struct Layout {
  int system;
  int element;
};

constexpr double kUntouched = 77;

struct Arrays {
  std::vector<std::vector<Wide>> diagonals;
  std::vector<Wide> right_sides;
};

Arrays arrays_of(const Problem& problem, const Layout& layout, bool shared) {
  const auto length = static_cast<std::size_t>(
      (problem.count - 1) * layout.system +
      (problem.size - 1) * layout.element + 1);
  Arrays arrays;
  arrays.right_sides.assign(length, kUntouched);
  for (int d = 0; d < 2 * problem.width + 1; ++d) {
    auto& one = arrays.diagonals.emplace_back(length, Wide(kUntouched));
    for (int k = 0; k < (shared ? 1 : problem.count); ++k) {
      for (int i = 0; i < problem.size; ++i) {
        one[static_cast<std::size_t>(k * layout.system + i * layout.element)] =
            problem.diagonal(k, d, i);
      }
    }
  }
  for (int k = 0; k < problem.count; ++k) {
    for (int i = 0; i < problem.size; ++i) {
      arrays.right_sides[static_cast<std::size_t>(
          k * layout.system + i * layout.element)] =
          problem.right_side(k, i, shared ? 0 : k);
    }
  }
  return arrays;
}

void expect_solved(
    const Problem& problem,
    const Layout& layout,
    const std::vector<Wide>& found,
    double tolerance) {
  std::vector<bool> is_solution(found.size());
  for (int k = 0; k < problem.count; ++k) {
    for (int i = 0; i < problem.size; ++i) {
      const auto at =
          static_cast<std::size_t>(k * layout.system + i * layout.element);
      is_solution[at] = true;
      EXPECT_LE(std::abs(found[at] - problem.solution(k, i)), tolerance)
          << "system " << k << ", element " << i << ": " << found[at];
    }
  }
  for (std::size_t at = 0; at < found.size(); ++at) {
    if (!is_solution[at]) {
      EXPECT_EQ(found[at], Wide(kUntouched)) << "at " << at;
    }
  }
}

template <typename Api>
struct Functions;

#define FUNCTIONS(L, Api, type)                                            \
  template <>                                                              \
  struct Functions<Api> {                                                  \
    static constexpr cudaDataType kType = type;                            \
    static constexpr auto columns = cusparse##L##gtsv2;                    \
    static constexpr auto plain = cusparse##L##gtsv2_nopivot;              \
    static constexpr auto batch = cusparse##L##gtsv2StridedBatch;          \
    static constexpr auto beside = cusparse##L##gtsvInterleavedBatch;      \
    static constexpr auto five = cusparse##L##gpsvInterleavedBatch;        \
    static constexpr auto five_size =                                      \
        cusparse##L##gpsvInterleavedBatch_bufferSizeExt;                   \
    static constexpr auto columns_size = cusparse##L##gtsv2_bufferSizeExt; \
  };
FUNCTIONS(S, float, CUDA_R_32F)
FUNCTIONS(D, double, CUDA_R_64F)
FUNCTIONS(C, cuComplex, CUDA_C_32F)
FUNCTIONS(Z, cuDoubleComplex, CUDA_C_64F)
#undef FUNCTIONS

template <typename Api>
class Banded : public SparseTest {
 protected:
  using Call = Functions<Api>;

  static Problem problem(int size, int width, int count) {
    return {size, width, count, is_complex(Call::kType)};
  }
  static double tolerance() {
    return Call::kType == CUDA_R_64F || Call::kType == CUDA_C_64F ? 1e-10
                                                                  : 1e-4;
  }
  /// Solves what `call` is given: the diagonals and the right sides.
  template <typename Solve>
  void expect(
      const Problem& problem,
      const Layout& layout,
      bool shared,
      Solve&& solve) {
    const Arrays arrays = arrays_of(problem, layout, shared);
    std::vector<std::unique_ptr<Values>> diagonals;
    std::vector<Api*> pointers;
    for (const auto& one : arrays.diagonals) {
      diagonals.push_back(std::make_unique<Values>(Call::kType, one));
      pointers.push_back(static_cast<Api*>(diagonals.back()->get()));
    }
    const Values x(Call::kType, arrays.right_sides);
    EXPECT_EQ(solve(pointers, static_cast<Api*>(x.get())), kGood);
    expect_solved(problem, layout, x.read(), tolerance());
  }
};

using Types = ::testing::Types<float, double, cuComplex, cuDoubleComplex>;
TYPED_TEST_SUITE(Banded, Types);

TYPED_TEST(Banded, ColumnsShareTheirDiagonals) {
  using Call = typename TestFixture::Call;
  for (const int size : {3, 4, 57}) {
    for (const auto function : {Call::columns, Call::plain}) {
      this->expect(
          this->problem(size, 1, 3),
          {size + 2, 1},
          true,
          [&](const auto& d, auto* x) {
            return function(
                this->handle,
                size,
                3,
                d[0],
                d[1],
                d[2],
                x,
                size + 2,
                this->work.template get<void>());
          });
    }
  }
}

TYPED_TEST(Banded, BatchesAreOneBehindTheOther) {
  using Call = typename TestFixture::Call;
  this->expect(
      this->problem(20, 1, 4), {23, 1}, false, [&](const auto& d, auto* x) {
        return Call::batch(
            this->handle,
            20,
            d[0],
            d[1],
            d[2],
            x,
            4,
            23,
            this->work.template get<void>());
      });
}

TYPED_TEST(Banded, BatchesAreBesideEachOther) {
  using Call = typename TestFixture::Call;
  for (const int algorithm : {0, 1, 2}) {
    this->expect(
        this->problem(31, 1, 5), {1, 5}, false, [&](const auto& d, auto* x) {
          return Call::beside(
              this->handle,
              algorithm,
              31,
              d[0],
              d[1],
              d[2],
              x,
              5,
              this->work.template get<void>());
        });
  }
}

TYPED_TEST(Banded, FiveDiagonalsAreBesideEachOther) {
  using Call = typename TestFixture::Call;
  for (const int size : {3, 4, 5, 40}) {
    this->expect(
        this->problem(size, 2, 6), {1, 6}, false, [&](const auto& d, auto* x) {
          return Call::five(
              this->handle,
              0,
              size,
              d[0],
              d[1],
              d[2],
              d[3],
              d[4],
              x,
              6,
              this->work.template get<void>());
        });
  }
}

TYPED_TEST(Banded, ArgumentsAreChecked) {
  using Call = typename TestFixture::Call;
  const Values values(Call::kType, std::vector<Wide>(30, Wide(1)));
  auto* const v = static_cast<TypeParam*>(values.get());
  void* const work = this->work.template get<void>();
  std::size_t size = 0;
  EXPECT_EQ(
      Call::five_size(this->handle, 0, 5, v, v, v, v, v, v, 6, &size), kGood);
  EXPECT_GT(size, 0u);
  EXPECT_EQ(
      Call::five_size(this->handle, 1, 5, v, v, v, v, v, v, 6, &size),
      kInvalid);
  EXPECT_EQ(
      Call::five(this->handle, 1, 5, v, v, v, v, v, v, 6, work), kInvalid);
  EXPECT_EQ(
      Call::five(this->handle, 0, 2, v, v, v, v, v, v, 6, work), kInvalid);
  EXPECT_EQ(
      Call::five(this->handle, 0, 5, nullptr, v, v, v, v, v, 6, work),
      kInvalid);
  EXPECT_EQ(Call::beside(this->handle, 3, 5, v, v, v, v, 6, work), kInvalid);
  EXPECT_EQ(Call::batch(this->handle, 5, v, v, v, v, 2, 4, work), kInvalid);
  EXPECT_EQ(Call::columns(this->handle, 5, 2, v, v, v, v, 4, work), kInvalid);
  EXPECT_EQ(
      Call::columns_size(this->handle, 5, 2, v, v, v, v, 5, nullptr), kInvalid);
  EXPECT_EQ(
      Call::columns(nullptr, 5, 2, v, v, v, v, 5, work),
      CUSPARSE_STATUS_NOT_INITIALIZED);
}

} // namespace
} // namespace accelerator::sparse::testing

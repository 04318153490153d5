// Orders of rows and columns, and matrices in such an order.
#include <cusolverSp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/libraries/solver/testing/sparse_systems.h"

namespace accelerator::solver::testing {
namespace {

constexpr int kSide = 12, kRows = kSide * kSide;

class SparseReorderTest : public SparseSolverTest<SparseDouble> {
 protected:
  using Order = std::vector<int>;

  static std::vector<int> natural(int size) {
    std::vector<int> order(size);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  /// A grid whose nodes have been mixed up, beside another one.
  static System<double> mixed() {
    const System<double> first = grid(kSide, true, 1);
    std::vector<int> names = natural(2 * kRows);
    std::shuffle(names.begin(), names.end(), std::mt19937(2));
    std::vector<Entry> entries;
    for (int row = 0; row < kRows; ++row) {
      for (int k = first.offsets[row] - 1; k < first.offsets[row + 1] - 1;
           ++k) {
        for (const int from : {0, kRows}) {
          entries.push_back(
              {{names[from + row], names[from + first.indices[k] - 1]},
               first.values[k]});
        }
      }
    }
    return make_system(2 * kRows, 2 * kRows, entries);
  }
  Order order_of(
      const System<double>& system,
      decltype(cusolverSpXcsrsymrcmHost) function) const {
    Order order(system.rows, -1);
    EXPECT_EQ(
        function(
            handle,
            system.rows,
            system.nnz(),
            description,
            system.offsets.data(),
            system.indices.data(),
            order.data()),
        kSolved);
    return order;
  }
  static void expect_permutation(Order order, int size) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, natural(size));
  }
  /// Entries that Cholesky's factor has in an order.
  static std::size_t fill(const System<double>& system, const Order& order) {
    std::vector<int> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = static_cast<int>(i);
    }
    const int n = system.rows;
    std::vector<std::vector<char>> is_there(n, std::vector<char>(n));
    for (int row = 0; row < n; ++row) {
      for (int k = system.offsets[row] - 1; k < system.offsets[row + 1] - 1;
           ++k) {
        is_there[place[row]][place[system.indices[k] - 1]] = 1;
      }
    }
    std::size_t count = 0;
    for (int k = 0; k < n; ++k) {
      for (int i = k; i < n; ++i) {
        count += is_there[i][k];
        for (int j = k + 1; is_there[i][k] != 0 && j < n; ++j) {
          is_there[i][j] |= is_there[k][j];
        }
      }
    }
    return count;
  }
};

TEST_F(SparseReorderTest, OrdersSaveFill) {
  const System<double> system = mixed();
  const std::size_t before = fill(system, natural(system.rows));
  const Order by_band = order_of(system, cusolverSpXcsrsymrcmHost);
  expect_permutation(by_band, system.rows);
  EXPECT_LT(fill(system, by_band), before * 3 / 4);
  for (const auto function :
       {cusolverSpXcsrsymmdqHost, cusolverSpXcsrsymamdHost}) {
    const Order by_degree = order_of(system, function);
    expect_permutation(by_degree, system.rows);
    EXPECT_LT(fill(system, by_degree), before / 2);
  }
  Order order(system.rows, -1);
  ASSERT_EQ(
      cusolverSpXcsrmetisndHost(
          handle,
          system.rows,
          system.nnz(),
          description,
          system.offsets.data(),
          system.indices.data(),
          nullptr,
          order.data()),
      kSolved);
  expect_permutation(order, system.rows);
  EXPECT_LT(fill(system, order), before * 3 / 4);
}

// Rows near the diagonal: a grid has no band that is narrower than its side.
TEST_F(SparseReorderTest, CuthillMcKeeMakesABand) {
  const System<double> system = mixed();
  const Order order = order_of(system, cusolverSpXcsrsymrcmHost);
  std::vector<int> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int>(i);
  }
  int width = 0;
  for (int row = 0; row < system.rows; ++row) {
    for (int k = system.offsets[row] - 1; k < system.offsets[row + 1] - 1;
         ++k) {
      width =
          std::max(width, std::abs(place[row] - place[system.indices[k] - 1]));
    }
  }
  EXPECT_LE(width, kSide + 1);
}

// Graphs without edges, with one hub, and where all are connected.
TEST_F(SparseReorderTest, GraphsOfOtherShapes) {
  constexpr int kNodes = 60;
  for (const int shape : {0, 1, 2}) {
    SCOPED_TRACE(shape);
    std::vector<Entry> entries;
    for (int i = 0; i < kNodes; ++i) {
      for (int j = 0; j < kNodes; ++j) {
        if (i == j || (shape == 1 && i == 7) || shape == 2) {
          entries.push_back({{i, j}, 1});
        }
      }
    }
    const auto system = make_system(kNodes, kNodes, entries);
    for (const auto function :
         {cusolverSpXcsrsymrcmHost,
          cusolverSpXcsrsymmdqHost,
          cusolverSpXcsrsymamdHost}) {
      expect_permutation(order_of(system, function), kNodes);
    }
    Order order(kNodes, -1);
    ASSERT_EQ(
        cusolverSpXcsrmetisndHost(
            handle,
            kNodes,
            system.nnz(),
            description,
            system.offsets.data(),
            system.indices.data(),
            nullptr,
            order.data()),
        kSolved);
    expect_permutation(order, kNodes);
  }
}

TEST_F(SparseReorderTest, SymmetryOfAPattern) {
  for (const bool is_symmetric : {true, false}) {
    std::vector<Entry> entries{{{0, 1}, 2}, {{1, 0}, 5}, {{2, 2}, 1}};
    if (!is_symmetric) {
      entries.push_back({{0, 2}, 1});
    }
    const auto system = make_system(3, 3, entries);
    int answer = 7;
    ASSERT_EQ(
        cusolverSpXcsrissymHost(
            handle,
            3,
            system.nnz(),
            description,
            system.offsets.data(),
            system.offsets.data() + 1,
            system.indices.data(),
            &answer),
        kSolved);
    EXPECT_EQ(answer, is_symmetric ? 1 : 0);
  }
}

// (1 2 .; . 3 4; 5 . 6) with rows 2, 0, 1 and columns 1, 2, 0.
TEST_F(SparseReorderTest, Permutation) {
  auto system = make_system(
      3,
      3,
      {{{0, 0}, 1},
       {{0, 1}, 2},
       {{1, 1}, 3},
       {{1, 2}, 4},
       {{2, 0}, 5},
       {{2, 2}, 6}});
  const Order rows{2, 0, 1}, columns{1, 2, 0}, no_order{0, 0, 1};
  std::vector<int> map{0, 1, 2, 3, 4, 5};
  size_t bytes = 0;
  const auto size_for = [&](const Order& row_order) {
    return cusolverSpXcsrperm_bufferSizeHost(
        handle,
        3,
        3,
        6,
        description,
        system.offsets.data(),
        system.indices.data(),
        row_order.data(),
        columns.data(),
        &bytes);
  };
  const auto permute_to = [&](const Order& row_order) {
    return cusolverSpXcsrpermHost(
        handle,
        3,
        3,
        6,
        description,
        system.offsets.data(),
        system.indices.data(),
        row_order.data(),
        columns.data(),
        map.data(),
        nullptr);
  };
  ASSERT_EQ(size_for(rows), kSolved);
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(size_for(no_order), kWrong);
  EXPECT_EQ(permute_to(no_order), kWrong);
  ASSERT_EQ(permute_to(rows), kSolved);
  // (. 6 5; 2 . 1; 3 4 .)
  EXPECT_EQ(system.offsets, (std::vector<int>{1, 3, 5, 7}));
  EXPECT_EQ(system.indices, (std::vector<int>{2, 3, 1, 3, 1, 2}));
  EXPECT_EQ(map, (std::vector<int>{5, 4, 1, 0, 2, 3}));
}

} // namespace
} // namespace accelerator::solver::testing

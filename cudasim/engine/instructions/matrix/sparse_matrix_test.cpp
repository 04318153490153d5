// Matrix products of a warp with a sparse A (PTX ISA 9.7.14.6): its numbers
// that are not zero, and metadata that say where they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/instruction_harness.h"
#include "cudasim/engine/testing/matrices.h"

namespace cudasim::engine::testing {
namespace {

/// Which numbers of a row can differ from zero: in each piece some of its
/// parts.
struct Sparsity {
  int columns; // of a piece
  int together; // columns that are zero or not together
  /// Metadata of a piece in which the parts `first` and `second` are there.
  Bits (*encode)(int first, int second);
};

Bits two_indices(int first, int second) {
  return static_cast<Bits>(first | second << 2);
}
/// 0b0100 is the first number of two, 0b1110 the second.
Bits one_of_two(int first, int) {
  return first == 0 ? 0b0100 : 0b1110;
}

const Sparsity kTwoOfFour{4, 1, two_indices};
const Sparsity kOneOfTwo{2, 1, one_of_two};
const Sparsity kPairsOfEight{8, 2, two_indices};

/// Where the metadata of a row's 16 or 32 bits are.
struct MetadataPlace {
  int lane;
  int bit;
};
using MetadataLayout = MetadataPlace (*)(int row, int piece, int selector);

struct Case {
  int k;
  Sparsity sparsity;
  Layout a; // of the numbers that are there
  Layout b;
  MetadataLayout metadata;
  int selectors;
};

/// A row of A: its numbers with their columns, and the metadata of its pieces.
struct Row {
  std::vector<double> numbers;
  std::vector<int> columns;
  std::vector<Bits> pieces;
};

Row draw_row(const Case& test, const Element& element, std::mt19937& random) {
  Row row;
  const Sparsity& sparsity = test.sparsity;
  const int parts = sparsity.columns / sparsity.together;
  for (int first = 0; first < test.k; first += sparsity.columns) {
    std::vector<int> there(static_cast<std::size_t>(parts));
    for (int part = 0; part < parts; ++part) {
      there[static_cast<std::size_t>(part)] = part;
    }
    std::shuffle(there.begin(), there.end(), random);
    there.resize(static_cast<std::size_t>(parts / 2));
    std::sort(there.begin(), there.end());
    row.pieces.push_back(sparsity.encode(there.front(), there.back()));
    for (const int part : there) {
      for (int e = 0; e < sparsity.together; ++e) {
        row.numbers.push_back(element.draw(random));
        row.columns.push_back(first + part * sparsity.together + e);
      }
    }
  }
  return row;
}

void check_sparse(
    const Case& test,
    const Element& a_type,
    const Element& b_type,
    const Element& c_type,
    int selector,
    bool saturate = false) {
  const Matrix a{&a_type, 16, test.k / 2, test.a};
  const Matrix b{&b_type, test.k, 8, test.b};
  const Matrix c{&c_type, 16, 8, accumulator};
  // Indices rise here, as what is called ordered demands.
  const bool ordered = selector % 2 == 1 || saturate;
  const std::string key =
      std::string(ordered ? "mma.sp::ordered_metadata" : "mma.sp") +
      ".sync.aligned.m16n8k" + std::to_string(test.k) + ".row.col" +
      (saturate ? ".satfinite." : ".") + c_type.name + "." + a_type.name + "." +
      b_type.name + "." + c_type.name;
  Experiment experiment;
  const int metadata = a.registers() + b.registers() + c.registers();
  experiment.sources.assign(metadata + 1, {Register::k32, {}});
  std::vector<Column> right(
      static_cast<std::size_t>(c.registers()), {Register::k32, {}});
  experiment.active.assign(kSamples / 32, 0xffffffffu);
  std::mt19937 random(17);
  for (std::size_t warp = 0; warp < kSamples / 32; ++warp) {
    // What lanes have that are not asked does not count.
    std::vector<Bits> words(32);
    for (Bits& word : words) {
      word = random() & 0xffffffffu;
    }
    std::vector<double> left;
    const std::vector<double> top = draw(b, random);
    std::vector<double> sum = draw(c, random);
    add_fragment(b, top, experiment.sources, a.registers());
    add_fragment(c, sum, experiment.sources, a.registers() + b.registers());
    for (int m = 0; m < 16; ++m) {
      const Row row = draw_row(test, a_type, random);
      left.insert(left.end(), row.numbers.begin(), row.numbers.end());
      for (std::size_t piece = 0; piece < row.pieces.size(); ++piece) {
        const MetadataPlace place =
            test.metadata(m, static_cast<int>(piece), selector);
        Bits& word = words[static_cast<std::size_t>(place.lane)];
        word &= ~(Bits{0xf} << place.bit);
        word |= row.pieces[piece] << place.bit;
      }
      for (int n = 0; n < 8; ++n) {
        double& d = sum[m * 8 + n];
        for (std::size_t i = 0; i < row.numbers.size(); ++i) {
          d += row.numbers[i] * top[row.columns[i] * 8 + n];
        }
        if (saturate) {
          d = std::clamp(d, -2147483648.0, 2147483647.0);
        }
      }
    }
    add_fragment(a, left, experiment.sources, 0);
    std::vector<Bits>& all =
        experiment.sources[static_cast<std::size_t>(metadata)].values;
    all.insert(all.end(), words.begin(), words.end());
    add_fragment(c, sum, right, 0);
  }
  for (int r = 0; r < c.registers(); ++r) {
    experiment.results.push_back({Register::k32, std::vector<Bits>(kSamples)});
  }
  experiment.code = key + " " + list("$d", 0, c.registers()) + ", " +
      list("$", 0, a.registers()) + ", " +
      list("$", a.registers(), b.registers()) + ", " +
      list("$", a.registers() + b.registers(), c.registers()) + ", $" +
      std::to_string(metadata) + ", " + std::to_string(selector) + ";";
  check_experiment(key, experiment, right);
}

void check_selectors(
    const Case& test,
    const Element& a,
    const Element& b,
    const Element& c,
    bool saturate = false) {
  for (int selector = 0; selector < test.selectors; ++selector) {
    check_sparse(test, a, b, c, selector, saturate);
  }
}

// One lane of four has 16 bits for each of two rows; of 32 bits a row, the
// second half is the next lane's.
MetadataPlace of_two_rows(int row, int piece, int selector) {
  return {4 * (row % 8) + selector, 4 * piece + 16 * (row / 8)};
}
MetadataPlace of_two_rows_in_pairs(int row, int piece, int selector) {
  return {
      4 * (row % 8) + 2 * selector + piece / 4,
      4 * (piece % 4) + 16 * (row / 8)};
}
// Two lanes of four have 32 bits, each of one row; four have 64 bits a row.
MetadataPlace of_one_row(int row, int piece, int selector) {
  return {4 * (row % 8) + 2 * selector + row / 8, 4 * piece};
}
MetadataPlace of_one_row_by_all(int row, int piece, int) {
  return {4 * (row % 8) + 2 * (piece / 8) + row / 8, 4 * (piece % 8)};
}

TEST(SparseMatrix, SixteenBits) {
  const Layout a8 = [](int g, int t, int i) {
    return Place{g + (i < 2 ? 0 : 8), 2 * t + i % 2};
  };
  const Layout a16 = [](int g, int t, int i) {
    const bool upper = i < 2 || (i >= 4 && i < 6);
    return Place{g + (upper ? 0 : 8), 2 * t + i % 2 + (i < 4 ? 0 : 8)};
  };
  const Layout b = [](int g, int t, int i) {
    return Place{2 * t + i % 2 + 8 * (i / 2), g};
  };
  const Case narrow{16, kTwoOfFour, a8, b, of_two_rows, 4};
  const Case wide{32, kTwoOfFour, a16, b, of_two_rows_in_pairs, 2};
  for (const Case& test : {narrow, wide}) {
    check_selectors(test, kF16, kF16, kF32);
    check_selectors(test, kF16, kF16, kF16);
    check_selectors(test, kBf16, kBf16, kF32);
  }
}

TEST(SparseMatrix, Tf32) {
  const Layout a4 = [](int g, int t, int i) { return Place{g + 8 * i, t}; };
  const Layout a8 = [](int g, int t, int i) {
    return Place{g + (i % 2 == 0 ? 0 : 8), t + (i < 2 ? 0 : 4)};
  };
  const Layout b = [](int g, int t, int i) { return Place{t + 4 * i, g}; };
  check_selectors({8, kOneOfTwo, a4, b, of_two_rows, 4}, kTf32, kTf32, kF32);
  check_selectors(
      {16, kOneOfTwo, a8, b, of_two_rows_in_pairs, 2}, kTf32, kTf32, kF32);
}

TEST(SparseMatrix, Bytes) {
  const Layout a16 = [](int g, int t, int i) {
    return Place{g + (i < 4 ? 0 : 8), 4 * t + i % 4};
  };
  const Layout a32 = [](int g, int t, int i) {
    const bool upper = i < 4 || (i >= 8 && i < 12);
    return Place{g + (upper ? 0 : 8), 4 * t + i % 4 + (i < 8 ? 0 : 16)};
  };
  const Layout b32 = [](int g, int t, int i) {
    return Place{4 * t + i % 4 + 16 * (i / 4), g};
  };
  for (const Element& a : {kS8, kU8}) {
    for (const Element& b : {kS8, kU8}) {
      for (const bool saturate : {false, true}) {
        check_selectors(
            {32, kTwoOfFour, a16, b32, of_one_row, 2}, a, b, kS32, saturate);
        check_selectors(
            {64, kTwoOfFour, a32, b32, of_one_row_by_all, 1},
            a,
            b,
            kS32,
            saturate);
      }
    }
  }
}

TEST(SparseMatrix, Nibbles) {
  const Layout a32 = [](int g, int t, int i) {
    return Place{g + (i < 8 ? 0 : 8), 8 * t + i % 8};
  };
  const Layout a64 = [](int g, int t, int i) {
    const bool upper = i < 8 || (i >= 16 && i < 24);
    return Place{g + (upper ? 0 : 8), 8 * t + i % 8 + (i < 16 ? 0 : 32)};
  };
  const Layout b = [](int g, int t, int i) {
    return Place{8 * t + i % 8 + 32 * (i / 8), g};
  };
  for (const Element& left : {kS4, kU4}) {
    for (const Element& right : {kS4, kU4}) {
      for (const bool saturate : {false, true}) {
        check_selectors(
            {64, kPairsOfEight, a32, b, of_one_row, 2},
            left,
            right,
            kS32,
            saturate);
        check_selectors(
            {128, kPairsOfEight, a64, b, of_one_row_by_all, 1},
            left,
            right,
            kS32,
            saturate);
      }
    }
  }
}

double infinite(std::mt19937&) {
  return std::numeric_limits<double>::infinity();
}

TEST(SparseMatrix, ZerosMeetNothing) {
  // Were they multiplied with, infinite numbers of B would give NaN.
  Element b = kBf16;
  b.draw = infinite;
  Element a = kBf16;
  a.draw = [](std::mt19937&) { return 1.0; };
  const Layout a8 = [](int g, int t, int i) {
    return Place{g + (i < 2 ? 0 : 8), 2 * t + i % 2};
  };
  const Layout layout = [](int g, int t, int i) {
    return Place{2 * t + i % 2 + 8 * (i / 2), g};
  };
  check_selectors({16, kTwoOfFour, a8, layout, of_two_rows, 4}, a, b, kF32);
}

} // namespace
} // namespace cudasim::engine::testing

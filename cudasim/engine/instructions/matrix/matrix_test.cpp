// Matrix products of a warp, with the fragments' layouts written down as PTX
// ISA 9.7.14.5 has them: the row and column of element i of a lane.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/instruction_harness.h"
#include "cudasim/engine/testing/matrices.h"

namespace cudasim::engine::testing {
namespace {

double times(double a, double b) {
  return a * b;
}
double differs(double a, double b) {
  return a != b;
}

/// What an element of A and one of B add to the sum, and how a key says so.
struct Product {
  std::string suffix;
  double (*run)(double, double) = times;
};

void check_product(
    const Shape3& shape,
    const Element& a_type,
    Layout a_layout,
    const Element& b_type,
    Layout b_layout,
    const Element& c_type,
    Layout c_layout,
    bool saturate = false,
    const Product& product = {}) {
  const Matrix a{&a_type, shape.m, shape.k, a_layout};
  const Matrix b{&b_type, shape.k, shape.n, b_layout};
  const Matrix c{&c_type, shape.m, shape.n, c_layout};
  const std::string key = "mma.sync.aligned." + shape.name() + ".row.col" +
      (saturate ? ".satfinite." : ".") + c_type.name + "." + a_type.name + "." +
      b_type.name + "." + c_type.name + product.suffix;
  Experiment experiment;
  const int sources = a.registers() + b.registers() + c.registers();
  const Register kind = c_type.bits == 64 ? Register::k64 : Register::k32;
  experiment.sources.assign(static_cast<std::size_t>(sources), {kind, {}});
  std::vector<Column> right(
      static_cast<std::size_t>(c.registers()), {kind, {}});
  experiment.active.assign(kSamples / 32, 0xffffffffu);
  std::mt19937 random(11);
  for (std::size_t warp = 0; warp < kSamples / 32; ++warp) {
    const std::vector<double> left = draw(a, random);
    const std::vector<double> top = draw(b, random);
    std::vector<double> sum = draw(c, random);
    add_fragment(a, left, experiment.sources, 0);
    add_fragment(b, top, experiment.sources, a.registers());
    add_fragment(c, sum, experiment.sources, a.registers() + b.registers());
    for (int row = 0; row < shape.m; ++row) {
      for (int column = 0; column < shape.n; ++column) {
        double& d = sum[row * shape.n + column];
        for (int k = 0; k < shape.k; ++k) {
          d += product.run(left[row * shape.k + k], top[k * shape.n + column]);
        }
        if (saturate) {
          d = std::clamp(d, -2147483648.0, 2147483647.0);
        }
      }
    }
    add_fragment(c, sum, right, 0);
  }
  for (int r = 0; r < c.registers(); ++r) {
    experiment.results.push_back({kind, std::vector<Bits>(kSamples)});
  }
  const auto braces = [&](int first, int count) {
    return list("$", first, count);
  };
  experiment.code = key + " " + list("$d", 0, c.registers()) + ", " +
      braces(0, a.registers()) + ", " + braces(a.registers(), b.registers()) +
      ", " + braces(a.registers() + b.registers(), c.registers()) + ";";
  check_experiment(key, experiment, right);
}

// Fragments of C and D of all m8n8 shapes with 32-bit sums.
Place small_accumulator(int g, int t, int i) {
  return {g, 2 * t + i};
}

TEST(Matrix, HalfPrecision) {
  const Layout a8 = [](int g, int t, int i) {
    return Place{g + (i < 2 ? 0 : 8), 2 * t + i % 2};
  };
  const Layout b8 = [](int g, int t, int i) { return Place{2 * t + i, g}; };
  const Layout a16 = [](int g, int t, int i) {
    const bool upper = i < 2 || (i >= 4 && i < 6);
    return Place{g + (upper ? 0 : 8), 2 * t + i % 2 + (i < 4 ? 0 : 8)};
  };
  const Layout b16 = [](int g, int t, int i) {
    return Place{2 * t + i % 2 + (i < 2 ? 0 : 8), g};
  };
  for (const Element& c : {kF32, kF16}) {
    check_product({16, 8, 8}, kF16, a8, kF16, b8, c, accumulator);
    check_product({16, 8, 16}, kF16, a16, kF16, b16, c, accumulator);
  }
  check_product({16, 8, 8}, kBf16, a8, kBf16, b8, kF32, accumulator);
  check_product({16, 8, 16}, kBf16, a16, kBf16, b16, kF32, accumulator);
}

TEST(Matrix, Tf32) {
  const Layout a4 = [](int g, int t, int i) { return Place{g + 8 * i, t}; };
  const Layout b4 = [](int g, int t, int) { return Place{t, g}; };
  const Layout a8 = [](int g, int t, int i) {
    return Place{g + (i % 2 == 0 ? 0 : 8), t + (i < 2 ? 0 : 4)};
  };
  const Layout b8 = [](int g, int t, int i) { return Place{t + 4 * i, g}; };
  check_product({16, 8, 4}, kTf32, a4, kTf32, b4, kF32, accumulator);
  check_product({16, 8, 8}, kTf32, a8, kTf32, b8, kF32, accumulator);
}

TEST(Matrix, Bytes) {
  const Layout a8 = [](int g, int t, int i) { return Place{g, 4 * t + i}; };
  const Layout a16 = [](int g, int t, int i) {
    return Place{g + (i < 4 ? 0 : 8), 4 * t + i % 4};
  };
  const Layout b16 = [](int g, int t, int i) { return Place{4 * t + i, g}; };
  const Layout a32 = [](int g, int t, int i) {
    const bool upper = i < 4 || (i >= 8 && i < 12);
    return Place{g + (upper ? 0 : 8), 4 * t + i % 4 + (i < 8 ? 0 : 16)};
  };
  const Layout b32 = [](int g, int t, int i) {
    return Place{4 * t + i % 4 + (i < 4 ? 0 : 16), g};
  };
  for (const Element& a : {kS8, kU8}) {
    for (const Element& b : {kS8, kU8}) {
      for (const bool saturate : {false, true}) {
        check_product(
            {8, 8, 16}, a, a8, b, b16, kS32, small_accumulator, saturate);
        check_product({16, 8, 16}, a, a16, b, b16, kS32, accumulator, saturate);
        check_product({16, 8, 32}, a, a32, b, b32, kS32, accumulator, saturate);
      }
    }
  }
}

TEST(Matrix, Nibbles) {
  const Layout a8 = [](int g, int t, int i) { return Place{g, 8 * t + i}; };
  const Layout a32 = [](int g, int t, int i) {
    return Place{g + (i < 8 ? 0 : 8), 8 * t + i % 8};
  };
  const Layout b32 = [](int g, int t, int i) { return Place{8 * t + i, g}; };
  const Layout a64 = [](int g, int t, int i) {
    const bool upper = i < 8 || (i >= 16 && i < 24);
    return Place{g + (upper ? 0 : 8), 8 * t + i % 8 + (i < 16 ? 0 : 32)};
  };
  const Layout b64 = [](int g, int t, int i) {
    return Place{8 * t + i % 8 + (i < 8 ? 0 : 32), g};
  };
  for (const Element& a : {kS4, kU4}) {
    for (const Element& b : {kS4, kU4}) {
      for (const bool saturate : {false, true}) {
        check_product(
            {8, 8, 32}, a, a8, b, b32, kS32, small_accumulator, saturate);
        check_product({16, 8, 32}, a, a32, b, b32, kS32, accumulator, saturate);
        check_product({16, 8, 64}, a, a64, b, b64, kS32, accumulator, saturate);
      }
    }
  }
}

TEST(Matrix, SingleBits) {
  const Layout a8 = [](int g, int t, int i) { return Place{g, 32 * t + i}; };
  const Layout a128 = [](int g, int t, int i) {
    return Place{g + (i < 32 ? 0 : 8), 32 * t + i % 32};
  };
  const Layout b128 = [](int g, int t, int i) { return Place{32 * t + i, g}; };
  const Layout a256 = [](int g, int t, int i) {
    const bool upper = i < 32 || (i >= 64 && i < 96);
    return Place{g + (upper ? 0 : 8), 32 * t + i % 32 + (i < 64 ? 0 : 128)};
  };
  const Layout b256 = [](int g, int t, int i) {
    return Place{32 * t + i % 32 + (i < 32 ? 0 : 128), g};
  };
  Element c = kS32;
  c.draw = any_s8; // sums stay within 32 bits
  for (const Product& product :
       {Product{".xor.popc", differs}, Product{".and.popc"}}) {
    check_product(
        {8, 8, 128}, kB1, a8, kB1, b128, c, small_accumulator, false, product);
    check_product(
        {16, 8, 128}, kB1, a128, kB1, b128, c, accumulator, false, product);
    check_product(
        {16, 8, 256}, kB1, a256, kB1, b256, c, accumulator, false, product);
  }
}

TEST(Matrix, DoublePrecision) {
  check_product(
      {8, 8, 4},
      kF64,
      [](int g, int t, int) { return Place{g, t}; },
      kF64,
      [](int g, int t, int) { return Place{t, g}; },
      kF64,
      [](int g, int t, int i) { return Place{g, 2 * t + i}; });
}

} // namespace
} // namespace cudasim::engine::testing

// Matrix products of a warp on floats of 4 to 8 bits, and larger ones in double
// precision, with the fragments' layouts written down as PTX ISA 9.7.14.5 has
// them.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/instruction_harness.h"
#include "cudasim/engine/testing/matrices.h"

namespace cudasim::engine::testing {
namespace {

/// Numbers that all of the formats have: their products and sums are exact.
double little(std::mt19937& random) {
  constexpr double kNumbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const double x = kNumbers[random() % 8];
  return random() % 2 == 0 ? x : -x;
}
double little_half(std::mt19937& random) {
  return static_cast<int>(random() % 33) - 16;
}

/// The bits of a number that a format has.
template <int kExponentBits, int kMantissaBits, int kBias, int kShift = 0>
Bits small_bits(double x) {
  for (Bits code = 0; code < Bits{1} << (kExponentBits + kMantissaBits);
       ++code) {
    const auto exponent = static_cast<int>(code >> kMantissaBits);
    const auto mantissa =
        static_cast<int>(code & ((Bits{1} << kMantissaBits) - 1));
    const double value = std::ldexp(
        mantissa + (exponent == 0 ? 0 : 1 << kMantissaBits),
        (exponent == 0 ? 1 : exponent) - kBias - kMantissaBits);
    if (value == std::fabs(x)) {
      return (code |
              (x < 0 ? Bits{1} << (kExponentBits + kMantissaBits) : Bits{0}))
          << kShift;
    }
  }
  ADD_FAILURE() << x;
  return 0;
}

const Element kE4M3{"e4m3", 8, little, small_bits<4, 3, 7>};
const Element kE5M2{"e5m2", 8, little, small_bits<5, 2, 15>};
// In bytes: 6 bits at their end, 4 in their middle.
const Element kE2M3{"e2m3", 8, little, small_bits<2, 3, 1>};
const Element kE3M2{"e3m2", 8, little, small_bits<3, 2, 3>};
const Element kE2M1{"e2m1", 8, little, small_bits<2, 1, 1, 2>};
const Element kPacked{"e2m1", 4, little, small_bits<2, 1, 1>};
const Element kSum32{"f32", 32, little_half, float_bits};
const Element kSum16{"f16", 16, little_half, half_bits};

/// Scales of the parts of k for each row of A, or each column of B.
struct Scales {
  std::vector<std::vector<double>> of; // [row or column][part]
  std::vector<Bits> words; // of all lanes
};

/// @param lines rows of A or columns of B. @param lane_of which lane has the
/// word of a line. @param first byte of the word that counts.
template <typename Lane>
Scales draw_scales(
    int lines,
    int parts,
    int first,
    bool powers,
    std::mt19937& random,
    Lane lane_of) {
  Scales scales;
  for (int lane = 0; lane < 32; ++lane) {
    scales.words.push_back(random() & 0xffffffff); // of no account
  }
  for (int line = 0; line < lines; ++line) {
    Bits& word = scales.words[static_cast<std::size_t>(lane_of(line))];
    std::vector<double> values;
    for (int part = 0; part < parts; ++part) {
      const int exponent = static_cast<int>(random() % 5) - 2;
      const int eighths = powers ? 0 : 4 * static_cast<int>(random() % 2);
      values.push_back(std::ldexp(8 + eighths, exponent - 3));
      const Bits byte = powers
          ? static_cast<Bits>(exponent + 127)
          : static_cast<Bits>(exponent + 7) << 3 | static_cast<Bits>(eighths);
      const int at = 8 * (first + part);
      word = (word & ~(Bits{0xff} << at)) | byte << at;
    }
    scales.of.push_back(values);
  }
  return scales;
}

/// What is asked of a product.
struct Form {
  std::string kind; // "" or ".kind::f8f6f4" and the like
  int parts = 0; // of k with scales of their own; 0: none
  std::string scale; // "ue8m0"
  std::string target = "sm_107a";
};

void check_small(
    const Shape3& shape,
    const Element& a_type,
    Layout a_layout,
    const Element& b_type,
    Layout b_layout,
    const Element& c_type,
    const Form& form) {
  const Matrix a{&a_type, shape.m, shape.k, a_layout};
  const Matrix b{&b_type, shape.k, shape.n, b_layout};
  const Matrix c{&c_type, shape.m, shape.n, accumulator};
  const std::string key = "mma.sync.aligned." + shape.name() + ".row.col" +
      form.kind + "." + c_type.name + "." + a_type.name + "." + b_type.name +
      "." + c_type.name + (form.parts == 0 ? "" : "." + form.scale);
  // Each choice of bytes and threads that a form has.
  const int choices = form.parts == 0 ? 1 : 4;
  for (int choice = 0; choice < choices; ++choice) {
    const int byte_a = form.parts == 1 ? choice
        : form.parts == 2              ? choice / 2 * 2
                                       : 0;
    const int byte_b = form.parts == 1 ? 3 - choice
        : form.parts == 2              ? 2 - byte_a
                                       : 0;
    const int pair = choice % 2;
    const int thread = choice;
    Experiment experiment;
    experiment.target = form.target;
    const int registers = a.registers() + b.registers() + c.registers();
    const Register kind = c_type.bits == 64 ? Register::k64 : Register::k32;
    experiment.sources.assign(
        static_cast<std::size_t>(registers + (form.parts == 0 ? 0 : 2)),
        {kind, {}});
    std::vector<Column> right(
        static_cast<std::size_t>(c.registers()), {kind, {}});
    experiment.active.assign(kSamples / 32, 0xffffffffu);
    std::mt19937 random(static_cast<unsigned>(17 + choice));
    for (std::size_t warp = 0; warp < kSamples / 32; ++warp) {
      const std::vector<double> left = draw(a, random);
      const std::vector<double> top = draw(b, random);
      std::vector<double> sum = draw(c, random);
      add_fragment(a, left, experiment.sources, 0);
      add_fragment(b, top, experiment.sources, a.registers());
      add_fragment(c, sum, experiment.sources, a.registers() + b.registers());
      const bool powers = form.scale == "ue8m0";
      const Scales of_a =
          draw_scales(16, form.parts, byte_a, powers, random, [&](int row) {
            return row % 8 * 4 + 2 * pair + row / 8;
          });
      const Scales of_b =
          draw_scales(8, form.parts, byte_b, powers, random, [&](int column) {
            return column * 4 + thread;
          });
      if (form.parts != 0) {
        for (std::size_t lane = 0; lane < 32; ++lane) {
          const auto at = static_cast<std::size_t>(registers);
          experiment.sources[at].values.push_back(of_a.words[lane]);
          experiment.sources[at + 1].values.push_back(of_b.words[lane]);
        }
      }
      for (int row = 0; row < shape.m; ++row) {
        for (int column = 0; column < shape.n; ++column) {
          double& d = sum[static_cast<std::size_t>(row * shape.n + column)];
          for (int k = 0; k < shape.k; ++k) {
            double product = left[static_cast<std::size_t>(row * shape.k + k)] *
                top[static_cast<std::size_t>(k * shape.n + column)];
            if (form.parts != 0) {
              const auto part =
                  static_cast<std::size_t>(k * form.parts / shape.k);
              product *= of_a.of[static_cast<std::size_t>(row)][part] *
                  of_b.of[static_cast<std::size_t>(column)][part];
            }
            d += product;
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
        ", " + braces(a.registers() + b.registers(), c.registers());
    if (form.parts != 0) {
      const auto chosen = [](int byte, int thread_id) {
        return ", {" + std::to_string(byte) + ", " + std::to_string(thread_id) +
            "}";
      };
      experiment.code += ", $" + std::to_string(registers) +
          chosen(byte_a, pair) + ", $" + std::to_string(registers + 1) +
          chosen(byte_b, thread);
    }
    experiment.code += ";";
    check_experiment(key, experiment, right);
  }
}

Place a_bytes16(int g, int t, int i) {
  return {g + (i < 4 ? 0 : 8), 4 * t + i % 4};
}
Place b_bytes16(int g, int t, int i) {
  return {4 * t + i, g};
}
Place a_bytes32(int g, int t, int i) {
  const bool upper = i < 4 || (i >= 8 && i < 12);
  return {g + (upper ? 0 : 8), 4 * t + i % 4 + (i < 8 ? 0 : 16)};
}
Place b_bytes32(int g, int t, int i) {
  return {4 * t + i % 4 + (i < 4 ? 0 : 16), g};
}

TEST(SmallFloatMatrix, FloatsOfEightBits) {
  for (const Element& a : {kE4M3, kE5M2}) {
    for (const Element& b : {kE4M3, kE5M2}) {
      for (const Element& c : {kSum32, kSum16}) {
        check_small({16, 8, 16}, a, a_bytes16, b, b_bytes16, c, {});
        check_small({16, 8, 32}, a, a_bytes32, b, b_bytes32, c, {});
      }
    }
  }
}

TEST(SmallFloatMatrix, AllFormatsInBytes) {
  const Element kAll[] = {kE4M3, kE5M2, kE2M3, kE3M2, kE2M1};
  for (const Element& a : kAll) {
    for (const Element& b : kAll) {
      const auto check = [&](const Element& c, const Form& form) {
        check_small({16, 8, 32}, a, a_bytes32, b, b_bytes32, c, form);
      };
      check(kSum32, {".kind::f8f6f4", 0, "", "sm_120a"});
      check(kSum16, {".kind::f8f6f4", 0, "", "sm_120a"});
      for (const std::string size : {"", ".scale_vec::1X"}) {
        check(
            kSum32,
            {".kind::mxf8f6f4.block_scale" + size, 1, "ue8m0", "sm_120a"});
      }
    }
  }
}

TEST(SmallFloatMatrix, FloatsOfFourBitsWithScales) {
  const Layout a64 = [](int g, int t, int i) {
    const bool upper = i < 8 || (i >= 16 && i < 24);
    return Place{g + (upper ? 0 : 8), 8 * t + i % 8 + (i < 16 ? 0 : 32)};
  };
  const Layout b64 = [](int g, int t, int i) {
    return Place{8 * t + i % 8 + (i < 8 ? 0 : 32), g};
  };
  for (const Form& form :
       {Form{".kind::mxf4.block_scale", 2, "ue8m0", "sm_120a"},
        Form{".kind::mxf4.block_scale.scale_vec::2X", 2, "ue8m0", "sm_120a"},
        Form{
            ".kind::mxf4nvf4.block_scale.scale_vec::2X", 2, "ue8m0", "sm_120a"},
        Form{
            ".kind::mxf4nvf4.block_scale.scale_vec::4X", 4, "ue8m0", "sm_120a"},
        Form{
            ".kind::mxf4nvf4.block_scale.scale_vec::4X",
            4,
            "ue4m3",
            "sm_120a"}}) {
    check_small({16, 8, 64}, kPacked, a64, kPacked, b64, kSum32, form);
  }
}

TEST(SmallFloatMatrix, DoublePrecision) {
  const Layout a = [](int g, int t, int i) {
    return Place{g + 8 * (i % 2), t + 4 * (i / 2)};
  };
  const Layout b = [](int g, int t, int i) { return Place{t + 4 * i, g}; };
  for (const int k : {4, 8, 16}) {
    check_small({16, 8, k}, kF64, a, kF64, b, kF64, {});
  }
}

} // namespace
} // namespace cudasim::engine::testing

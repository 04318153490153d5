// Matrices of a warp: random numbers, and the registers of all lanes that hold
// them, with a fragment's layout written down as the PTX ISA has it.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cudasim/engine/testing/coverage_record.h"
#include "cudasim/engine/testing/exact_arithmetic.h"
#include "cudasim/engine/testing/instruction_harness.h"

namespace cudasim::engine::testing {

struct Place {
  int row;
  int column;
};
/// Where element i of a lane's fragment is in its matrix; g is lane / 4, t is
/// lane % 4.
using Layout = Place (*)(int g, int t, int i);

/// The type of a matrix's elements.
struct Element {
  std::string name;
  int bits;
  /// Small numbers, whose products and sums are exact in every format.
  double (*draw)(std::mt19937&);
  Bits (*encode)(double);
};

inline double small(std::mt19937& random) {
  return static_cast<double>(static_cast<int>(random() % 17) - 8) / 4;
}
inline Bits half_bits(double x) {
  return encode(Sixteen::kHalf, x, Rounding::kNearest);
}
inline Bits brain_bits(double x) {
  return encode(Sixteen::kBrain, x, Rounding::kNearest);
}
inline Bits float_bits(double x) {
  return bits_to<std::uint32_t>(static_cast<float>(x));
}
/// The lower 13 bits of a tf32 register do not count.
inline Bits tf32_bits(double x) {
  return float_bits(x) | 0x1a5a;
}
inline Bits double_bits(double x) {
  return bits_to<Bits>(x);
}
inline double any_s8(std::mt19937& random) {
  return static_cast<int>(random() % 256) - 128;
}
inline double any_u8(std::mt19937& random) {
  return static_cast<int>(random() % 256);
}
inline Bits byte_bits(double x) {
  return static_cast<Bits>(static_cast<int>(x)) & 0xff;
}
inline double any_s4(std::mt19937& random) {
  return static_cast<int>(random() % 16) - 8;
}
inline double any_u4(std::mt19937& random) {
  return static_cast<int>(random() % 16);
}
inline Bits nibble_bits(double x) {
  return static_cast<Bits>(static_cast<int>(x)) & 0xf;
}
inline double any_bit(std::mt19937& random) {
  return static_cast<int>(random() % 2);
}
inline Bits single_bit(double x) {
  return x != 0;
}
inline Bits word_bits(double x) {
  return static_cast<Bits>(static_cast<std::int64_t>(x)) & 0xffffffffu;
}
inline double any_word(std::mt19937& random) {
  // Some near the borders, for .satfinite.
  const auto word = static_cast<std::int32_t>(random());
  return random() % 4 == 0 ? std::numeric_limits<std::int32_t>::max() - 5
      : random() % 4 == 0  ? std::numeric_limits<std::int32_t>::min() + 5
                           : word;
}

inline const Element kF16{"f16", 16, small, half_bits};
inline const Element kBf16{"bf16", 16, small, brain_bits};
inline const Element kTf32{"tf32", 32, small, tf32_bits};
inline const Element kF32{"f32", 32, small, float_bits};
inline const Element kF64{"f64", 64, small, double_bits};
inline const Element kS8{"s8", 8, any_s8, byte_bits};
inline const Element kU8{"u8", 8, any_u8, byte_bits};
inline const Element kS4{"s4", 4, any_s4, nibble_bits};
inline const Element kU4{"u4", 4, any_u4, nibble_bits};
inline const Element kB1{"b1", 1, any_bit, single_bit};
inline const Element kS32{"s32", 32, any_word, word_bits};

struct Shape3 {
  int m;
  int n;
  int k;
  std::string name() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" +
        std::to_string(k);
  }
};

/// The fragment of a matrix with `rows` x `columns` numbers.
struct Matrix {
  const Element* element;
  int rows;
  int columns;
  Layout layout;
  /// How many elements a lane has.
  int per_lane() const {
    return rows * columns / 32;
  }
  int per_register() const {
    return std::max(1, 32 / element->bits);
  }
  int registers() const {
    return per_lane() / per_register();
  }
};

/// Registers of all lanes from the numbers of one warp's matrix.
inline void add_fragment(
    const Matrix& matrix,
    const std::vector<double>& numbers,
    std::vector<Column>& columns,
    std::size_t first_column) {
  for (int r = 0; r < matrix.registers(); ++r) {
    for (int lane = 0; lane < 32; ++lane) {
      Bits word = 0;
      for (int e = 0; e < matrix.per_register(); ++e) {
        const Place place =
            matrix.layout(lane / 4, lane % 4, r * matrix.per_register() + e);
        word |= matrix.element->encode(
                    numbers[place.row * matrix.columns + place.column])
            << (e * matrix.element->bits);
      }
      columns[first_column + static_cast<std::size_t>(r)].values.push_back(
          word);
    }
  }
}

inline std::vector<double> draw(const Matrix& matrix, std::mt19937& random) {
  std::vector<double> numbers;
  for (int i = 0; i < matrix.rows * matrix.columns; ++i) {
    numbers.push_back(matrix.element->draw(random));
  }
  return numbers;
}

inline std::string list(const std::string& prefix, int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + prefix + std::to_string(first + i);
  }
  return text + "}";
}

/// A fragment of C or D of m16n8 with 32-bit sums.
inline Place accumulator(int g, int t, int i) {
  return {g + (i < 2 ? 0 : 8), 2 * t + i % 2};
}

/// Runs an experiment whose results have to be `right`, and notes that the
/// instruction was checked.
inline void check_experiment(
    const std::string& key,
    const Experiment& experiment,
    const std::vector<Column>& right) {
  const std::vector<Column> is = run_experiment(experiment);
  if (is.empty()) {
    return;
  }
  Differences differences(key);
  for (std::size_t r = 0; r < right.size(); ++r) {
    for (std::size_t i = 0; i < kSamples; ++i) {
      if (is[r].values[i] != right[r].values[i]) {
        differences.add(
            {i},
            "register " + std::to_string(r),
            is[r].values[i],
            right[r].values[i]);
      }
    }
  }
  record_checked(key);
}

} // namespace cudasim::engine::testing

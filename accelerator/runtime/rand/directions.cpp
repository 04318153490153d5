#include "accelerator/runtime/rand/directions.h"

#include <array>

#include "accelerator/runtime/rand/joe_kuo.h"

namespace accelerator::rand {
namespace {

/// Of splitmix64: random numbers by their index. Source: G. Steele and others,
/// "Fast splittable pseudorandom number generators" (2014).
std::uint64_t mixed(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

template <typename Word>
constexpr int kBits = 8 * sizeof(Word);

/// One dimension's vectors.
/// @param initial of its polynomial.
template <typename Word>
void fill(std::uint32_t polynomial, const std::uint32_t* initial, Word* out) {
  const int degree = 31 - __builtin_clz(polynomial);
  for (int i = 0; i < kBits<Word>; ++i) {
    if (degree == 0) {
      out[i] = Word{1} << (kBits<Word> - 1 - i);
      continue;
    }
    if (i < degree) {
      out[i] = static_cast<Word>(initial[i]) << (kBits<Word> - 1 - i);
      continue;
    }
    out[i] = out[i - degree] ^ (out[i - degree] >> degree);
    for (int k = 1; k < degree; ++k) {
      if ((polynomial >> (degree - k) & 1U) != 0) {
        out[i] ^= out[i - k];
      }
    }
  }
}

/// Multiplies vectors by a lower triangular matrix, whose rows are those of the
/// bits from the highest.
template <typename Word>
void scramble(std::uint32_t dimension, Word* vectors) {
  std::array<Word, kBits<Word>> rows;
  for (int row = 0; row < kBits<Word>; ++row) {
    const int bit = kBits<Word> - 1 - row;
    const Word higher = row == 0 ? 0 : ~Word{0} << (bit + 1);
    const auto random = static_cast<Word>(
        mixed(std::uint64_t{dimension} * 64 + static_cast<unsigned>(row)));
    rows[row] = (random & higher) | Word{1} << bit;
  }
  for (int i = 0; i < kBits<Word>; ++i) {
    Word result = 0;
    for (const Word row : rows) {
      result =
          result << 1 | static_cast<Word>(__builtin_parityll(vectors[i] & row));
    }
    vectors[i] = result;
  }
}

} // namespace

template <typename Word>
std::vector<Word> direction_vectors(
    std::uint32_t dimensions,
    bool is_scrambled) {
  std::vector<Word> vectors(std::size_t{dimensions} * kBits<Word>);
  const std::uint32_t* initial = kInitialNumbers;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    Word* const here = vectors.data() + std::size_t{i} * kBits<Word>;
    fill(kPolynomials[i], initial, here);
    initial += 31 - __builtin_clz(kPolynomials[i]);
    if (is_scrambled) {
      scramble(i, here);
    }
  }
  return vectors;
}

template <typename Word>
std::vector<Word> scramble_constants(std::uint32_t dimensions) {
  std::vector<Word> constants;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    constants.push_back(static_cast<Word>(mixed(~std::uint64_t{i})));
  }
  return constants;
}

template std::vector<std::uint32_t> direction_vectors(std::uint32_t, bool);
template std::vector<unsigned long long> direction_vectors(std::uint32_t, bool);
template std::vector<std::uint32_t> scramble_constants(std::uint32_t);
template std::vector<unsigned long long> scramble_constants(std::uint32_t);

} // namespace accelerator::rand

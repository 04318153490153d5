#include "runtime/libraries/rand/directions.h"

#include <array>

#include "runtime/libraries/rand/joe_kuo.h"
#include "runtime/libraries/rand/sequence.h"

namespace accelerator::rand {
namespace {

/// Bits of a vector. Shorter vectors are the upper halves of the first ones.
constexpr int kBits = 64;

/// Where in XORWOW's numbers of seed 0 the scrambling is: first a matrix for
/// each dimension, then a constant for each, all of 64 bits with their lower
/// half first. Source: what the tables of NVIDIA's library (10.4.5) follow
/// from.
constexpr std::uint64_t kMatrices = 1;
constexpr std::uint64_t kNumbersOfMatrix = std::uint64_t{2} * kBits;
constexpr std::uint64_t kConstants =
    kMatrices + kMaxDimensions * kNumbersOfMatrix;

std::vector<std::uint64_t> random_words(
    std::uint64_t position,
    std::size_t count) {
  std::vector<std::uint32_t> halves(2 * count);
  make_xorwow({CURAND_RNG_PSEUDO_XORWOW,
               CURAND_ORDERING_PSEUDO_DEFAULT,
               0,
               position,
               1})
      ->bits(halves.data(), halves.size());
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < count; ++i) {
    words[i] = std::uint64_t{halves[2 * i + 1]} << 32 | halves[2 * i];
  }
  return words;
}

using Vectors = std::array<std::uint64_t, kBits>;

/// One dimension's vectors.
/// @param initial of its polynomial.
Vectors make_vectors(std::uint32_t polynomial, const std::uint32_t* initial) {
  const int degree = 31 - __builtin_clz(polynomial);
  Vectors vectors;
  for (int i = 0; i < kBits; ++i) {
    if (degree == 0) {
      vectors[i] = std::uint64_t{1} << (kBits - 1 - i);
      continue;
    }
    if (i < degree) {
      vectors[i] = std::uint64_t{initial[i]} << (kBits - 1 - i);
      continue;
    }
    vectors[i] = vectors[i - degree] ^ (vectors[i - degree] >> degree);
    for (int k = 1; k < degree; ++k) {
      if ((polynomial >> (degree - k) & 1U) != 0) {
        vectors[i] ^= vectors[i - k];
      }
    }
  }
  return vectors;
}

/// Multiplies vectors by a lower triangular matrix, whose rows are those of the
/// bits from the highest.
/// @param random numbers for its rows.
void scramble(const std::uint64_t* random, Vectors& vectors) {
  Vectors rows;
  for (int row = 0; row < kBits; ++row) {
    const int bit = kBits - 1 - row;
    const std::uint64_t higher = row == 0 ? 0 : ~std::uint64_t{0} << (bit + 1);
    rows[row] = (random[row] & higher) | std::uint64_t{1} << bit;
  }
  for (std::uint64_t& vector : vectors) {
    std::uint64_t result = 0;
    for (const std::uint64_t row : rows) {
      result = result << 1 |
          static_cast<std::uint64_t>(__builtin_parityll(vector & row));
    }
    vector = result;
  }
}

template <typename Word>
Word upper_bits(std::uint64_t word) {
  return static_cast<Word>(word >> (kBits - 8 * sizeof(Word)));
}

} // namespace

template <typename Word>
std::vector<Word> direction_vectors(
    std::uint32_t dimensions,
    bool is_scrambled) {
  const std::vector<std::uint64_t> random = random_words(
      kMatrices, is_scrambled ? std::size_t{dimensions} * kBits : 0);
  std::vector<Word> all;
  all.reserve(std::size_t{dimensions} * 8 * sizeof(Word));
  const std::uint32_t* initial = kInitialNumbers;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    Vectors vectors = make_vectors(kPolynomials[i], initial);
    initial += 31 - __builtin_clz(kPolynomials[i]);
    if (is_scrambled) {
      scramble(random.data() + std::size_t{i} * kBits, vectors);
    }
    for (std::size_t k = 0; k < 8 * sizeof(Word); ++k) {
      all.push_back(upper_bits<Word>(vectors[k]));
    }
  }
  return all;
}

template <typename Word>
std::vector<Word> scramble_constants(std::uint32_t dimensions) {
  std::vector<Word> constants;
  for (const std::uint64_t word : random_words(kConstants, dimensions)) {
    constants.push_back(upper_bits<Word>(word));
  }
  return constants;
}

template std::vector<std::uint32_t> direction_vectors(std::uint32_t, bool);
template std::vector<unsigned long long> direction_vectors(std::uint32_t, bool);
template std::vector<std::uint32_t> scramble_constants(std::uint32_t);
template std::vector<unsigned long long> scramble_constants(std::uint32_t);

} // namespace accelerator::rand

// The direction vectors of Sobol's sequence, and its scrambling. Source: P.
// Bratley and B. Fox, "Algorithm 659" (1988); J. Matousek, "On the
// L2-discrepancy for anchored boxes" (1998), for the scrambling by matrices.
#pragma once

#include <cstdint>
#include <vector>

namespace accelerator::rand {

constexpr std::uint32_t kMaxDimensions = 20000;

/// As many vectors as Word has bits, of one dimension after the other.
/// @tparam Word std::uint32_t or unsigned long long.
/// @param is_scrambled whether each dimension's are multiplied by a random
/// matrix of its own, which is NVIDIA's.
template <typename Word>
std::vector<Word> direction_vectors(
    std::uint32_t dimensions,
    bool is_scrambled);

/// What a scrambled dimension's numbers are added to, bit by bit.
template <typename Word>
std::vector<Word> scramble_constants(std::uint32_t dimensions);

} // namespace accelerator::rand

// Random numbers of cuDNN: Philox 4x32-10, an element for each number.
#pragma once

#include <cstdint>

namespace accelerator::dnn {

/// A number of 32 bits for an element.
/// @param offset of the sequence.
std::uint32_t random_bits(
    std::uint64_t seed,
    std::uint64_t offset,
    std::uint64_t element);

/// A number of (0, 1].
double random_uniform(
    std::uint64_t seed,
    std::uint64_t offset,
    std::uint64_t element);

} // namespace accelerator::dnn

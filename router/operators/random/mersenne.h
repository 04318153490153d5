// Positions in the CPU generator's sequence of random numbers.
#pragma once

#include <ATen/core/MT19937RNGEngine.h>

#include <cstdint>

namespace torch_cuda::operators {

/// The engine of a seed. Up to 32 bits it is the CPU generator's of that seed;
/// all 64 bits of a larger one count, by the initialisation with a key that
/// the authors of MT19937 describe.
at::mt19937 engine_of(uint64_t seed);

/// The engine of a seed at an offset that is no place in the sequence of the
/// seed: one of its own, by the same initialisation.
at::mt19937 engine_apart(uint64_t seed, uint64_t offset);

/// How many numbers were drawn between two states of an engine, of which
/// `later` came out of `earlier`. Takes a fraction of a nanosecond a number.
uint64_t drawn_between(
    const at::mt19937_data_pod& earlier,
    const at::mt19937_data_pod& later);

/// An engine after `drawn` more numbers. Takes a fraction of a nanosecond a
/// number.
at::mt19937 engine_after(const at::mt19937_data_pod& engine, uint64_t drawn);

} // namespace torch_cuda::operators

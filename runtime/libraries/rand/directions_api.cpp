// Sobol's direction vectors, for programs that hand them to kernels. They stay
// for the rest of the process.
#include <curand.h>

#include <cstdint>
#include <new>

#include "runtime/libraries/rand/directions.h"

namespace accelerator::rand {
namespace {

template <typename Word, bool kIsScrambled>
Word* vectors() {
  static auto all = direction_vectors<Word>(kMaxDimensions, kIsScrambled);
  return all.data();
}

template <typename Word>
Word* constants() {
  static auto all = scramble_constants<Word>(kMaxDimensions);
  return all.data();
}

/// @param get the address of the numbers.
template <typename Address, typename Get>
curandStatus_t give(Address* address, Get get) {
  if (address == nullptr) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  try {
    *address = reinterpret_cast<Address>(get());
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  return CURAND_STATUS_SUCCESS;
}

} // namespace
} // namespace accelerator::rand

using namespace accelerator::rand;

extern "C" {

curandStatus_t curandGetDirectionVectors32(
    curandDirectionVectors32_t* vectors_of[],
    curandDirectionVectorSet_t set) {
  switch (set) {
    case CURAND_DIRECTION_VECTORS_32_JOEKUO6:
      return give(vectors_of, vectors<std::uint32_t, false>);
    case CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6:
      return give(vectors_of, vectors<std::uint32_t, true>);
    default:
      return CURAND_STATUS_OUT_OF_RANGE;
  }
}

curandStatus_t curandGetDirectionVectors64(
    curandDirectionVectors64_t* vectors_of[],
    curandDirectionVectorSet_t set) {
  switch (set) {
    case CURAND_DIRECTION_VECTORS_64_JOEKUO6:
      return give(vectors_of, vectors<unsigned long long, false>);
    case CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6:
      return give(vectors_of, vectors<unsigned long long, true>);
    default:
      return CURAND_STATUS_OUT_OF_RANGE;
  }
}

curandStatus_t curandGetScrambleConstants32(unsigned int** constants_of) {
  return give(constants_of, constants<std::uint32_t>);
}

curandStatus_t curandGetScrambleConstants64(unsigned long long** constants_of) {
  return give(constants_of, constants<unsigned long long>);
}

} // extern "C"

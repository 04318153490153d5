// Making generators and what they are told, and what the library says of
// itself.
#include <cuda_runtime_api.h>
#include <curand.h>

#include <cstdint>
#include <mutex>
#include <new>

#include "runtime/libraries/rand/directions.h"
#include "runtime/libraries/rand/generators.h"

namespace accelerator::rand {
namespace {

/// Changes a generator.
/// @param change is given the generator, whose mutex is held, and returns a
/// status.
template <typename Change>
curandStatus_t change(curandGenerator_t handle, Change change) {
  const auto generator = find_generator(handle);
  if (generator == nullptr) {
    return CURAND_STATUS_NOT_INITIALIZED;
  }
  const std::lock_guard<std::mutex> lock(generator->mutex);
  return change(*generator);
}

/// Sets one of a generator's settings. With another value the sequence begins
/// anew, with the same one it goes on. Source: what libcurand.so of 10.3.5 did.
/// @param setting one of the settings of that generator.
template <typename T>
void set(Generator& generator, T& setting, T value) {
  if (setting != value) {
    setting = value;
    generator.shared = nullptr;
  }
}

} // namespace
} // namespace accelerator::rand

using namespace accelerator::rand;

extern "C" {

curandStatus_t curandCreateGenerator(
    curandGenerator_t* generator,
    curandRngType_t type) {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  return create_generator(generator, type, false);
}

curandStatus_t curandCreateGeneratorHost(
    curandGenerator_t* generator,
    curandRngType_t type) {
  return create_generator(generator, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return destroy_generator(generator);
}

curandStatus_t curandSetStream(
    curandGenerator_t generator,
    cudaStream_t stream) {
  return change(generator, [&](Generator& its) {
    its.stream = stream;
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(
    curandGenerator_t generator,
    unsigned long long seed) {
  return change(generator, [&](Generator& its) {
    if (is_quasirandom(its.settings.type)) {
      return CURAND_STATUS_TYPE_ERROR;
    }
    set<std::uint64_t>(its, its.settings.seed, seed);
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetGeneratorOffset(
    curandGenerator_t generator,
    unsigned long long offset) {
  return change(generator, [&](Generator& its) {
    if (is_mersenne_twister(its.settings.type)) {
      return CURAND_STATUS_TYPE_ERROR;
    }
    // It is absolute: the sequence begins there even if it was there.
    its.settings.position = offset;
    its.shared = nullptr;
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetGeneratorOrdering(
    curandGenerator_t generator,
    curandOrdering_t ordering) {
  return change(generator, [&](Generator& its) {
    if (!has_ordering(its, ordering)) {
      return CURAND_STATUS_OUT_OF_RANGE;
    }
    set(its, its.settings.ordering, ordering);
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(
    curandGenerator_t generator,
    unsigned int dimensions) {
  return change(generator, [&](Generator& its) {
    if (!is_quasirandom(its.settings.type)) {
      return CURAND_STATUS_TYPE_ERROR;
    }
    if (dimensions < 1 || dimensions > kMaxDimensions) {
      return CURAND_STATUS_OUT_OF_RANGE;
    }
    set<std::uint32_t>(its, its.settings.dimensions, dimensions);
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return change(generator, [](Generator& its) {
    // The state is made anew, as NVIDIA's is, also in mid-sequence.
    its.shared = nullptr;
    try {
      sequence_of(its);
    } catch (const std::bad_alloc&) {
      return CURAND_STATUS_ALLOCATION_FAILED;
    }
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  constexpr int kParts[] = {
      CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  *value = kParts[type];
  return CURAND_STATUS_SUCCESS;
}

} // extern "C"

// Making generators and what they are told, and what the library says of
// itself.
#include <cuda_runtime_api.h>
#include <curand.h>

#include <mutex>
#include <new>

#include "accelerator/runtime/rand/directions.h"
#include "accelerator/runtime/rand/generators.h"

namespace accelerator::rand {
namespace {

/// Changes a generator's settings, and where its sequence begins with them.
/// @param change is given the settings, and returns a status.
template <typename Change>
curandStatus_t change(curandGenerator_t handle, Change change) {
  const auto generator = find_generator(handle);
  if (generator == nullptr) {
    return CURAND_STATUS_NOT_INITIALIZED;
  }
  const std::lock_guard<std::mutex> lock(generator->mutex);
  const curandStatus_t status = change(generator->settings);
  if (status == CURAND_STATUS_SUCCESS) {
    generator->shared = nullptr;
  }
  return status;
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
  const auto found = find_generator(generator);
  if (found == nullptr) {
    return CURAND_STATUS_NOT_INITIALIZED;
  }
  const std::lock_guard<std::mutex> lock(found->mutex);
  found->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(
    curandGenerator_t generator,
    unsigned long long seed) {
  return change(generator, [&](Settings& settings) {
    if (is_quasirandom(settings.type)) {
      return CURAND_STATUS_TYPE_ERROR;
    }
    settings.seed = seed;
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetGeneratorOffset(
    curandGenerator_t generator,
    unsigned long long offset) {
  return change(generator, [&](Settings& settings) {
    if (is_mersenne_twister(settings.type)) {
      return CURAND_STATUS_TYPE_ERROR;
    }
    settings.position = offset;
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetGeneratorOrdering(
    curandGenerator_t generator,
    curandOrdering_t ordering) {
  return change(generator, [&](Settings& settings) {
    if (!has_ordering(settings.type, ordering)) {
      return CURAND_STATUS_OUT_OF_RANGE;
    }
    settings.ordering = ordering;
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(
    curandGenerator_t generator,
    unsigned int dimensions) {
  return change(generator, [&](Settings& settings) {
    if (!is_quasirandom(settings.type)) {
      return CURAND_STATUS_TYPE_ERROR;
    }
    if (dimensions < 1 || dimensions > kMaxDimensions) {
      return CURAND_STATUS_OUT_OF_RANGE;
    }
    settings.dimensions = dimensions;
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  const auto found = find_generator(generator);
  if (found == nullptr) {
    return CURAND_STATUS_NOT_INITIALIZED;
  }
  const std::lock_guard<std::mutex> lock(found->mutex);
  try {
    sequence_of(*found);
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  switch (type) {
    case MAJOR_VERSION:
      *value = CURAND_VER_MAJOR;
      return CURAND_STATUS_SUCCESS;
    case MINOR_VERSION:
      *value = CURAND_VER_MINOR;
      return CURAND_STATUS_SUCCESS;
    case PATCH_LEVEL:
      *value = CURAND_VER_PATCH;
      return CURAND_STATUS_SUCCESS;
  }
  return CURAND_STATUS_OUT_OF_RANGE;
}

} // extern "C"

// Asking generators for numbers. Those of the device are work of the
// generator's stream; a graph's replays go on with the sequence.
#include <cuda_runtime_api.h>
#include <curand.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>

#include "runtime/libraries/rand/generators.h"
#include "runtime/libraries/rand/poisson.h"
#include "runtime/stream_work/stream_work.h"

namespace accelerator::rand {
namespace {

/// Has a generator make numbers.
/// @param is_normal whether they are normal or log-normal.
/// @param make makes them: is given the sequence.
template <typename T, typename Make>
curandStatus_t generate(
    const char* function,
    const std::shared_ptr<Generator>& generator,
    T* out,
    std::size_t count,
    bool is_normal,
    Make make) {
  const std::lock_guard<std::mutex> lock(generator->mutex);
  Settings& settings = generator->settings;
  // Steps of two numbers each are whole ones.
  const bool is_odd = count % 2 != 0 && steps(settings, is_normal, 2) == 1;
  if (is_quasirandom(settings.type) ? count % settings.dimensions != 0
                                    : is_odd) {
    return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  }
  if (out == nullptr) {
    return CURAND_STATUS_LAUNCH_FAILURE;
  }
  std::shared_ptr<SharedSequence> shared;
  try {
    shared = sequence_of(*generator);
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  const auto work = [=] {
    const std::lock_guard<std::mutex> its_lock(shared->mutex);
    make(*shared->sequence, out, count);
  };
  if (generator->is_host) {
    work();
  } else {
    // That a stream is still busy is no failure.
    if (const cudaError_t before = cudaPeekAtLastError();
        before != cudaSuccess && before != cudaErrorNotReady) {
      return CURAND_STATUS_PREEXISTING_FAILURE;
    }
    if (!stream_work::accessible(
            function, {{out, stream_work::times(count, sizeof(T))}})) {
      return CURAND_STATUS_LAUNCH_FAILURE;
    }
    const cudaError_t error =
        stream_work::enqueue(function, generator->stream, work);
    if (error != cudaSuccess) {
      return error == cudaErrorNotSupported ? CURAND_STATUS_ARCH_MISMATCH
                                            : CURAND_STATUS_LAUNCH_FAILURE;
    }
  }
  settings.position += steps(settings, is_normal, count);
  return CURAND_STATUS_SUCCESS;
}

/// The same where no generator may be there, or nothing is asked of it.
template <typename T, typename Make>
curandStatus_t generate(
    const char* function,
    curandGenerator_t handle,
    T* out,
    std::size_t count,
    bool is_normal,
    Make make) {
  const auto generator = find_generator(handle);
  if (generator == nullptr) {
    return CURAND_STATUS_NOT_INITIALIZED;
  }
  if (count == 0) {
    return CURAND_STATUS_SUCCESS;
  }
  return generate(function, generator, out, count, is_normal, make);
}

/// Bits of generators that have as many at a time.
/// @param has_type whether a type of generator is one of them.
template <typename T, typename HasType>
curandStatus_t generate_bits(
    const char* function,
    curandGenerator_t handle,
    T* out,
    std::size_t count,
    HasType has_type) {
  const auto generator = find_generator(handle);
  if (generator == nullptr) {
    return CURAND_STATUS_NOT_INITIALIZED;
  }
  if (count == 0) {
    return CURAND_STATUS_SUCCESS;
  }
  // The type never changes.
  if (!has_type(generator->settings.type)) {
    return CURAND_STATUS_TYPE_ERROR;
  }
  return generate(
      function,
      generator,
      out,
      count,
      false,
      [](Sequence& sequence, T* to, std::size_t n) { sequence.bits(to, n); });
}

template <typename T>
curandStatus_t generate_uniform(
    const char* function,
    curandGenerator_t handle,
    T* out,
    std::size_t count) {
  return generate(
      function,
      handle,
      out,
      count,
      false,
      [](Sequence& sequence, T* to, std::size_t n) {
        sequence.uniform(to, n);
      });
}

template <typename T>
curandStatus_t generate_normal(
    const char* function,
    curandGenerator_t handle,
    T* out,
    std::size_t count,
    T mean,
    T deviation,
    bool is_log) {
  return generate(
      function,
      handle,
      out,
      count,
      true,
      [=](Sequence& sequence, T* to, std::size_t n) {
        sequence.normal(to, n);
        for (std::size_t i = 0; i < n; ++i) {
          to[i] = mean + to[i] * deviation;
          if (is_log) {
            to[i] = std::exp(to[i]);
          }
        }
      });
}

} // namespace
} // namespace accelerator::rand

using namespace accelerator::rand;

extern "C" {

curandStatus_t curandGenerate(
    curandGenerator_t generator,
    unsigned int* out,
    size_t count) {
  return generate_bits(__func__, generator, out, count, [](curandRngType_t t) {
    return !is_64_bit(t);
  });
}

curandStatus_t curandGenerateLongLong(
    curandGenerator_t generator,
    unsigned long long* out,
    size_t count) {
  static_assert(sizeof(*out) == sizeof(std::uint64_t));
  return generate_bits(
      __func__,
      generator,
      reinterpret_cast<std::uint64_t*>(out),
      count,
      is_64_bit);
}

#define ACCEL_PRECISION(suffix, Real)                             \
  curandStatus_t curandGenerateUniform##suffix(                   \
      curandGenerator_t generator, Real* out, size_t count) {     \
    return generate_uniform(__func__, generator, out, count);     \
  }                                                               \
  curandStatus_t curandGenerateNormal##suffix(                    \
      curandGenerator_t generator,                                \
      Real* out,                                                  \
      size_t count,                                               \
      Real mean,                                                  \
      Real deviation) {                                           \
    return generate_normal(                                       \
        __func__, generator, out, count, mean, deviation, false); \
  }                                                               \
  curandStatus_t curandGenerateLogNormal##suffix(                 \
      curandGenerator_t generator,                                \
      Real* out,                                                  \
      size_t count,                                               \
      Real mean,                                                  \
      Real deviation) {                                           \
    return generate_normal(                                       \
        __func__, generator, out, count, mean, deviation, true);  \
  }
ACCEL_PRECISION(, float)
ACCEL_PRECISION(Double, double)
#undef ACCEL_PRECISION

curandStatus_t curandGeneratePoisson(
    curandGenerator_t generator,
    unsigned int* out,
    size_t count,
    double lambda) {
  if (find_generator(generator) == nullptr) {
    return CURAND_STATUS_NOT_INITIALIZED;
  }
  if (!(lambda > 0 && lambda <= Poisson::kLargest)) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  std::shared_ptr<const Poisson> distribution;
  try {
    distribution = std::make_shared<const Poisson>(lambda);
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  return generate(
      __func__,
      generator,
      out,
      count,
      false,
      [distribution](Sequence& sequence, unsigned int* to, size_t n) {
        sequence.poisson(*distribution, to, n);
      });
}

} // extern "C"

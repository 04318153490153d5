// cuRAND's generators: what a handle stands for, and which handles there are.
// Source: cuRAND API, "Host API".
#pragma once

#include <cuda_runtime_api.h>
#include <curand.h>

#include <memory>
#include <mutex>

#include "runtime/libraries/rand/sequence.h"

namespace accelerator::rand {

/// A sequence that work in streams goes through.
struct SharedSequence {
  std::mutex mutex;
  std::unique_ptr<Sequence> sequence;
};

struct Generator {
  /// Guards what follows.
  std::mutex mutex;
  /// Whether its numbers are for memory of the host, and made in the call.
  bool is_host = false;
  cudaStream_t stream = nullptr;
  /// The position counts the calls so far.
  Settings settings{};
  /// Null until numbers are asked for, and when the settings have changed. Work
  /// that is in a stream already has the one of its time.
  std::shared_ptr<SharedSequence> shared;
};

/// @returns CURAND_STATUS_TYPE_ERROR for a type that there is not.
curandStatus_t create_generator(
    curandGenerator_t* handle,
    curandRngType_t type,
    bool is_host);

/// The generator of a handle; null for a handle that there is not.
std::shared_ptr<Generator> find_generator(curandGenerator_t handle);

curandStatus_t destroy_generator(curandGenerator_t handle);

/// Whether a generator's sequence can have this ordering. Source: what
/// libcurand.so of 10.3.5 answered for the host, and cuRAND, "Host API
/// overview", for the device.
bool has_ordering(const Generator& generator, curandOrdering_t ordering);

/// The sequence of a generator, whose mutex is held.
/// @throws std::bad_alloc: no memory of the host.
std::shared_ptr<SharedSequence> sequence_of(Generator& generator);

} // namespace accelerator::rand

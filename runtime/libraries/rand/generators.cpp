#include "runtime/libraries/rand/generators.h"

#include <cstdint>
#include <new>
#include <unordered_map>

namespace accelerator::rand {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Generator>> generators;
  std::uintptr_t next = 1;
};

/// Lives as long as the process: programs destroy generators while they end.
Table& table() {
  static auto* const instance = new Table;
  return *instance;
}

/// What the two types stand for that are a default.
curandRngType_t resolved(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
      return CURAND_RNG_PSEUDO_XORWOW;
    case CURAND_RNG_QUASI_DEFAULT:
      return CURAND_RNG_QUASI_SOBOL32;
    default:
      return type;
  }
}

bool is_type(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return true;
    default:
      return false;
  }
}

} // namespace

curandStatus_t create_generator(
    curandGenerator_t* handle,
    curandRngType_t type,
    bool is_host) {
  if (handle == nullptr) {
    return CURAND_STATUS_OUT_OF_RANGE;
  }
  type = resolved(type);
  if (!is_type(type)) {
    return CURAND_STATUS_TYPE_ERROR;
  }
  try {
    auto generator = std::make_shared<Generator>();
    generator->is_host = is_host;
    generator->settings = {
        type,
        is_quasirandom(type) ? CURAND_ORDERING_QUASI_DEFAULT
                             : CURAND_ORDERING_PSEUDO_DEFAULT,
        0,
        0,
        1};
    Table& all = table();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.generators.emplace(all.next, std::move(generator));
    *handle = reinterpret_cast<curandGenerator_t>(all.next++);
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  return CURAND_STATUS_SUCCESS;
}

std::shared_ptr<Generator> find_generator(curandGenerator_t handle) {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found =
      all.generators.find(reinterpret_cast<std::uintptr_t>(handle));
  return found == all.generators.end() ? nullptr : found->second;
}

curandStatus_t destroy_generator(curandGenerator_t handle) {
  Table& all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.generators.erase(reinterpret_cast<std::uintptr_t>(handle)) == 0
      ? CURAND_STATUS_NOT_INITIALIZED
      : CURAND_STATUS_SUCCESS;
}

bool has_ordering(const Generator& generator, curandOrdering_t ordering) {
  const curandRngType_t type = generator.settings.type;
  switch (ordering) {
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY:
      return !is_quasirandom(type);
    case CURAND_ORDERING_PSEUDO_BEST:
      return !is_quasirandom(type) && type != CURAND_RNG_PSEUDO_MT19937;
    case CURAND_ORDERING_PSEUDO_SEEDED:
      return type == CURAND_RNG_PSEUDO_XORWOW;
    case CURAND_ORDERING_QUASI_DEFAULT:
      return is_quasirandom(type);
    // Which numbers it has is left to the device: here those of the default.
    case CURAND_ORDERING_PSEUDO_DYNAMIC:
      return !generator.is_host && !is_quasirandom(type) &&
          type != CURAND_RNG_PSEUDO_MT19937;
  }
  return false;
}

std::shared_ptr<SharedSequence> sequence_of(Generator& generator) {
  if (generator.shared == nullptr) {
    auto shared = std::make_shared<SharedSequence>();
    shared->sequence = make_sequence(generator.settings);
    generator.shared = std::move(shared);
  }
  return generator.shared;
}

} // namespace accelerator::rand

#include "cudasim/engine/translation/statistics.h"

namespace cudasim::engine {

NativeStatistics& native_statistics() {
  static auto& instance = *new NativeStatistics;
  return instance; // threads may outlive main()
}

std::uint64_t native_regions() {
  return native_statistics().made.load(std::memory_order_relaxed) +
      found_native_regions();
}

std::uint64_t found_native_regions() {
  return native_statistics().found.load(std::memory_order_relaxed);
}

std::uint64_t refused_native_regions() {
  return native_statistics().refused.load(std::memory_order_relaxed);
}

std::uint64_t handled_native_instructions() {
  return native_statistics().handled.load(std::memory_order_relaxed);
}

} // namespace cudasim::engine

// How much processor time goes into code that is to save some.
#pragma once

#include <atomic>
#include <cstdint>

namespace cudasim::native {

/// Lets one thread take a small part of the process's processor time, and what
/// its work has saved so far: the process is never much slower for it.
class Budget {
 public:
  /// @param nanoseconds of processor time that the process did not need. Any
  /// thread may tell.
  void saved(std::uint64_t nanoseconds) {
    saved_.fetch_add(nanoseconds, std::memory_order_relaxed);
  }
  /// Whether the calling thread, the only one that asks, may take so much more.
  /// @param nanoseconds of processor time, as predicted.
  bool allows(std::uint64_t nanoseconds) const;

 private:
  std::atomic<std::uint64_t> saved_{0};
};

} // namespace cudasim::native

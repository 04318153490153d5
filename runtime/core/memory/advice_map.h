// What programs say of managed memory (cudaMemAdvise, cudaMemPrefetchAsync): it
// moves nothing here, and is kept for who asks.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace accelerator::runtime {

/// Of a page.
struct Advice {
  bool read_mostly = false;
  cudaMemLocation preferred{cudaMemLocationTypeInvalid, cudaInvalidDeviceId};
  cudaMemLocation prefetched{cudaMemLocationTypeInvalid, cudaInvalidDeviceId};
  std::set<int> accessed_by; // devices, or cudaCpuDeviceId
};

class AdviceMap {
 public:
  /// Changes what is said of the pages of [begin, end).
  void change(
      std::uint64_t begin,
      std::uint64_t end,
      const std::function<void(Advice&)>& change);
  /// Calls `visit` with what is said of them: at least once, and once for each
  /// run of pages of which the same was said at a time.
  void visit(
      std::uint64_t begin,
      std::uint64_t end,
      const std::function<void(const Advice&)>& visit) const;
  /// Forgets it: the memory is freed.
  void forget(std::uint64_t begin, std::uint64_t end);

 private:
  struct Run {
    std::uint64_t end;
    Advice advice;
  };
  void split(std::uint64_t address);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Run> runs_; // by where they begin
};

/// That of the process.
AdviceMap& advice_map();

} // namespace accelerator::runtime

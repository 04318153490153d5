#include "cudasim/native/budget.h"

#include <ctime>

namespace cudasim::native {
namespace {

/// The part of the other threads' processor time: 1 / kPart.
constexpr std::uint64_t kPart = 32;
/// Those take longer while this one works, mostly on the other thread of a
/// core: by 1 / kSlower of what it takes.
constexpr std::uint64_t kSlower = 3;

std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
      static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace

bool Budget::allows(std::uint64_t nanoseconds) const {
  const std::uint64_t mine = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t all = nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const std::uint64_t others = all > mine ? all - mine : 0;
  const std::uint64_t spent = mine + nanoseconds;
  return spent + spent / kSlower <=
      others / kPart + saved_.load(std::memory_order_relaxed);
}

} // namespace cudasim::native

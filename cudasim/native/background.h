// Work that nobody waits for, on one thread of low priority.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "cudasim/native/budget.h"

namespace cudasim::native {

/// Executes jobs one after the other, each as soon as the budget allows it. The
/// thread begins with the first job. It ends with the process: exit() waits for
/// the job that is being executed, and drops the others. A child of fork() has
/// no such thread, and drops its jobs.
class Background {
 public:
  using Job = std::function<void()>;

  static Background& instance();

  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Has a job executed later.
  /// @param owner whoever forgets it.
  /// @param nanoseconds of processor time that it is predicted to take; 0: so
  /// little that the budget is not asked.
  void add(const void* owner, Job job, std::uint64_t nanoseconds = 0);
  Budget& budget() {
    return budget_;
  }
  /// Drops an owner's jobs. Waits for the one that is being executed, and drops
  /// what it added.
  void forget(const void* owner);
  /// Waits until there is no job left, whatever the budget; for tests.
  void wait();

 private:
  struct Entry {
    const void* owner;
    Job job;
    std::uint64_t nanoseconds;
  };

  Background() = default;
  void run();
  std::deque<Entry>::iterator next();
  static void stop_at_exit();
  void stop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  const void* executing_ = nullptr; // whose job it is
  std::vector<const void*> forgotten_; // who waits for it, and adds no more
  int waiting_ = 0; // threads that wait for all jobs
  bool stopping_ = false;
  bool is_child_ = false; // of fork()
  std::thread thread_;
  Budget budget_;
};

} // namespace cudasim::native

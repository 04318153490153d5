// Work that nobody waits for, on one thread of low priority.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace cudasim::native {

/// Executes jobs one after the other. The thread begins with the first job. It
/// ends with the process: exit() waits for the job that is being executed, and
/// drops the others. A child of fork() has no such thread, and drops its jobs.
class Background {
 public:
  using Job = std::function<void()>;

  static Background& instance();

  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Has a job executed later.
  /// @param owner whoever forgets it.
  void add(const void* owner, Job job);
  /// Drops an owner's jobs. Waits for the one that is being executed.
  void forget(const void* owner);
  /// Waits until there is no job left; for tests.
  void wait();

 private:
  struct Entry {
    const void* owner;
    Job job;
  };

  Background() = default;
  void run();
  static void stop_at_exit();
  void stop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  const void* executing_ = nullptr; // whose job it is
  bool stopping_ = false;
  bool is_child_ = false; // of fork()
  std::thread thread_;
};

} // namespace cudasim::native

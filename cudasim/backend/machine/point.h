// A place in a stream's work that others can wait for.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace cudasim::backend {

/// Reached once, when the work in front of it is done.
class Point {
 public:
  using Clock = std::chrono::steady_clock;

  bool reached() const {
    return reached_.load(std::memory_order_acquire);
  }
  /// When it was reached; meaningful once reached() holds.
  Clock::time_point when() const {
    return when_;
  }
  void reach() {
    {
      const std::lock_guard lock(mutex_);
      when_ = Clock::now();
      reached_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
  }
  void wait() {
    if (reached()) {
      return;
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reached(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> reached_{false};
  Clock::time_point when_;
};

} // namespace cudasim::backend

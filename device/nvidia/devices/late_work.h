// Calls of the driver that wait for the device, as those that free do, made on
// a thread of this library: who asks does not wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace accelerator::nvidia {

/// Does one piece after the other. Lives to the end of the process.
class LateWork {
 public:
  /// Waits a moment for it, as the device is idle most of the time.
  /// @param bytes of memory that it frees.
  /// @throws what the function throws, when that happens in this moment.
  void run(std::function<void()> function, std::uint64_t bytes = 0);
  /// Waits for all that was given.
  void wait();
  /// Of memory that is not free yet.
  std::uint64_t bytes();

 private:
  struct Piece;
  void work();

  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<Piece>> pieces_; // the first one is being done
  std::uint64_t bytes_ = 0;
};

} // namespace accelerator::nvidia

#include "runtime/tools/cupti/flush_period.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "runtime/tools/cupti/recorder.h"

namespace accelerator::cupti {
namespace {

class Flusher {
 public:
  void set(std::uint32_t milliseconds) {
    const std::lock_guard lock(mutex_);
    period_ = std::chrono::milliseconds(milliseconds);
    if (milliseconds != 0 && !running_) {
      sigset_t all;
      sigset_t before;
      sigfillset(&all); // signals are for the program's own threads
      pthread_sigmask(SIG_SETMASK, &all, &before);
      try {
        std::thread([this] { run(); }).detach();
        running_ = true;
      } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
      }
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (period_.count() != 0) {
      const auto period = period_;
      if (!changed_.wait_for(lock, period, [&] { return period_ != period; })) {
        lock.unlock();
        recorder().buffers().flush(false);
        lock.lock();
      }
    }
    running_ = false;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::milliseconds period_{0};
  bool running_ = false;
};

} // namespace

void set_flush_period(std::uint32_t milliseconds) {
  static auto* flusher = new Flusher; // outlives static destructors
  flusher->set(milliseconds);
}

} // namespace accelerator::cupti

#include "cudasim/backend/machine/stream.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include <sys/prctl.h>

#include "cudasim/backend/machine/device.h"
#include "cudasim/backend/status/error.h"
#include "cudasim/engine/launch/float_environment.h"

namespace cudasim::backend {
namespace {

// A host that runs ahead without end would fill memory with parameters.
constexpr std::uint64_t kQueueLimit = 4096;

// CUDASIM_SYNC=1: one task at a time in the whole process. Recursive, because a
// host function may end up here again.
std::recursive_mutex& serial_mutex() {
  static auto* mutex = new std::recursive_mutex; // outlives static destructors
  return *mutex;
}

// Signals are for the program's own threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

// A program that waits for what it has just put in does it itself, which is
// cheaper than to wake a thread and to be woken by it. The thread of a stream
// that was waited for lately is therefore not woken for the next few pieces but
// finds them, soon enough for a program that does not wait this time.
constexpr std::uint64_t kFewPieces = 4;
constexpr std::chrono::microseconds kDoze{50};

} // namespace

std::uint64_t Stream::mark() const {
  if (device_.synchronous()) {
    const std::lock_guard lock(serial_mutex());
  }
  return submitted();
}

void Stream::put(std::unique_ptr<Work> work) {
  if (device_.synchronous()) {
    const std::lock_guard lock(serial_mutex());
    run(*work);
    return;
  }
  std::unique_lock lock(mutex_);
  while (submitted_ >= completed_ + kQueueLimit) {
    wait_locked(lock, submitted_ - kQueueLimit + 1);
  }
  require(!closing_, "the stream is destroyed");
  // Before the work is there, which stays the caller's when there is no thread
  // to be had.
  if (thread_ == Thread::kNone) {
    start_thread();
  }
  Work* const added = work.get();
  (first_ == nullptr ? first_ : last_->next_) = std::move(work);
  last_ = added;
  const std::uint64_t pieces = ++submitted_ - completed_;
  if (thread_ == Thread::kAsleep ||
      (thread_ == Thread::kDozing &&
       (added->of_host_ || pieces >= kFewPieces))) {
    wake_thread(lock);
  }
}

void Stream::start_thread() {
  const BlockedSignals blocked;
  std::thread([self = shared_from_this()] { self->work_off(); }).detach();
  thread_ = Thread::kAwake;
}

// Lets go of the lock, for which the thread would have to wait.
void Stream::wake_thread(std::unique_lock<std::mutex>& lock) {
  thread_ = Thread::kAwake;
  lock.unlock();
  given_.notify_one();
}

void Stream::run(Work& work) {
  if (!work.of_host_ &&
      (abandoned_.load(std::memory_order_relaxed) ||
       device_.fault() != ACCEL_OK)) {
    return;
  }
  // Host functions compute here too, and under CUDASIM_SYNC=1 this is one of
  // the program's own threads.
  const engine::DefaultFloatEnvironment environment;
  accel_status status = ACCEL_UNKNOWN;
  try {
    status = work.run();
  } catch (const std::exception& error) {
    report(error.what());
  }
  if (status != ACCEL_OK) {
    device_.set_fault(ACCEL_IS_FAULT(status) ? status : ACCEL_LAUNCH_FAILURE);
  }
}

void Stream::work_off() {
  prctl(PR_SET_TIMERSLACK, 1000); // nanoseconds; a doze is to be short
  std::unique_lock lock(mutex_);
  while (std::unique_ptr<Work> work = take_all(lock)) {
    lock.unlock();
    while (work != nullptr) {
      run(*work);
      // What it holds is let go before anyone sees it as done.
      work = std::move(work->next_);
      complete();
    }
    lock.lock();
    taken_ = false;
  }
}

// All that waits in the queue; null when there is nothing to come.
std::unique_ptr<Work> Stream::take_all(std::unique_lock<std::mutex>& lock) {
  while (first_ == nullptr || taken_) {
    if (closing_ && first_ == nullptr) {
      return nullptr;
    }
    if (waited_for_.exchange(false, std::memory_order_relaxed)) {
      thread_ = Thread::kDozing;
      given_.wait_for(lock, kDoze);
    } else {
      thread_ = Thread::kAsleep;
      given_.wait(lock);
    }
  }
  thread_ = Thread::kAwake;
  taken_ = true;
  return std::move(first_);
}

void Stream::complete() {
  // Who is going to sleep has said for what before it looked whether it is
  // there, and this is the other way round: one of both sees the other.
  const std::uint64_t count = completed_.fetch_add(1) + 1;
  if (count >= awaited_) {
    {
      const std::lock_guard lock(mutex_);
      awaited_ = kNobody; // who goes on waiting says so again
    }
    progress_.notify_all();
  }
}

void Stream::wait(std::uint64_t count) {
  waited_for_.store(true, std::memory_order_relaxed);
  if (!done(count)) {
    std::unique_lock lock(mutex_);
    help(lock, count);
    wait_locked(lock, count);
  }
}

// Does what the thread has not begun, as far as it is no work of the host's.
void Stream::help(std::unique_lock<std::mutex>& lock, std::uint64_t count) {
  if (taken_) {
    return;
  }
  taken_ = true;
  while (completed_ < count && first_ != nullptr && !first_->of_host_) {
    std::unique_ptr<Work> work = std::move(first_);
    first_ = std::move(work->next_);
    lock.unlock();
    run(*work);
    work.reset();
    complete();
    lock.lock();
  }
  taken_ = false;
  if (first_ != nullptr || closing_) { // also to end
    wake_thread(lock);
    lock.lock();
  }
}

void Stream::wait_locked(
    std::unique_lock<std::mutex>& lock,
    std::uint64_t count) {
  while (true) {
    awaited_ = std::min(awaited_.load(), count);
    if (completed_ >= count) {
      return;
    }
    progress_.wait(lock);
  }
}

void Stream::close() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  wake_thread(lock);
}

void Stream::abandon() {
  abandoned_ = true;
  close();
}

} // namespace cudasim::backend

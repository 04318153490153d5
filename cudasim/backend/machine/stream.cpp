#include "cudasim/backend/machine/stream.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <thread>

#include "cudasim/backend/machine/device.h"
#include "cudasim/backend/status/error.h"
#include "cudasim/engine/launch/float_environment.h"

namespace cudasim::backend {
namespace {

// A host that runs ahead without end would fill memory with parameters.
constexpr std::size_t kQueueLimit = 4096;

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

} // namespace

void Stream::enqueue(Task task, bool always, std::function<void()> after) {
  Item item{std::move(task), always, std::move(after)};
  if (device_.synchronous()) {
    const std::lock_guard lock(serial_mutex());
    run(item);
    if (item.after) {
      item.after();
    }
    return;
  }
  push(std::move(item));
}

void Stream::push(Item item) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.size() < kQueueLimit; });
    require(!closing_, "the stream is destroyed");
    // Before the item is there, which stays the caller's when there is no
    // thread to be had.
    if (!started_) {
      const BlockedSignals blocked;
      std::thread([self = shared_from_this()] { self->work(); }).detach();
      started_ = true;
    }
    queue_.push_back(std::move(item));
    ++submitted_;
  }
  changed_.notify_all();
}

void Stream::run(Item& item) {
  if (!item.always && device_.fault() != ACCEL_OK) {
    return;
  }
  // Host functions compute here too, and under CUDASIM_SYNC=1 this is one of
  // the program's own threads.
  const engine::DefaultFloatEnvironment environment;
  accel_status status = ACCEL_UNKNOWN;
  try {
    status = item.task();
  } catch (const std::exception& error) {
    report(error.what());
  }
  if (status != ACCEL_OK) {
    device_.set_fault(ACCEL_IS_FAULT(status) ? status : ACCEL_LAUNCH_FAILURE);
  }
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !queue_.empty() || closing_; });
    if (queue_.empty()) {
      return;
    }
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    run(item);
    const auto after = std::move(item.after);
    item = {}; // what it holds is let go before anyone sees it as done
    lock.lock();
    ++completed_;
    if (after) {
      after();
    }
    changed_.notify_all();
  }
}

bool Stream::idle() const {
  const std::lock_guard lock(mutex_);
  return completed_ == submitted_;
}

void Stream::synchronize() {
  std::unique_lock lock(mutex_);
  const std::uint64_t count = submitted_;
  changed_.wait(lock, [&] { return completed_ >= count; });
}

void Stream::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
}

void Stream::abandon() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    const auto rest = std::remove_if(
        queue_.begin(), queue_.end(), [](const Item& i) { return !i.always; });
    completed_ += static_cast<std::uint64_t>(queue_.end() - rest);
    queue_.erase(rest, queue_.end());
  }
  changed_.notify_all();
}

} // namespace cudasim::backend

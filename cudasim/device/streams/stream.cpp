#include "cudasim/device/streams/stream.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <new>
#include <thread>

#include "cudasim/device/streams/stream_set.h"
#include "cudasim/engine/launch/float_environment.h"

namespace cudasim::device {
namespace {

// A host that runs ahead without end would fill memory with parameters.
constexpr std::size_t kQueueLimit = 4096;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> ids{1};
  return ids++;
}

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

Stream::Stream(StreamSet& set, Kind kind, unsigned flags, int priority)
    : set_(set),
      kind_(kind),
      flags_(flags),
      priority_(priority),
      id_(next_id()) {}

Device& Stream::device() const {
  return set_.device();
}

void Stream::enqueue(Task task, bool always, std::function<void()> after) {
  Item item{std::move(task), always, std::move(after), {}};
  if (set_.synchronous()) {
    const std::lock_guard lock(serial_mutex());
    run(item);
    if (item.after) {
      item.after();
    }
    return;
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.size() < kQueueLimit; });
  }
  if (kind_ == Kind::kNonBlocking) {
    push(std::move(item));
    return;
  }
  // Between looking at the other streams and joining the queue none of them may
  // do the same.
  const std::lock_guard order(set_.order_mutex());
  item.marks = implicit_marks();
  push(std::move(item));
}

std::vector<Stream::Mark> Stream::implicit_marks() const {
  std::vector<Mark> marks;
  for (auto& other : set_.all()) {
    const bool related = kind_ == Kind::kLegacy
        ? other->kind_ == Kind::kBlocking
        : other->kind_ == Kind::kLegacy;
    if (other.get() != this && related && !other->idle()) {
      const std::uint64_t count = other->submitted();
      marks.push_back({std::move(other), count});
    }
  }
  return marks;
}

void Stream::push(Item item) {
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    require(!closing_, cudaErrorContextIsDestroyed);
    queue_.push_back(std::move(item));
    ++submitted_;
    start = !started_;
    started_ = true;
  }
  if (start) {
    const BlockedSignals blocked;
    std::thread([self = shared_from_this()] { self->work(); }).detach();
  } else {
    changed_.notify_all();
  }
}

void Stream::run(Item& item) {
  for (const Mark& mark : item.marks) {
    mark.stream->wait_until(mark.count);
  }
  if (!item.always && set_.fault() != cudaSuccess) {
    return;
  }
  // The host's BLAS computes here too, and under CUDASIM_SYNC=1 this is one of
  // the program's own threads.
  const engine::DefaultFloatEnvironment environment;
  Status status = cudaErrorUnknown;
  try {
    status = item.task();
  } catch (const Failure& failure) {
    report(failure.message());
    status = failure.status();
  } catch (const std::bad_alloc&) {
    status = cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    report(error.what());
  }
  if (status != cudaSuccess) {
    set_.set_fault(status);
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

std::uint64_t Stream::submitted() const {
  const std::lock_guard lock(mutex_);
  return submitted_;
}

void Stream::synchronize() {
  wait_until(submitted());
}

void Stream::wait_until(std::uint64_t count) {
  std::unique_lock lock(mutex_);
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

} // namespace cudasim::device

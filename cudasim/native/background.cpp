#include "cudasim/native/background.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

namespace cudasim::native {
namespace {

constexpr int kLowPriority = 10; // nice
/// After which the budget is asked again.
constexpr std::chrono::milliseconds kPause{100};

} // namespace

Background& Background::instance() {
  static auto* const all = new Background; // threads may outlive main()
  return *all;
}

void Background::add(const void* owner, Job job, std::uint64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || is_child_ ||
      std::find(forgotten_.begin(), forgotten_.end(), owner) !=
          forgotten_.end()) {
    return;
  }
  if (!thread_.joinable()) {
    // The mutex is free in a child, and nothing that it guards is half done.
    pthread_atfork(
        [] { instance().mutex_.lock(); },
        [] { instance().mutex_.unlock(); },
        [] {
          Background& all = instance();
          all.is_child_ = true;
          all.entries_.clear();
          all.executing_ = nullptr;
          all.mutex_.unlock();
        });
    stop_at_exit();
    thread_ = std::thread([this] { run(); });
  }
  entries_.push_back({owner, std::move(job), nanoseconds});
  changed_.notify_all();
}

void Background::forget(const void* owner) {
  std::unique_lock lock(mutex_);
  forgotten_.push_back(owner);
  const auto is_owners = [owner](const Entry& entry) {
    return entry.owner == owner;
  };
  entries_.erase(
      std::remove_if(entries_.begin(), entries_.end(), is_owners),
      entries_.end());
  changed_.wait(lock, [&] { return executing_ != owner; });
  forgotten_.erase(std::find(forgotten_.begin(), forgotten_.end(), owner));
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  ++waiting_;
  changed_.notify_all();
  changed_.wait(
      lock, [&] { return entries_.empty() && executing_ == nullptr; });
  --waiting_;
}

/// The first job that may be executed now. None is put before a dearer one that
/// waits for the budget, unless it is free: the earliest is worth most.
std::deque<Background::Entry>::iterator Background::next() {
  const auto dear =
      std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) {
        return entry.nanoseconds != 0;
      });
  if (dear != entries_.begin() && !entries_.empty()) {
    return entries_.begin();
  }
  if (dear == entries_.end() || waiting_ > 0 ||
      budget_.allows(dear->nanoseconds)) {
    return dear;
  }
  return std::find_if(dear, entries_.end(), [](const Entry& entry) {
    return entry.nanoseconds == 0;
  });
}

void Background::run() {
  setpriority(
      PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kLowPriority);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !entries_.empty(); });
    if (stopping_) {
      return;
    }
    const auto found = next();
    if (found == entries_.end()) {
      changed_.wait_for(lock, kPause);
      continue;
    }
    const Entry entry = std::move(*found);
    entries_.erase(found);
    executing_ = entry.owner;
    lock.unlock();
    entry.job();
    lock.lock();
    executing_ = nullptr;
    if (!stopping_) {
      stop_at_exit();
    }
    changed_.notify_all();
  }
}

/// What jobs made that exit() destroys is destroyed in the reverse order: it
/// has to stop the thread before anything that exists by now.
void Background::stop_at_exit() {
  std::atexit([] { instance().stop(); });
}

/// At the end of the process: libraries that a job uses are unloaded next.
void Background::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (is_child_) {
      return;
    }
    stopping_ = true;
    entries_.clear();
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

} // namespace cudasim::native

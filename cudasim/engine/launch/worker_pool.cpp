#include "cudasim/engine/launch/worker_pool.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace cudasim::engine {
namespace {

/// One call of run_on_workers.
struct Job {
  const std::function<void()>* work = nullptr;
  unsigned open = 0; // places that no thread has taken yet
  unsigned running = 0;
};

class Pool {
 public:
  /// Never destroyed: threads may still wait in it when the process ends. A
  /// child process starts with a new one, as its parent's threads are not
  /// there.
  static Pool& instance() {
    static Pool* pool = [] {
      pthread_atfork(nullptr, nullptr, [] { current() = new Pool; });
      return new Pool;
    }();
    if (current() == nullptr) {
      current() = pool;
    }
    return *current();
  }

  void run(unsigned workers, const std::function<void()>& work) {
    Job job;
    job.work = &work;
    if (workers > 1) {
      const std::lock_guard<std::mutex> lock(mutex_);
      job.open = std::min(workers - 1, grow(workers - 1));
      if (job.open > 0) {
        jobs_.push_back(&job);
      }
    }
    wake_.notify_all();
    work();
    std::unique_lock<std::mutex> lock(mutex_);
    for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
      if (*it == &job) {
        jobs_.erase(it);
        break;
      }
    }
    done_.wait(lock, [&job] { return job.running == 0; });
  }

 private:
  // Starts threads until there are that many, or the host has no more. Returns
  // how many there are.
  unsigned grow(unsigned wanted) {
    try {
      while (threads_ < wanted) {
        std::thread([this] { serve(); }).detach();
        ++threads_;
      }
    } catch (const std::system_error&) {
      // Fewer do the same work.
    }
    return threads_;
  }

  static Pool*& current() {
    static Pool* pool = nullptr;
    return pool;
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return !jobs_.empty(); });
      Job* job = jobs_.front();
      ++job->running;
      if (--job->open == 0) {
        jobs_.pop_front();
      }
      lock.unlock();
      (*job->work)();
      lock.lock();
      if (--job->running == 0) {
        done_.notify_all();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::deque<Job*> jobs_;
  unsigned threads_ = 0;
};

} // namespace

void run_on_workers(unsigned workers, const std::function<void()>& work) {
  if (workers <= 1) {
    work();
    return;
  }
  Pool::instance().run(workers, work);
}

} // namespace cudasim::engine

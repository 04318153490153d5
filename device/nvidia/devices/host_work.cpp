#include "device/nvidia/devices/host_work.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace accelerator::nvidia {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

// Never destroyed: threads run until the process has ended.
struct State {
  std::mutex mutex;
  std::condition_variable given, done;
  std::deque<std::function<void()>> waiting;
  std::size_t idle = 0; // threads
  int running = 0; // pieces of work
  bool ended = false;
};

State& state() {
  static auto* all = new State;
  return *all;
}

void work() {
  State& all = state();
  std::unique_lock lock(all.mutex);
  for (;;) {
    ++all.idle;
    all.given.wait(lock, [&] { return !all.waiting.empty(); });
    --all.idle;
    const auto function = std::move(all.waiting.front());
    all.waiting.pop_front();
    lock.unlock();
    function();
    lock.lock();
  }
}

} // namespace

void run_beside(std::function<void()> function) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  // Each may wait for another, so there are as many threads as pieces. Without
  // a thread there is no piece.
  if (all.idle < all.waiting.size() + 1) {
    std::thread(work).detach();
  }
  all.waiting.push_back(std::move(function));
  all.given.notify_one();
}

void run_unless_ended(const std::function<void()>& function) {
  State& all = state();
  {
    const std::lock_guard lock(all.mutex);
    if (all.ended) {
      return;
    }
    ++all.running;
  }
  function();
  const std::lock_guard lock(all.mutex);
  --all.running;
  all.done.notify_all();
}

void end_host_work() {
  State& all = state();
  std::unique_lock lock(all.mutex);
  all.ended = true;
  all.done.wait_for(lock, kPatience, [&] { return all.running == 0; });
}

} // namespace accelerator::nvidia

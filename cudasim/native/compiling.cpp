#include "cudasim/native/compiling.h"

#include <pthread.h>

#include <cstdlib>

namespace cudasim::native {

Compiling::Compiling() : state_(state()) {
  state_.mutex.lock();
  state_.taken = true;
}

Compiling::~Compiling() {
  state_.taken = false;
  state_.mutex.unlock();
}

void Compiling::end_at_exit() {
  std::atexit([] {
    State& all = state();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.ended = true;
  });
}

Compiling::State*& Compiling::current() {
  static State* instance = nullptr;
  return instance;
}

/// Never destroyed: threads may outlive main(). A child of fork() starts with a
/// mutex of its own, as whoever had its parent's is not there.
Compiling::State& Compiling::state() {
  static const bool begun = [] {
    current() = new State;
    pthread_atfork(nullptr, nullptr, [] {
      const State& parents = *current();
      current() = new State;
      current()->ended = parents.taken || parents.ended;
    });
    return true;
  }();
  static_cast<void>(begun);
  return *current();
}

} // namespace cudasim::native

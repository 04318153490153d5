// Who translates and compiles: one thread at a time, and nobody at the end.
#pragma once

#include <mutex>

namespace cudasim::native {

/// One thread's turn.
class Compiling {
 public:
  /// Waits for the turns of others.
  Compiling();
  ~Compiling();
  Compiling(const Compiling&) = delete;
  Compiling& operator=(const Compiling&) = delete;

  /// Whether there is still to be any code made: not while the process ends,
  /// and not in a child of fork() if another thread had its turn meanwhile,
  /// which may have left LLVM halfway.
  bool allowed() const {
    return !state_.ended;
  }

  /// exit() waits for the turn of whoever has it, and nobody has one then:
  /// streams' threads run on. Registered again behind whatever a turn made that
  /// exit() destroys.
  static void end_at_exit();

 private:
  struct State {
    std::mutex mutex;
    bool taken = false;
    bool ended = false;
  };
  static State*& current();
  static State& state();

  State& state_;
};

} // namespace cudasim::native

// Waiting in tests for what another thread does.
#pragma once

#include <chrono>
#include <thread>

namespace tools {

/// Waits until a condition holds, two minutes at most: what does not happen is
/// then the failure of a test that has a name.
/// @returns whether it holds.
template <class Condition>
bool eventually(const Condition& condition) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

} // namespace tools

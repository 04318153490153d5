// Threads of the library's own.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace accelerator::nccl {

/// Starts a thread that leaves signals to the program's own.
template <typename Work>
std::thread start_thread(Work work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(work));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
}

} // namespace accelerator::nccl

// Whose records of an event are whose, between processes.
#include "runtime/core/ipc/shared_event.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <vector>

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace accelerator::runtime {
namespace {

constexpr int kRecords = 30; // of each; no more than an event knows of both
constexpr int kEvents = 400;
using Numbers = std::array<std::uint64_t, kRecords>;

/// What the processes share.
struct Shared {
  std::atomic<int> arrived;
  Numbers numbers[2][kEvents];
};

/// A child that records each event as fast as it can, at the same time as
/// another one, and then ends or waits to be ended.
pid_t start_recorder(
    Shared& shared,
    const std::vector<SharedEvent*>& events,
    int which) {
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kEvents; ++i) {
      ++shared.arrived;
      for (int turn = 0; shared.arrived < 2 * (i + 1); ++turn) {
        if (turn > 1000) {
          sched_yield();
        }
      }
      for (std::uint64_t& number : shared.numbers[which][i]) {
        number = begin_shared_record(events[static_cast<std::size_t>(i)]);
      }
    }
    ++shared.arrived;
    if (which == 0) {
      pause();
    }
    _exit(0);
  }
  return child;
}

// Of two processes that record at the same time one ends: its records are lost,
// and those of the other are not.
TEST(SharedEvents, KnowWhoseEachRecordIs) {
  void* memory = mmap(
      nullptr,
      sizeof(Shared),
      PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS,
      -1,
      0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *static_cast<Shared*>(memory);
  std::vector<SharedEvent*> events;
  for (int i = 0; i < kEvents; ++i) {
    events.push_back(create_shared_event());
  }
  const pid_t staying = start_recorder(shared, events, 0);
  const pid_t ending = start_recorder(shared, events, 1);
  ASSERT_GT(staying, 0);
  ASSERT_GT(ending, 0);
  EXPECT_EQ(waitpid(ending, nullptr, 0), ending);
  while (shared.arrived < 2 * (kEvents + 1)) {
    usleep(50);
  }
  int wrong = 0;
  for (int i = 0; i < kEvents; ++i) {
    const SharedEvent* event = events[static_cast<std::size_t>(i)];
    EXPECT_EQ(shared_recorded(event), std::uint64_t{2 * kRecords});
    for (const std::uint64_t number : shared.numbers[0][i]) {
      wrong += shared_lost(event, number) ? 1 : 0;
    }
    for (const std::uint64_t number : shared.numbers[1][i]) {
      wrong += shared_lost(event, number) ? 0 : 1;
    }
  }
  EXPECT_EQ(wrong, 0);
  kill(staying, SIGKILL);
  EXPECT_EQ(waitpid(staying, nullptr, 0), staying);
  for (SharedEvent* event : events) {
    release_shared_event(event);
  }
  munmap(memory, sizeof(Shared));
}

TEST(SharedEvents, AreNotLostWhereNobodyKnows) {
  SharedEvent* event = create_shared_event();
  EXPECT_FALSE(shared_lost(event, 0)) << "never recorded";
  EXPECT_TRUE(shared_reached(event, 0));
  release_shared_event(event);
}

} // namespace
} // namespace accelerator::runtime

// Any thread calls any function at any time.
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Threads = Device;

constexpr int kThreads = 6;
constexpr int kRounds = 40;

void in_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back(body, i);
  for (auto& thread : threads)
    thread.join();
}

void add_one(void* data) {
  ++*static_cast<std::atomic<int>*>(data);
}

TEST_F(Threads, HaveObjectsOfTheirOwn) {
  in_threads([](int thread) {
    const int32_t device = thread % devices();
    for (int round = 0; round < kRounds; ++round) {
      Stream stream(api(), device);
      Event event(api(), device);
      Memory memory(api(), device, 500 + round);
      const auto wanted = bytes(500 + round, thread * 1000 + round);
      write(stream, memory, wanted);
      EXPECT_OK(api().event_record(event, stream));
      EXPECT_OK(api().event_synchronize(event));
      EXPECT_EQ(read(stream, memory), wanted);
    }
  });
}

TEST_F(Threads, ShareAStream) {
  std::atomic<int> called = 0;
  in_threads([&](int thread) {
    Memory memory(api(), 0, 200);
    for (int round = 0; round < kRounds; ++round) {
      const auto wanted = bytes(200, thread * 1000 + round);
      write(stream, memory, wanted);
      EXPECT_OK(api().stream_callback(stream, add_one, &called));
      EXPECT_EQ(read(stream, memory), wanted);
    }
  });
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(called, kThreads * kRounds);
}

TEST_F(Threads, ShareAnEvent) {
  Event event(api(), 0);
  in_threads([&](int) {
    Stream own(api(), 0);
    std::atomic<int> called = 0;
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_OK(api().stream_callback(own, add_one, &called));
      EXPECT_OK(api().event_record(event, own));
      EXPECT_OK(api().stream_wait_event(own, event));
      const accel_status status = api().event_query(event);
      EXPECT_TRUE(status == ACCEL_OK || status == ACCEL_NOT_READY);
      if (round % 10 == 0) {
        EXPECT_OK(api().event_synchronize(event));
      }
    }
    EXPECT_OK(api().stream_synchronize(own));
    EXPECT_EQ(called, kRounds);
  });
}

TEST_F(Threads, AllocateAndFreeForEachOther) {
  std::mutex mutex;
  std::vector<std::pair<int32_t, void*>> all;
  const uint64_t before = free_memory(0);
  in_threads([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      const int32_t device = (thread + round) % devices();
      void* address = nullptr;
      EXPECT_OK(api().memory_allocate(device, 1 + round * 50, 0, &address));
      std::lock_guard<std::mutex> lock(mutex);
      all.emplace_back(device, address);
      if (round % 2 == 0)
        continue;
      const std::size_t chosen = (thread * 31 + round) % all.size();
      const auto [home, one] = all[chosen];
      EXPECT_OK(api().memory_free(home, one));
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  });
  for (const auto& [device, address] : all)
    EXPECT_OK(api().memory_free(device, address));
  EXPECT_EQ(free_memory(0), before);
}

TEST_F(Threads, AskWhileOthersWork) {
  std::atomic<bool> over = false;
  std::thread asking([&] {
    while (!over) {
      for (int32_t device = 0; device < devices(); ++device) {
        uint64_t free = 0, total = 0;
        EXPECT_OK(api().device_status(device));
        EXPECT_OK(api().memory_info(device, &free, &total));
        EXPECT_OK(api().device_synchronize(device));
      }
    }
  });
  in_threads([](int thread) {
    const int32_t device = thread % devices();
    Stream own(api(), device);
    for (int round = 0; round < kRounds; ++round) {
      Memory memory(api(), device, 100);
      write(own, memory, bytes(100, round));
      EXPECT_EQ(read(own, memory), bytes(100, round));
    }
  });
  over = true;
  asking.join();
}

TEST_F(Threads, WaitForStreamsOfOthers) {
  std::vector<Stream> streams;
  for (int i = 0; i < kThreads; ++i)
    streams.emplace_back(api(), i % devices());
  std::atomic<int> called = 0;
  in_threads([&](int thread) {
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_OK(api().stream_callback(streams[thread], add_one, &called));
      EXPECT_OK(
          api().stream_synchronize(streams[(thread + round) % streams.size()]));
    }
  });
  for (auto& one : streams)
    EXPECT_OK(api().stream_synchronize(one));
  EXPECT_EQ(called, kThreads * kRounds);
}

} // namespace
} // namespace accelerator::conformance

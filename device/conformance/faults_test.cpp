// Faults to order: memory that runs out, a device that is lost, slow copies.
// Each test is a process of its own, since options are given once; a library
// that has no such options (as `fake` has them) skips them.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

void add_one(void* data) {
  ++*static_cast<std::atomic<int>*>(data);
}

/// Waits until a thread, which says its number when it is about to wait, does.
void wait_until_asleep(const std::atomic<pid_t>& thread) {
  for (std::string state; state != "S";) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (thread != 0) {
      // The state is behind the name of the program, in parentheses.
      std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
      std::getline(stat, state, ')');
      stat >> state;
    }
  }
}

class OutOfMemory : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Faults, OutOfMemory, testing::Values(1, 2, 3, 10));

TEST_P(OutOfMemory, AtTheNthAllocation) {
  IN_PROCESS_WITH("out_of_memory=" + std::to_string(GetParam()));
  const uint64_t before = free_memory(0);
  {
    std::vector<Memory> all;
    for (int i = 1; i <= 20; ++i) {
      void* address = this;
      if (i == GetParam()) {
        ASSERT_STATUS(
            ACCEL_OUT_OF_MEMORY, api().memory_allocate(0, 777, 0, &address));
        EXPECT_EQ(address, this);
        expect_text({"memory_allocate", "777", "device 0"});
      } else {
        all.emplace_back(api(), 0, 777);
      }
    }
  }
  EXPECT_EQ(free_memory(0), before);
}

TEST_P(OutOfMemory, AtEachNthAllocation) {
  IN_PROCESS_WITH("every=" + std::to_string(GetParam()));
  Stream stream(api(), 0);
  const uint64_t before = free_memory(0);
  {
    std::vector<Memory> all;
    int failed = 0;
    for (int i = 0; i < 60; ++i) {
      try {
        all.emplace_back(api(), 0, 100 + i);
        write(stream, all.back(), bytes(100 + i, i));
        EXPECT_EQ(read(stream, all.back()), bytes(100 + i, i));
      } catch (const StatusError& error) {
        EXPECT_EQ(error.status(), ACCEL_OUT_OF_MEMORY);
        ++failed;
      }
    }
    EXPECT_EQ(failed, 60 / GetParam());
    EXPECT_OK(api().device_status(0)) << "no fault";
  }
  EXPECT_EQ(free_memory(0), before);
  EXPECT_OK(api().device_reset(0));
  EXPECT_EQ(free_memory(0), before);
}

class Lost : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Faults, Lost, testing::Range(1, 10));

/// Copies, fills and callbacks: nine pieces of work. Gives the callbacks.
int work(accel_stream stream, const Memory& memory, std::atomic<int>& called) {
  static std::vector<unsigned char> host(1000);
  const accel_fill fill = elements(memory.get(), 1, 1, 1000);
  const accel_copy copy =
      row(host.data(), ACCEL_HOST, memory.get(), memory.device(), 1000);
  int put_in = 0;
  for (int i = 0; i < 3; ++i) {
    // Whether they are refused or dropped is the library's choice.
    for (accel_status status :
         {api().fill(stream, &fill), api().copy(stream, &copy)})
      EXPECT_TRUE(status == ACCEL_OK || status == ACCEL_DEVICE_LOST);
    if (api().stream_callback(stream, add_one, &called) == ACCEL_OK)
      ++put_in;
  }
  return put_in;
}

TEST_P(Lost, AtTheNthPieceOfWork) {
  IN_PROCESS_WITH("lost=" + std::to_string(GetParam()));
  const uint64_t before = free_memory(0);
  Stream stream(api(), 0), other(api(), 0);
  Event event(api(), 0), unused(api(), 0);
  std::atomic<int> called = 0;
  {
    Memory memory(api(), 0, 1000);
    int put_in = work(stream, memory, called);
    // From now on everything that waits or asks answers the fault.
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().stream_synchronize(stream));
    expect_text({"stream_synchronize", "device 0"});
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().stream_query(stream));
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().stream_synchronize(other));
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().device_synchronize(0));
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().device_status(0));
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().device_status(0)) << "it stays";
    put_in += work(other, memory, called);
    if (api().event_record(event, stream) == ACCEL_OK) {
      EXPECT_STATUS(ACCEL_DEVICE_LOST, api().event_synchronize(event));
      EXPECT_STATUS(ACCEL_DEVICE_LOST, api().event_query(event));
    }
    // Callbacks are still called, of streams that go as well.
    {
      Stream gone(api(), 0);
      put_in += work(gone, memory, called);
    }
    for (int i = 0; i < 30000 && called < put_in; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(called, put_in);
    // What frees still works; other devices do not care.
    const Memory last = std::move(memory);
    for (int32_t device = 1; device < devices(); ++device) {
      EXPECT_OK(api().device_status(device));
      EXPECT_OK(api().device_synchronize(device));
    }
  }
  EXPECT_EQ(free_memory(0), before);
  const accel_status status = api().device_reset(0);
  if (status == ACCEL_DEVICE_LOST)
    return; // For good.
  ASSERT_EQ(status, ACCEL_OK);
  EXPECT_OK(api().device_status(0));
  EXPECT_OK(api().device_synchronize(0));
  Memory memory(api(), 0, 1000);
  for (accel_stream one : {accel_stream(stream), accel_stream(other)}) {
    write(one, memory, bytes(1000, 4));
    EXPECT_EQ(read(one, memory), bytes(1000, 4));
    EXPECT_OK(api().event_record(event, one));
    EXPECT_OK(api().event_synchronize(event));
    EXPECT_OK(api().event_query(unused));
  }
}

// Work is dropped: what was not done before the fault is not done later.
TEST(LostWork, IsDropped) {
  IN_PROCESS_WITH("lost=2");
  Stream stream(api(), 0);
  Memory memory(api(), 0, 100);
  std::vector<unsigned char> host(100, 5);
  const accel_fill fill = elements(memory.get(), 1, 1, 100);
  const accel_copy copy = row(host.data(), ACCEL_HOST, memory.get(), 0, 100);
  ASSERT_OK(api().fill(stream, &fill));
  ASSERT_OK(api().copy(stream, &copy));
  EXPECT_STATUS(ACCEL_DEVICE_LOST, api().stream_synchronize(stream));
  if (api().device_reset(0) == ACCEL_DEVICE_LOST)
    return;
  EXPECT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(host, std::vector<unsigned char>(100, 5));
}

// Who waits already is told at once, behind a callback that never ends.
TEST(LostWork, EndsWaits) {
  IN_PROCESS_WITH("lost=2");
  Stream held(api(), 0), other(api(), 0);
  Event event(api(), 0);
  Memory memory(api(), 0, 100);
  Gate gate;
  gate.close(held);
  gate.wait_until_reached();
  ASSERT_OK(api().event_record(event, held));
  std::vector<std::thread> waiting;
  waiting.emplace_back([&] {
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().stream_synchronize(held));
  });
  waiting.emplace_back([&] {
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().event_synchronize(event));
  });
  waiting.emplace_back(
      [&] { EXPECT_STATUS(ACCEL_DEVICE_LOST, api().device_synchronize(0)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const accel_fill fill = elements(memory.get(), 1, 1, 100);
  ASSERT_OK(api().fill(other, &fill));
  for (auto& thread : waiting)
    thread.join();
}

// The text is right, though the event went while it was waited for.
TEST(LostWork, EndsWaitsForEventsThatAreGone) {
  IN_PROCESS_WITH("lost=2");
  Stream held(api(), 0), other(api(), 0);
  Memory memory(api(), 0, 100);
  Gate gate;
  gate.close(held);
  gate.wait_until_reached();
  auto event = std::make_unique<Event>(api(), 0);
  ASSERT_OK(api().event_record(*event, held));
  std::atomic<pid_t> waiter = 0;
  std::thread waiting([&, handle = accel_event(*event)] {
    waiter = gettid();
    EXPECT_STATUS(ACCEL_DEVICE_LOST, api().event_synchronize(handle));
    expect_text({"event_synchronize", "device 0"});
  });
  wait_until_asleep(waiter);
  event.reset();
  // Room that the event had is used again.
  const std::vector<std::vector<unsigned char>> others(
      50, std::vector<unsigned char>(24, 0x55));
  const accel_fill fill = elements(memory.get(), 1, 1, 100);
  ASSERT_OK(api().fill(other, &fill));
  waiting.join();
}

// A device that waits for an event of a lost one goes on.
TEST(LostWork, LetsOtherDevicesGoOn) {
  IN_PROCESS_WITH("count=2,lost=2");
  NEEDS_DEVICES(2);
  Stream lost(api(), 0), well(api(), 1);
  Event event(api(), 0);
  Memory memory(api(), 0, 100), other(api(), 1, 100);
  Gate gate;
  gate.close(lost);
  const accel_fill fill = elements(memory.get(), 1, 1, 100);
  ASSERT_OK(api().fill(lost, &fill));
  ASSERT_OK(api().event_record(event, lost));
  ASSERT_OK(api().stream_wait_event(well, event));
  std::atomic<int> called = 0;
  ASSERT_OK(api().stream_callback(well, add_one, &called));
  gate.open();
  EXPECT_OK(api().stream_synchronize(well));
  EXPECT_EQ(called, 1);
  EXPECT_STATUS(ACCEL_DEVICE_LOST, api().device_status(0));
  EXPECT_OK(api().device_status(1));
}

// No copy is faster than it is ordered to be.
TEST(Slow, CopiesTakeTheirTime) {
  IN_PROCESS_WITH("slow=20");
  Stream stream(api(), 0);
  Memory memory(api(), 0, 1000);
  const auto begin = std::chrono::steady_clock::now();
  write(stream, memory, bytes(1000));
  EXPECT_EQ(read(stream, memory), bytes(1000));
  EXPECT_GE(
      std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(40));
}

// Finalizing drops work that is left, waits for the callback that runs, and
// calls nothing afterwards.
TEST(Finalize, DropsWork) {
  IN_PROCESS_WITH("");
  accel_stream stream = nullptr;
  ASSERT_OK(api().stream_create(0, 0, &stream));
  std::atomic<int> called = 0;
  Gate gate;
  gate.close(stream);
  gate.wait_until_reached();
  for (int i = 0; i < 5; ++i)
    ASSERT_OK(api().stream_callback(stream, add_one, &called));
  std::thread opener([&] {
    // Late enough for finalize to have begun, most of the time.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    gate.open();
  });
  EXPECT_EQ(library().finalize(), ACCEL_OK);
  opener.join();
  const int then = called;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(called, then) << "called after finalize";
}

} // namespace
} // namespace accelerator::conformance

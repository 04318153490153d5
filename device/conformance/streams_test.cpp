// Streams: order, query, synchronize, destruction with work.
#include <atomic>
#include <chrono>
#include <thread>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Streams = Device;

void add_one(void* data) {
  ++*static_cast<std::atomic<int>*>(data);
}

TEST_F(Streams, AreDoneWhenTheyAreMade) {
  EXPECT_OK(api().stream_query(stream));
  EXPECT_OK(api().stream_synchronize(stream));
}

TEST_F(Streams, AreNotReadyWhileTheyWork) {
  Gate gate;
  gate.close(stream);
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(stream));
  gate.wait_until_reached();
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(stream));
  gate.open();
  EXPECT_OK(api().stream_synchronize(stream));
  EXPECT_OK(api().stream_query(stream));
}

// Functions return without waiting for work.
TEST_F(Streams, TakeWorkWithoutWaiting) {
  Gate gate;
  Memory memory(api(), 0, 4096);
  Event event(api(), 0);
  Stream other(api(), 0);
  std::vector<unsigned char> host(4096);
  gate.close(stream);
  const accel_fill fill = elements(memory.get(), 3, 1, 4096);
  const accel_copy copy = row(host.data(), ACCEL_HOST, memory.get(), 0, 4096);
  for (int i = 0; i < 300; ++i) {
    ASSERT_OK(api().fill(stream, &fill));
    ASSERT_OK(api().copy(stream, &copy));
    ASSERT_OK(api().event_record(event, stream));
    ASSERT_OK(api().stream_wait_event(other, event));
  }
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(other));
  EXPECT_EQ(host, std::vector<unsigned char>(4096, 0));
  gate.open();
  ASSERT_OK(api().stream_synchronize(other));
  EXPECT_EQ(host, std::vector<unsigned char>(4096, 3));
}

TEST_F(Streams, WorkInOrder) {
  Memory memory(api(), 0, 256);
  std::vector<std::vector<unsigned char>> seen(
      100, std::vector<unsigned char>(256));
  for (unsigned i = 0; i < seen.size(); ++i) {
    const accel_fill fill = elements(memory.get(), i, 1, 256);
    const accel_copy copy =
        row(seen[i].data(), ACCEL_HOST, memory.get(), 0, 256);
    ASSERT_OK(api().fill(stream, &fill));
    ASSERT_OK(api().copy(stream, &copy));
  }
  ASSERT_OK(api().stream_synchronize(stream));
  for (unsigned i = 0; i < seen.size(); ++i)
    EXPECT_EQ(seen[i], std::vector<unsigned char>(256, i));
}

// One that is held up does not hold up others.
TEST_F(Streams, WorkBesideEachOther) {
  Gate gate;
  gate.close(stream);
  gate.wait_until_reached();
  std::vector<Stream> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back(api(), i % devices());
    Memory memory(api(), i % devices(), 100);
    write(others.back(), memory, bytes(100));
    EXPECT_EQ(read(others.back(), memory), bytes(100));
  }
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(stream));
}

TEST_F(Streams, HaveAllPriorities) {
  for (int32_t priority : {-1000, -5, -1, 0, 1, 5, 1000}) {
    Stream one(api(), 0, priority);
    std::atomic<int> called = 0;
    ASSERT_OK(api().stream_callback(one, add_one, &called));
    ASSERT_OK(api().stream_synchronize(one));
    EXPECT_EQ(called, 1);
  }
}

TEST_F(Streams, FinishTheirWorkWhenTheyAreDestroyed) {
  std::atomic<int> called = 0;
  Gate gate;
  Memory memory(api(), 0, 1000);
  std::vector<unsigned char> host(1000);
  const accel_fill fill = elements(memory.get(), 8, 1, 1000);
  const accel_copy copy = row(host.data(), ACCEL_HOST, memory.get(), 0, 1000);
  Event end(api(), 0);
  {
    Stream gone(api(), 0);
    gate.close(gone);
    ASSERT_OK(api().fill(gone, &fill));
    ASSERT_OK(api().copy(gone, &copy));
    ASSERT_OK(api().stream_callback(gone, add_one, &called));
    ASSERT_OK(api().event_record(end, gone));
  }
  EXPECT_STATUS(ACCEL_NOT_READY, api().event_query(end));
  gate.open();
  ASSERT_OK(api().event_synchronize(end));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(host, std::vector<unsigned char>(1000, 8));
}

// Others still wait for what is in a stream that was let go of.
TEST_F(Streams, AreWaitedForWhenTheyAreDestroyed) {
  Gate gate;
  std::atomic<int> called = 0;
  Event event(api(), 0);
  {
    Stream gone(api(), 0);
    gate.close(gone);
    ASSERT_OK(api().stream_callback(gone, add_one, &called));
    ASSERT_OK(api().event_record(event, gone));
    ASSERT_OK(api().stream_wait_event(stream, event));
  }
  struct Seen {
    std::atomic<int>* called;
    int at_that_time = -1;
  } seen{&called};
  ASSERT_OK(api().stream_callback(
      stream,
      [](void* data) {
        auto* seen = static_cast<Seen*>(data);
        seen->at_that_time = *seen->called;
      },
      &seen));
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(stream));
  gate.open();
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(seen.at_that_time, 1);
}

TEST_F(Streams, AreMany) {
  std::atomic<int> called = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<Stream> many;
    for (int i = 0; i < 70; ++i) {
      many.emplace_back(api(), i % devices());
      ASSERT_OK(api().stream_callback(many.back(), add_one, &called));
    }
  }
  for (int32_t device = 0; device < devices(); ++device)
    ASSERT_OK(api().device_synchronize(device));
  EXPECT_EQ(called, 210);
}

// Only what was put in before the call is waited for: the callback that is
// waited for puts in another one, which ends after the wait has.
TEST_F(Streams, SynchronizeWaitsForWhatWasThere) {
  NEEDS(0, ACCEL_CAP_CALLS_IN_CALLBACKS);
  struct State {
    accel_stream stream;
    Gate first, late;
  } state;
  state.stream = stream;
  state.first.close(stream);
  ASSERT_OK(api().stream_callback(
      stream,
      [](void* data) {
        auto* state = static_cast<State*>(data);
        state->late.close(state->stream);
      },
      &state));
  std::thread opener([&] {
    // Late enough for the wait to have begun, most of the time.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    state.first.open();
  });
  EXPECT_OK(api().stream_synchronize(stream));
  opener.join();
  state.late.open();
  ASSERT_OK(api().stream_synchronize(stream));
}

} // namespace
} // namespace accelerator::conformance

// Events: marks in streams, queried, waited for and recorded again.
#include <atomic>
#include <thread>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Events = Device;

void add_one(void* data) {
  ++*static_cast<std::atomic<int>*>(data);
}

TEST_F(Events, ThatWereNotRecordedAreReached) {
  for (int timing : {0, 1}) {
    Event event(api(), 0, timing);
    EXPECT_OK(api().event_query(event));
    EXPECT_OK(api().event_synchronize(event));
  }
}

// A wait for an event that was not recorded waits for nothing, also when it is
// recorded later.
TEST_F(Events, AreWaitedForAsTheyAre) {
  Gate gate;
  Event event(api(), 0);
  Stream busy(api(), 0);
  gate.close(busy);
  ASSERT_OK(api().stream_wait_event(stream, event));
  ASSERT_OK(api().event_record(event, busy));
  EXPECT_OK(api().stream_synchronize(stream));
  EXPECT_STATUS(ACCEL_NOT_READY, api().event_query(event));
}

TEST_F(Events, MarkWhatTheStreamWasGivenSoFar) {
  Gate first, second;
  Event event(api(), 0);
  first.close(stream);
  ASSERT_OK(api().event_record(event, stream));
  second.close(stream);
  EXPECT_STATUS(ACCEL_NOT_READY, api().event_query(event));
  first.open();
  EXPECT_OK(api().event_synchronize(event));
  EXPECT_OK(api().event_query(event));
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(stream));
}

// Where nothing is behind the record, the stream is done with it.
TEST_F(Events, LeaveNoOtherWork) {
  for (int i = 0; i < 200; ++i) {
    Event event(api(), 0);
    std::atomic<int> called = 0;
    ASSERT_OK(api().stream_callback(stream, add_one, &called));
    ASSERT_OK(api().event_record(event, stream));
    ASSERT_OK(api().event_synchronize(event));
    ASSERT_OK(api().stream_query(stream));
    ASSERT_EQ(called, 1);
  }
}

// The second record counts; the first one is forgotten.
TEST_F(Events, AreRecordedTwice) {
  Gate gate;
  Event event(api(), 0);
  ASSERT_OK(api().event_record(event, stream));
  ASSERT_OK(api().event_synchronize(event));
  gate.close(stream);
  ASSERT_OK(api().event_record(event, stream));
  EXPECT_STATUS(ACCEL_NOT_READY, api().event_query(event));
  gate.open();
  EXPECT_OK(api().event_synchronize(event));
}

TEST_F(Events, AreRecordedInAnotherStream) {
  Gate gate;
  Stream other(api(), 0);
  Event event(api(), 0);
  gate.close(stream);
  ASSERT_OK(api().event_record(event, stream));
  EXPECT_STATUS(ACCEL_NOT_READY, api().event_query(event));
  ASSERT_OK(api().event_record(event, other));
  EXPECT_OK(api().event_synchronize(event));
}

// Who has begun to wait for the first record waits for that one only.
TEST_F(Events, KeepEarlierWaitsWhenRecordedAgain) {
  Gate first, second;
  Stream source(api(), 0), later(api(), 0);
  Event event(api(), 0);
  first.close(source);
  ASSERT_OK(api().event_record(event, source));
  ASSERT_OK(api().stream_wait_event(stream, event));
  second.close(source);
  ASSERT_OK(api().event_record(event, source));
  ASSERT_OK(api().stream_wait_event(later, event));
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(stream));
  first.open();
  EXPECT_OK(api().stream_synchronize(stream));
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(later));
  second.open();
  EXPECT_OK(api().stream_synchronize(later));
}

TEST_F(Events, OrderStreams) {
  Stream other(api(), 0);
  Memory memory(api(), 0, 1 << 16);
  std::vector<unsigned char> host(memory.bytes());
  for (unsigned i = 1; i < 50; ++i) {
    Event filled(api(), 0), copied(api(), 0);
    const accel_fill fill = elements(memory.get(), i, 1, memory.bytes());
    const accel_copy copy =
        row(host.data(), ACCEL_HOST, memory.get(), 0, host.size());
    ASSERT_OK(api().fill(stream, &fill));
    ASSERT_OK(api().event_record(filled, stream));
    ASSERT_OK(api().stream_wait_event(other, filled));
    ASSERT_OK(api().copy(other, &copy));
    ASSERT_OK(api().event_record(copied, other));
    ASSERT_OK(api().stream_wait_event(stream, copied));
    if (i % 7 == 0) {
      ASSERT_OK(api().stream_synchronize(stream));
      EXPECT_EQ(host, std::vector<unsigned char>(host.size(), i));
    }
  }
}

TEST_F(Events, OrderStreamsOfTwoDevices) {
  NEEDS_DEVICES(2);
  Gate gate;
  Stream other(api(), 1);
  Event event(api(), 0);
  std::atomic<int> called = 0;
  gate.close(stream);
  ASSERT_OK(api().event_record(event, stream));
  ASSERT_OK(api().stream_wait_event(other, event));
  ASSERT_OK(api().stream_callback(other, add_one, &called));
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(other));
  EXPECT_EQ(called, 0);
  gate.open();
  EXPECT_OK(api().stream_synchronize(other));
  EXPECT_EQ(called, 1);
}

TEST_F(Events, AreWaitedForInTheirOwnStream) {
  Event event(api(), 0);
  std::atomic<int> called = 0;
  ASSERT_OK(api().stream_callback(stream, add_one, &called));
  ASSERT_OK(api().event_record(event, stream));
  ASSERT_OK(api().stream_wait_event(stream, event));
  ASSERT_OK(api().stream_callback(stream, add_one, &called));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(called, 2);
}

// What waits for an event still does when it is destroyed.
TEST_F(Events, AreDestroyedWhileTheyAreWaitedFor) {
  Gate gate;
  Stream other(api(), 0);
  std::atomic<int> called = 0;
  {
    Event event(api(), 0);
    gate.close(stream);
    ASSERT_OK(api().event_record(event, stream));
    ASSERT_OK(api().stream_wait_event(other, event));
    ASSERT_OK(api().stream_callback(other, add_one, &called));
  }
  // Room that the event had is used again.
  std::vector<Event> others;
  for (int i = 0; i < 20; ++i) {
    others.emplace_back(api(), 0);
    ASSERT_OK(api().event_record(others.back(), stream));
  }
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(other));
  EXPECT_EQ(called, 0);
  gate.open();
  EXPECT_OK(api().stream_synchronize(other));
  EXPECT_EQ(called, 1);
}

TEST_F(Events, AreSynchronizedFromSeveralThreads) {
  Gate gate;
  Event event(api(), 0);
  gate.close(stream);
  ASSERT_OK(api().event_record(event, stream));
  std::atomic<int> passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      EXPECT_OK(api().event_synchronize(event));
      ++passed;
    });
  EXPECT_EQ(passed, 0);
  gate.open();
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(passed, 4);
}

// A chain through many streams, each held by the one before.
TEST_F(Events, MakeChains) {
  Gate gate;
  std::vector<Stream> chain;
  std::vector<int> order;
  struct Link {
    std::vector<int>* order;
    int number;
  };
  std::vector<Link> links;
  for (int i = 0; i < 20; ++i)
    links.push_back({&order, i});
  gate.close(stream);
  accel_stream last = stream;
  for (auto& link : links) {
    Event event(api(), link.number == 0 ? 0 : (link.number - 1) % devices());
    ASSERT_OK(api().event_record(event, last));
    chain.emplace_back(api(), link.number % devices());
    last = chain.back();
    ASSERT_OK(api().stream_wait_event(last, event));
    ASSERT_OK(api().stream_callback(
        last,
        [](void* data) {
          auto* link = static_cast<Link*>(data);
          link->order->push_back(link->number);
        },
        &link));
  }
  gate.open();
  ASSERT_OK(api().stream_synchronize(last));
  ASSERT_EQ(order.size(), links.size());
  for (size_t i = 0; i < order.size(); ++i)
    EXPECT_EQ(order[i], int(i));
}

} // namespace
} // namespace accelerator::conformance

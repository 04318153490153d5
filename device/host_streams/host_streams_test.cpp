// What host_streams.h promises, by itself. Order, events and callbacks as the
// ABI has them are tested by //device/conformance, over `fake`.
#include "device/host_streams/host_streams.h"
#include "tools/cc/eventually.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace accelerator {
namespace {

using Body = std::function<void(int32_t device)>;

// Puts in a call of what lives until it has been made.
void put(accel_stream stream, const Body& body) {
  const Body* argument = &body;
  ASSERT_TRUE(host_stream_put(
      stream,
      [](int32_t device, void* place) {
        (**static_cast<const Body* const*>(place))(device);
      },
      &argument,
      sizeof argument));
}

/// Work that holds its stream until it goes.
class Gate {
 public:
  explicit Gate(accel_stream stream) {
    // The work's own, which may end after the gate.
    auto* opened = new std::shared_future<void>(promise_.get_future().share());
    const host_work work = [](int32_t, void* place) {
      const std::unique_ptr<std::shared_future<void>> opened(
          *static_cast<std::shared_future<void>**>(place));
      opened->wait();
    };
    EXPECT_TRUE(host_stream_put(stream, work, &opened, sizeof opened));
  }
  ~Gate() {
    promise_.set_value();
  }

 private:
  std::promise<void> promise_;
};

// Each test leaves the library as it found it, so that the next one begins
// anew.
class HostStreams : public testing::Test {
 protected:
  ~HostStreams() override {
    host_streams_finalize();
    for (int32_t device : {0, 1, MOST_HOST_DEVICES - 1}) {
      host_device_recover(device);
    }
  }
};

TEST_F(HostStreams, CallWorkWithACopyOfItsArgument) {
  struct Argument {
    std::vector<std::uintptr_t>* places;
    std::vector<int>* numbers;
    int number;
    char room[1000];
  };
  std::vector<std::uintptr_t> places;
  std::vector<int> numbers, wanted;
  accel_stream stream = host_stream_create(0);
  for (int i = 0; i < 100; ++i) {
    Argument argument = {&places, &numbers, i, {}};
    const host_work work = [](int32_t, void* place) {
      const auto* argument = static_cast<const Argument*>(place);
      argument->places->push_back(reinterpret_cast<std::uintptr_t>(place));
      argument->numbers->push_back(argument->number);
    };
    ASSERT_TRUE(host_stream_put(stream, work, &argument, sizeof argument - i));
    argument.number = -1;
    wanted.push_back(i);
  }
  EXPECT_EQ(host_stream_status(stream, true), ACCEL_OK);
  EXPECT_EQ(numbers, wanted);
  for (std::uintptr_t place : places) {
    EXPECT_EQ(place % 16, 0u);
  }
}

TEST_F(HostStreams, HaveAThreadAndADeviceEach) {
  std::set<std::thread::id> threads;
  std::vector<int32_t> devices;
  const Body body = [&](int32_t device) {
    threads.insert(std::this_thread::get_id());
    devices.push_back(device);
  };
  for (int32_t device : {0, 1, MOST_HOST_DEVICES - 1}) {
    accel_stream stream = host_stream_create(device);
    ASSERT_NE(stream, nullptr);
    EXPECT_EQ(host_stream_device(stream), device);
    for (int i = 0; i < 10; ++i) {
      put(stream, body);
    }
    EXPECT_EQ(host_stream_status(stream, true), ACCEL_OK);
  }
  EXPECT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads.count(std::this_thread::get_id()), 0u);
  ASSERT_EQ(devices.size(), 30u);
  EXPECT_EQ(devices.front(), 0);
  EXPECT_EQ(devices.back(), MOST_HOST_DEVICES - 1);
}

TEST_F(HostStreams, AreOfDevicesThatThereCanBe) {
  EXPECT_EQ(host_stream_create(MOST_HOST_DEVICES), nullptr);
  EXPECT_EQ(host_stream_create(-1), nullptr);
}

// A callback of the runtime may do so: it drops the last that holds a stream.
TEST_F(HostStreams, AreUsedFromWithinWork) {
  accel_stream stream = host_stream_create(0), other = host_stream_create(0);
  std::vector<int> order;
  const Body last = [&](int32_t) { order.push_back(2); };
  const Body first = [&](int32_t) {
    accel_event event = host_event_create(0);
    host_event_record(event, other);
    EXPECT_EQ(host_event_status(event, true), ACCEL_OK);
    EXPECT_TRUE(host_stream_wait_event(stream, event));
    host_event_destroy(event);
    put(stream, last);
    host_stream_destroy(stream);
    host_stream_destroy(host_stream_create(0));
    order.push_back(1);
  };
  put(stream, first);
  EXPECT_EQ(host_device_status(0, true), ACCEL_OK);
  // What was put in meanwhile is behind what was waited for.
  EXPECT_EQ(host_device_status(0, true), ACCEL_OK);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

// Whatever the device of the event: what is wrong is then no silent race.
TEST_F(HostStreams, MarkWorkOfOtherDevicesToo) {
  accel_stream stream = host_stream_create(1);
  accel_event event = host_event_create(0);
  {
    const Gate gate(stream);
    host_event_record(event, stream);
    EXPECT_EQ(host_event_status(event, false), ACCEL_NOT_READY);
  }
  EXPECT_EQ(host_event_status(event, true), ACCEL_OK);
  host_event_destroy(event);
}

TEST_F(HostStreams, KeepTheFirstFault) {
  host_device_fail(0, ACCEL_ILLEGAL_ADDRESS);
  host_device_fail(0, ACCEL_DEVICE_LOST);
  EXPECT_EQ(host_device_fault(0), ACCEL_ILLEGAL_ADDRESS);
  EXPECT_EQ(host_device_status(0, true), ACCEL_ILLEGAL_ADDRESS);
  EXPECT_EQ(host_device_fault(1), ACCEL_OK);
  host_device_recover(0);
  EXPECT_EQ(host_device_fault(0), ACCEL_OK);
  host_device_fail(0, ACCEL_DEVICE_LOST);
  EXPECT_EQ(host_device_fault(0), ACCEL_DEVICE_LOST);
}

// A fault ends waits; work is called still, and draining waits for it.
TEST_F(HostStreams, CallWorkOfADeviceAtFault) {
  accel_stream stream = host_stream_create(0), other = host_stream_create(0);
  accel_event event = host_event_create(0);
  std::atomic<int> called{0};
  const Body count = [&](int32_t device) {
    EXPECT_EQ(host_device_fault(device), ACCEL_DEVICE_LOST);
    ++called;
  };
  std::future<void> drained;
  {
    const Gate gate(stream);
    host_event_record(event, stream);
    EXPECT_TRUE(host_stream_wait_event(other, event));
    put(other, count);
    put(stream, count);
    auto waiting = std::async(
        std::launch::async, [&] { return host_event_status(event, true); });
    host_device_fail(0, ACCEL_DEVICE_LOST);
    EXPECT_EQ(waiting.get(), ACCEL_DEVICE_LOST);
    EXPECT_EQ(host_stream_status(stream, true), ACCEL_DEVICE_LOST);
    drained = std::async(std::launch::async, [] { host_device_drain(0); });
    // Behind an event of its own device it waits for nothing.
    EXPECT_TRUE(tools::eventually([&] { return called != 0; }));
    EXPECT_EQ(called, 1);
    EXPECT_EQ(
        drained.wait_for(std::chrono::milliseconds(20)),
        std::future_status::timeout);
  }
  drained.get();
  EXPECT_EQ(called, 2);
  EXPECT_EQ(host_device_fault(0), ACCEL_DEVICE_LOST) << "until it recovers";
  host_device_recover(0);
  EXPECT_EQ(host_stream_status(other, true), ACCEL_OK);
  host_event_destroy(event);
}

TEST_F(HostStreams, DropWorkAtTheEndAndBeginAnew) {
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> called{0};
    const Body count = [&](int32_t) { ++called; };
    std::promise<void> started, reached;
    // What waits for it on device 1 is gone once the end has begun.
    const Body slow = [&](int32_t) {
      reached.set_value();
      while (host_device_status(1, false) != ACCEL_OK) {
        std::this_thread::yield();
      }
      ++called;
    };
    accel_stream stream = host_stream_create(0), other = host_stream_create(1);
    accel_event event = host_event_create(0);
    const Body start = [&](int32_t) { started.get_future().wait(); };
    put(stream, start);
    put(stream, slow);
    host_event_record(event, stream);
    EXPECT_TRUE(host_stream_wait_event(other, event));
    put(stream, count);
    put(other, count);
    started.set_value();
    reached.get_future().wait();
    host_streams_finalize();
    EXPECT_EQ(called, 1) << "what was being done, and nothing else";
    EXPECT_EQ(host_device_status(0, true), ACCEL_OK);
    host_event_destroy(event);
  }
}

TEST(HostBoxes, AreCopied) {
  const std::vector<char> from{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<char> to(16);
  accel_copy copy = {};
  copy.to = to.data();
  copy.from = from.data();
  copy.width = 1;
  copy.height = 2;
  copy.depth = 2;
  copy.from_pitch = 2;
  copy.from_slice = 6;
  copy.to_pitch = 3;
  copy.to_slice = 8;
  host_copy(&copy);
  EXPECT_EQ(
      to, (std::vector<char>{1, 0, 0, 3, 0, 0, 0, 0, 7, 0, 0, 9, 0, 0, 0, 0}));
}

TEST(HostBoxes, AreFilled) {
  for (uint32_t size : {1u, 2u, 4u}) {
    std::vector<unsigned char> to(16), wanted(16);
    accel_fill fill = {};
    fill.to = to.data();
    fill.value = 0x04030201;
    fill.element_size = size;
    fill.width = fill.depth = 1;
    fill.height = 2;
    fill.pitch = 8;
    host_fill(&fill);
    for (uint32_t i = 0; i < size; ++i) {
      wanted[i] = wanted[8 + i] = static_cast<unsigned char>(i + 1);
    }
    EXPECT_EQ(to, wanted) << size;
  }
}

} // namespace
} // namespace accelerator

// Callbacks of the host as work of streams.
#include <atomic>
#include <chrono>
#include <thread>

#include "device/conformance/support.h"

namespace accelerator::conformance {
namespace {

using Callbacks = Device;

struct Step {
  std::vector<int>* order;
  int number;
  static void take(void* data) {
    auto* step = static_cast<Step*>(data);
    step->order->push_back(step->number);
  }
};

TEST_F(Callbacks, AreCalledOnceAndInOrder) {
  std::vector<int> order;
  std::vector<Step> steps;
  for (int i = 0; i < 500; ++i)
    steps.push_back({&order, i});
  for (auto& step : steps)
    ASSERT_OK(api().stream_callback(stream, Step::take, &step));
  ASSERT_OK(api().stream_synchronize(stream));
  ASSERT_EQ(order.size(), steps.size());
  for (int i = 0; i < 500; ++i)
    EXPECT_EQ(order[i], i);
}

TEST_F(Callbacks, AreCalledOnAThreadOfTheLibrary) {
  std::thread::id id;
  ASSERT_OK(api().stream_callback(
      stream,
      [](void* data) {
        *static_cast<std::thread::id*>(data) = std::this_thread::get_id();
      },
      &id));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_NE(id, std::thread::id());
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST_F(Callbacks, TakeNull) {
  ASSERT_OK(api().stream_callback(
      stream, [](void* data) { EXPECT_EQ(data, nullptr); }, nullptr));
  ASSERT_OK(api().stream_synchronize(stream));
}

// Work in front is done, work behind waits, also for long ones.
TEST_F(Callbacks, SitBetweenWork) {
  Memory memory(api(), 0, 1000);
  struct State {
    std::vector<unsigned char> first, second;
    std::vector<unsigned char> seen;
  } state;
  state.first.resize(1000);
  state.second.resize(1000);
  const accel_fill one = elements(memory.get(), 1, 1, 1000);
  const accel_fill two = elements(memory.get(), 2, 1, 1000);
  const accel_copy early =
      row(state.first.data(), ACCEL_HOST, memory.get(), 0, 1000);
  const accel_copy late =
      row(state.second.data(), ACCEL_HOST, memory.get(), 0, 1000);
  ASSERT_OK(api().fill(stream, &one));
  ASSERT_OK(api().copy(stream, &early));
  ASSERT_OK(api().stream_callback(
      stream,
      [](void* data) {
        auto* state = static_cast<State*>(data);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        state->seen = state->first;
        state->seen.insert(
            state->seen.end(), state->second.begin(), state->second.end());
      },
      &state));
  ASSERT_OK(api().fill(stream, &two));
  ASSERT_OK(api().copy(stream, &late));
  ASSERT_OK(api().stream_synchronize(stream));
  std::vector<unsigned char> expected(1000, 1);
  expected.resize(2000, 0);
  EXPECT_EQ(state.seen, expected);
  EXPECT_EQ(state.second, std::vector<unsigned char>(1000, 2));
}

// A callback changes memory of the host that work behind it copies.
TEST_F(Callbacks, PrepareWhatIsCopied) {
  Memory memory(api(), 0, 64);
  std::vector<unsigned char> host(64);
  const accel_copy copy = row(memory.get(), 0, host.data(), ACCEL_HOST, 64);
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(api().stream_callback(
        stream,
        [](void* data) {
          for (auto& byte : *static_cast<std::vector<unsigned char>*>(data))
            ++byte;
        },
        &host));
    ASSERT_OK(api().copy(stream, &copy));
  }
  EXPECT_EQ(read(stream, memory), std::vector<unsigned char>(64, 20));
}

// It may wait for other streams.
TEST_F(Callbacks, WaitForOtherStreams) {
  NEEDS(0, ACCEL_CAP_CALLS_IN_CALLBACKS);
  struct State {
    Gate gate;
    std::atomic<int> called = 0;
    accel_stream other;
  } state;
  Stream other(api(), 0);
  state.other = other;
  state.gate.close(other);
  ASSERT_OK(api().stream_callback(
      stream,
      [](void* data) {
        auto* state = static_cast<State*>(data);
        EXPECT_OK(api().stream_synchronize(state->other));
        ++state->called;
      },
      &state));
  EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(stream));
  EXPECT_EQ(state.called, 0);
  state.gate.open();
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(state.called, 1);
}

// Where the capability says so, it calls everything that does not wait for its
// own stream.
TEST_F(Callbacks, CallTheDevice) {
  NEEDS(0, ACCEL_CAP_CALLS_IN_CALLBACKS);
  struct State {
    accel_stream own;
    std::vector<unsigned char> found;
    int behind = 0;
  } state;
  state.own = stream;
  ASSERT_OK(api().stream_callback(
      stream,
      [](void* data) {
        auto* state = static_cast<State*>(data);
        EXPECT_STATUS(ACCEL_NOT_READY, api().stream_query(state->own));
        EXPECT_OK(api().device_status(0));
        Memory memory(api(), 0, 3000);
        Stream other(api(), 0);
        Event event(api(), 0);
        write(other, memory, bytes(3000, 8));
        EXPECT_OK(api().event_record(event, other));
        EXPECT_OK(api().event_synchronize(event));
        EXPECT_OK(api().stream_wait_event(state->own, event));
        EXPECT_OK(api().stream_callback(
            state->own,
            [](void* count) { ++*static_cast<int*>(count); },
            &state->behind));
        state->found = read(other, memory);
      },
      &state));
  // The first wait may begin before the callback puts in more.
  ASSERT_OK(api().stream_synchronize(stream));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(state.found, bytes(3000, 8));
  EXPECT_EQ(state.behind, 1);
}

// Each calls the next one: no depth is too much.
TEST_F(Callbacks, PutInCallbacks) {
  NEEDS(0, ACCEL_CAP_CALLS_IN_CALLBACKS);
  struct State {
    accel_stream stream;
    std::atomic<int> left = 1000;
    static void take(void* data) {
      auto* state = static_cast<State*>(data);
      if (--state->left > 0) {
        EXPECT_OK(api().stream_callback(state->stream, take, data));
      }
    }
  } state;
  state.stream = stream;
  ASSERT_OK(api().stream_callback(stream, State::take, &state));
  while (state.left > 0)
    ASSERT_OK(api().stream_synchronize(stream));
  ASSERT_OK(api().stream_synchronize(stream));
  EXPECT_EQ(state.left, 0);
}

} // namespace
} // namespace accelerator::conformance

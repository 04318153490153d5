// Who does a stream's work: its thread, or whoever waits for it.
#include "cudasim/backend/machine/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "cudasim/backend/machine/device.h"
#include "cudasim/backend/machine/event.h"
#include "cudasim/backend/machine/settings.h"
#include "tools/cc/eventually.h"

namespace cudasim::backend {
namespace {

class StreamTest : public ::testing::Test {
 protected:
  ~StreamTest() override {
    device.remove_stream(*stream);
    device.synchronize();
  }

  AddressMap addresses{1};
  Device device{0, read_settings(""), addresses};
  std::shared_ptr<Stream> stream = device.create_stream();
};

// A single piece does not wake a thread that has just had work.
TEST_F(StreamTest, NobodyHasToWait) {
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> done{false};
    stream->put_device([&] {
      done = true;
      return ACCEL_OK;
    });
    ASSERT_TRUE(tools::eventually([&] { return done.load(); }));
  }
}

TEST_F(StreamTest, OrderDoesNotDependOnWhoDoesIt) {
  std::vector<int> seen; // needs no lock
  std::vector<std::thread> waiting;
  for (int i = 0; i < 2000; ++i) {
    const auto put = [&](auto&& run) {
      if (i % 7 == 0) {
        stream->put_host(run);
      } else {
        stream->put_device(run);
      }
    };
    put([&seen, i] {
      seen.push_back(i);
      return ACCEL_OK;
    });
    if (i % 100 == 99) {
      waiting.emplace_back([this] { stream->synchronize(); });
    }
    if (i % 3 == 0) {
      stream->synchronize();
      EXPECT_EQ(i + 1, static_cast<int>(seen.size()));
    }
  }
  stream->synchronize();
  for (std::thread& thread : waiting) {
    thread.join();
  }
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(i, seen.at(static_cast<std::size_t>(i)));
  }
}

// Its thread begins while somebody else does the work.
TEST_F(StreamTest, OnePieceAtATime) {
  for (int i = 0; i < 200; ++i) {
    const auto fresh = device.create_stream();
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    for (int piece = 0; piece < 20; ++piece) {
      fresh->put_device([&] {
        most = std::max<int>(most, ++running);
        std::this_thread::yield();
        --running;
        return ACCEL_OK;
      });
      if (piece % 8 == 0) {
        fresh->synchronize();
      }
    }
    fresh->synchronize();
    ASSERT_EQ(1, most);
    device.remove_stream(*fresh);
  }
}

// It may do what the program's thread cannot, and holds it up otherwise.
TEST_F(StreamTest, WorkOfTheHostIsForTheStreamsThread) {
  for (int i = 0; i < 100; ++i) {
    std::thread::id thread;
    stream->put_device([] { return ACCEL_OK; });
    stream->put_host([&] {
      thread = std::this_thread::get_id();
      return ACCEL_OK;
    });
    stream->synchronize();
    EXPECT_NE(std::this_thread::get_id(), thread);
  }
}

TEST_F(StreamTest, AFaultDropsWorkButTheHosts) {
  stream->put_device([] { return ACCEL_ASSERT; });
  bool of_device = false;
  bool of_host = false;
  stream->put_device([&] {
    of_device = true;
    return ACCEL_OK;
  });
  stream->put_host([&] {
    of_host = true;
    return ACCEL_OK;
  });
  stream->synchronize();
  EXPECT_EQ(ACCEL_ASSERT, device.fault());
  EXPECT_FALSE(of_device);
  EXPECT_TRUE(of_host);
}

// Though it was asked to while somebody else did the last of the work.
TEST_F(StreamTest, ItsThreadEnds) {
  auto ending = device.create_stream();
  const std::weak_ptr<Stream> watched = ending;
  bool helped = false;
  while (!helped) { // its thread may be faster
    ending->synchronize();
    ending->put_device([&, caller = std::this_thread::get_id()] {
      helped = std::this_thread::get_id() == caller;
      if (helped) {
        device.remove_stream(*ending);
        // Its thread looks, and sleeps again.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      return ACCEL_OK;
    });
    ending->put_device([] { return ACCEL_OK; });
    ending->synchronize();
  }
  ending.reset();
  device.remove_stream(*device.create_stream()); // those that are idle go
  EXPECT_TRUE(tools::eventually([&] { return watched.expired(); }));
}

TEST_F(StreamTest, AnEventIsReachedWithItsWork) {
  const auto other = device.create_stream();
  Event event(true);
  EXPECT_TRUE(event.point().reached());
  std::atomic<bool> open{false};
  stream->put_host([&] {
    while (!open) {
      std::this_thread::yield();
    }
    return ACCEL_OK;
  });
  event.record(*stream);
  event.make_wait(*other);
  int value = 0;
  other->put_device([&] {
    value = 1;
    return ACCEL_OK;
  });
  EXPECT_FALSE(event.point().reached());
  EXPECT_FALSE(other->idle());
  open = true;
  event.point().wait();
  EXPECT_TRUE(stream->idle());
  EXPECT_NE(nullptr, event.point().when);
  other->synchronize();
  EXPECT_EQ(1, value);
  device.remove_stream(*other);
}

} // namespace
} // namespace cudasim::backend

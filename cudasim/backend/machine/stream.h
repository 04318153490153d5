// A stream: a queue of work and the thread that works it off.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "device/abi/device_api.h"

namespace cudasim::backend {

class Device;

/// A piece of a stream's work.
class Work {
 public:
  /// Work that is done by the device alone, and dropped when the device is at
  /// fault. Whoever waits for it may do it.
  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// What it returns, unless ACCEL_OK, is the device's fault from then on.
  virtual accel_status run() = 0;

 protected:
  /// Work of the host, which others wait for: it is done although the device is
  /// at fault, and by the stream's thread.
  struct OfHost {};
  explicit Work(OfHost) : of_host_(true) {}

 private:
  friend class Stream;
  std::unique_ptr<Work> next_;
  bool of_host_ = false;
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(Device& device) : device_(device) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const {
    return device_;
  }

  /// Puts work behind all other and returns; under CUDASIM_SYNC=1 runs it
  /// first.
  void put(std::unique_ptr<Work> work);
  /// Puts in a function that returns what Work::run() does.
  template <typename Run>
  void put_device(Run run) {
    put(std::unique_ptr<Work>(new Call<Run>(std::move(run))));
  }
  /// The same for Work::OfHost.
  template <typename Run>
  void put_host(Run run) {
    put(std::unique_ptr<Work>(new Call<Run>(std::move(run), Work::OfHost{})));
  }

  /// How many pieces of work were put in so far; none under CUDASIM_SYNC=1.
  std::uint64_t submitted() const {
    return submitted_.load(std::memory_order_acquire);
  }
  /// The same for who wants to know when they are done; under CUDASIM_SYNC=1
  /// waits for what another thread is in.
  std::uint64_t mark() const;
  /// Whether the first `count` pieces are done, and what they held let go.
  bool done(std::uint64_t count) const {
    return completed_.load(std::memory_order_acquire) >= count;
  }
  /// Waits until they are.
  void wait(std::uint64_t count);
  /// Whether all that was put in so far is done.
  bool idle() const {
    return done(submitted());
  }
  /// Waits for that.
  void synchronize() {
    wait(submitted());
  }
  /// Lets the thread end once the queue is empty; nothing may be put in after.
  void close();
  /// Drops what is still in the queue, except what others wait for, and lets
  /// the thread end.
  void abandon();

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  template <typename Run>
  struct Call final : Work {
    template <typename... Kind>
    explicit Call(Run&& function, Kind... kind)
        : Work(kind...), function_(std::move(function)) {}
    accel_status run() override {
      return function_();
    }
    Run function_;
  };

  /// What its thread is about to do.
  enum class Thread : std::uint8_t {
    kNone, // there is none yet
    kAwake, // it looks for work by itself
    kDozing, // the same, a moment later
    kAsleep, // it has to be woken
  };

  void start_thread();
  void wake_thread(std::unique_lock<std::mutex>& lock);
  void run(Work& work);
  void work_off();
  std::unique_ptr<Work> take_all(std::unique_lock<std::mutex>& lock);
  void complete();
  void help(std::unique_lock<std::mutex>& lock, std::uint64_t count);
  void wait_locked(std::unique_lock<std::mutex>& lock, std::uint64_t count);

  Device& device_;
  std::mutex mutex_; // of the queue, and held to change what others wait for
  std::condition_variable given_; // the thread waits for it
  std::condition_variable progress_; // others do
  std::unique_ptr<Work> first_;
  Work* last_ = nullptr;
  Thread thread_ = Thread::kNone;
  bool taken_ = false; // somebody does what comes before `first_`
  bool closing_ = false;
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> waited_for_{false}; // since its thread last went to sleep
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> submitted_{0};
  /// The least count that somebody sleeps for.
  std::atomic<std::uint64_t> awaited_{kNobody};
};

} // namespace cudasim::backend

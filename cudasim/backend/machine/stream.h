// A stream: a queue of tasks and the thread that works it off.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "accelerator/abi/device_api.h"

namespace cudasim::backend {

class Device;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  /// A piece of work; what it returns, unless ACCEL_OK, is the device's fault
  /// from then on.
  using Task = std::function<accel_status()>;

  explicit Stream(Device& device) : device_(device) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const {
    return device_;
  }

  /// Puts a task behind all others and returns; under CUDASIM_SYNC=1 runs it
  /// first.
  /// @param always whether it runs although the device is at fault, as what
  /// others wait for must.
  /// @param after called when the task counts as done, in the same moment: who
  /// hears of it by `after` finds the stream done, and the other way round. It
  /// must not use the stream.
  void enqueue(
      Task task,
      bool always = false,
      std::function<void()> after = {});

  /// Whether all that was put in so far is done.
  bool idle() const;
  /// Waits for all that was put in so far.
  void synchronize();
  /// Lets the thread end once the queue is empty; nothing may be put in after.
  void close();
  /// Drops what is still in the queue, except what others wait for, and lets
  /// the thread end.
  void abandon();

 private:
  struct Item {
    Task task;
    bool always;
    std::function<void()> after;
  };

  void push(Item item);
  void run(Item& item);
  void work();

  Device& device_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  std::uint64_t submitted_ = 0;
  std::uint64_t completed_ = 0;
  bool started_ = false;
  bool closing_ = false;
};

} // namespace cudasim::backend

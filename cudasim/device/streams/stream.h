// A stream: a queue of tasks and the thread that works it off.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cudasim/device/status/status.h"

namespace cudasim::device {

class Device;
class Node;
class StreamSet;
struct CaptureSession;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  /// How a stream goes together with the legacy default stream (CUDA runtime
  /// API, stream synchronization behaviour).
  enum class Kind : std::uint8_t {
    kLegacy, // waits for all blocking streams, and they for it
    kBlocking,
    kNonBlocking,
  };
  /// A piece of work; what it returns, unless success, is the device's fault
  /// from then on.
  using Task = std::function<Status()>;

  /// @param set the streams of the device, to which it is added by the caller.
  Stream(StreamSet& set, Kind kind, unsigned flags, int priority);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const;
  Kind kind() const {
    return kind_;
  }
  unsigned flags() const {
    return flags_;
  }
  int priority() const {
    return priority_;
  }
  /// Counts up over all streams of the process.
  std::uint64_t id() const {
    return id_;
  }

  /// Puts a task behind all others and returns; under CUDASIM_SYNC=1 runs it
  /// first. Knows nothing of captures.
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
  /// How many tasks were ever put in: a mark for wait_until().
  std::uint64_t submitted() const;
  /// Waits until that many tasks are done.
  void wait_until(std::uint64_t count);
  /// Lets the thread end once the queue is empty; nothing may be put in after.
  void close();
  /// Drops what is still in the queue, except what others wait for, and lets
  /// the thread end.
  void abandon();

  /// The capture this stream takes part in and the nodes that what comes next
  /// depends on; belongs to graphs/capture.h, guarded by a
  /// mutex there.
  std::shared_ptr<CaptureSession> capture;
  std::vector<Node*> capture_dependencies;
  /// cudaStreamSetAttribute's synchronization policy; only kept.
  int synchronization_policy = 1;

 private:
  struct Mark {
    std::shared_ptr<Stream> stream;
    std::uint64_t count;
  };
  struct Item {
    Task task;
    bool always;
    std::function<void()> after;
    std::vector<Mark> marks; // of other streams, to be waited for first
  };

  std::vector<Mark> implicit_marks() const;
  void push(Item item);
  void run(Item& item);
  void work();

  StreamSet& set_;
  Kind kind_;
  unsigned flags_;
  int priority_;
  std::uint64_t id_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;
  std::uint64_t submitted_ = 0;
  std::uint64_t completed_ = 0;
  bool started_ = false;
  bool closing_ = false;
};

} // namespace cudasim::device

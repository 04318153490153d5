// A stream with CUDA's rules of order, made of a device's own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device/abi/device_api.h"
#include "runtime/core/backends/api_status.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {

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
  /// @throws Failure when the device has none to give.
  Stream(StreamSet& set, Kind kind, unsigned flags, int priority);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const;
  const accel_api& api() const;
  Kind kind() const {
    return kind_;
  }
  unsigned flags() const {
    return flags_;
  }
  int priority() const {
    return priority_;
  }
  /// For work that follows; the device knows the one that the stream was made
  /// with.
  void set_priority(int priority) {
    priority_ = priority;
  }
  /// Counts up over all streams of the process.
  std::uint64_t id() const {
    return id_;
  }

  /// Puts a task of the host's behind all others and returns. Knows nothing of
  /// captures. What the task holds is let go before it counts as done.
  /// @param always whether it runs although the device is at fault, as what
  /// others wait for must.
  void enqueue(Task task, bool always = false);

  /// Puts work of the device's own behind all others: `put` gives it to the
  /// device's stream that it is called with.
  /// @throws Failure with what `put` returns.
  template <typename Put>
  void give(Put&& put) {
    const auto order = join();
    check(api(), std::forward<Put>(put)(native_));
  }

  /// Whether all that was put in so far is done.
  bool idle() const;
  /// Waits for all that was put in so far.
  void synchronize();
  /// Whether that, and all that the next task would wait for, is done: the
  /// legacy default stream's waits for the blocking streams.
  bool idle_in_order() const;
  /// Waits for that, as a program does that waits for the stream. A call that
  /// waits for its own task alone must not: what came into the blocking streams
  /// since may wait for the program.
  void synchronize_in_order();

  /// The capture this stream takes part in and the nodes that what comes next
  /// depends on; belongs to graphs/capture.h, guarded by a
  /// mutex there.
  std::shared_ptr<CaptureSession> capture;
  std::vector<Node*> capture_dependencies;
  /// cudaStreamSetAttribute's synchronization policy; only kept.
  int synchronization_policy = 1;

 private:
  std::unique_lock<std::mutex> join();
  // Those that the next task would wait for.
  std::vector<std::shared_ptr<Stream>> before_next() const;
  void wait_for(Stream& other);

  StreamSet& set_;
  Kind kind_;
  unsigned flags_;
  std::atomic<int> priority_;
  std::uint64_t id_;
  accel_stream native_ = nullptr;
  accel_event mark_ = nullptr; // where others were told to wait; null: nowhere
};

} // namespace accelerator::runtime

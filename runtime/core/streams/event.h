// Events: marks in streams, with times, for this process or for several.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/abi/device_api.h"
#include "runtime/core/backends/backends.h"
#include "runtime/core/status/status.h"

namespace accelerator::runtime {

class Device;
class Node;
class Stream;
struct CaptureSession;

/// The state of an interprocess event, in memory that the processes share.
struct SharedEvent;

class Event : public std::enable_shared_from_this<Event> {
 public:
  /// @param device is only handed on, @param slot where it comes from,
  /// @param flags of cudaEventCreateWithFlags.
  Event(Device& device, const Slot& slot, unsigned flags);
  /// Takes part in an event of another process.
  Event(Device& device, const Slot& slot, SharedEvent* shared);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Device& device() const {
    return device_;
  }
  unsigned flags() const {
    return flags_;
  }
  /// Counts up over all events of the process.
  std::uint64_t id() const {
    return id_;
  }

  /// Marks what the stream has been given so far.
  void record(Stream& stream);
  /// Whether the work before the last record is done (also if there is none).
  /// @throws Failure: cudaErrorExternalDevice, as wait() too, when that is the
  /// work of a process that has ended.
  bool reached() const;
  /// Waits on the host for the work before the last record.
  void wait() const;
  /// Lets the stream wait for the last record, the one at the time of the call.
  /// What wait() throws is its device's fault then.
  void make_wait(Stream& stream) const;
  /// Milliseconds from this event's point to that one's.
  /// @throws Failure: cudaErrorInvalidResourceHandle when one has no time, was
  /// not recorded or is another device's; cudaErrorNotReady.
  float milliseconds_until(const Event& end) const;

  /// The shared state of an interprocess event; null when it is none.
  SharedEvent* shared() const {
    return shared_;
  }

  /// Whether it was last recorded in a capture, which may have ended: it has
  /// marked nothing since then.
  std::atomic<bool> captured{false};
  /// What the event stands for then; belongs to graphs/capture.h.
  std::shared_ptr<CaptureSession> capture;
  std::vector<Node*> capture_nodes;

 private:
  using Clock = std::chrono::steady_clock;
  const accel_api& api() const {
    return *slot_.api;
  }
  bool host_times() const;

  Device& device_;
  Slot slot_;
  unsigned flags_;
  std::uint64_t id_;
  accel_event native_ = nullptr;
  std::atomic<bool> recorded_{false};
  /// When it was reached, for devices without times.
  mutable std::mutex mutex_;
  std::shared_ptr<Clock::time_point> when_;
  SharedEvent* shared_ = nullptr;
};

} // namespace accelerator::runtime

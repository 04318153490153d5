// Events: marks in streams, with times, for this process or for several.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cudasim/device/status/status.h"
#include "cudasim/device/streams/point.h"

namespace cudasim::device {

class Device;
class Node;
class Stream;
struct CaptureSession;

/// The state of an interprocess event, in memory that the processes share.
struct SharedEvent;

class Event {
 public:
  /// @param flags of cudaEventCreateWithFlags.
  Event(Device& device, unsigned flags);
  /// Takes part in an event of another process.
  Event(Device& device, SharedEvent* shared);
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
  /// Marks now; for graphs, where the order is the graph's.
  void record_now();
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

  /// What the event stands for when it was last recorded in a capture; belongs
  /// to graphs/capture.h.
  std::shared_ptr<CaptureSession> capture;
  std::vector<Node*> capture_nodes;

 private:
  std::shared_ptr<Point> point() const;

  Device& device_;
  unsigned flags_;
  std::uint64_t id_;
  mutable std::mutex mutex_;
  std::shared_ptr<Point> point_; // null: never recorded
  SharedEvent* shared_ = nullptr;
};

} // namespace cudasim::device

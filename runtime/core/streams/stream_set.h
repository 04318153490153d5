// The streams of a device, with the legacy default stream that orders them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/core/backends/backends.h"
#include "runtime/core/status/handles.h"
#include "runtime/core/status/status.h"
#include "runtime/core/streams/stream.h"

namespace accelerator::runtime {

class Device;
class Event;

class StreamSet {
 public:
  /// @param device is only handed on, @param slot where it comes from,
  /// @param handles where the machine keeps the streams that programs know,
  /// @param calls_in_callbacks whether the device has that capability.
  StreamSet(
      Device& device,
      const Slot& slot,
      HandleTable<Stream>& handles,
      bool calls_in_callbacks);
  StreamSet(const StreamSet&) = delete;
  StreamSet& operator=(const StreamSet&) = delete;

  Device& device() const {
    return device_;
  }
  const Slot& slot() const {
    return slot_;
  }
  bool calls_in_callbacks() const {
    return calls_in_callbacks_;
  }

  /// The legacy default stream.
  Stream& default_stream() const;
  /// Makes a stream and enters it into the table of handles.
  std::shared_ptr<Stream> create(unsigned flags, int priority);
  /// Forgets a stream; it ends when its work is done.
  void remove(const Stream& stream);
  /// Whether there ever was a blocking stream, which the default stream waits
  /// for. Most programs have none.
  bool had_blocking() const {
    return had_blocking_.load(std::memory_order_acquire);
  }
  /// Lets all streams, and those that are made later, wait for the event, which
  /// nobody records again.
  void let_wait(std::shared_ptr<Event> event);
  /// All streams that live.
  std::vector<std::shared_ptr<Stream>> all() const;
  /// Waits for all work of all streams.
  void synchronize() const;
  /// Held while a stream joins the order given by the legacy default stream.
  std::mutex& order_mutex() {
    return order_mutex_;
  }

  /// The error of the first work that failed, which ends all that follows;
  /// cudaSuccess while all is well.
  Status fault() const;
  /// The first fault stays.
  void set_fault(Status status);
  /// The same without a call of the device.
  void set_host_fault(Status status);
  void forget_fault();

 private:
  Device& device_;
  HandleTable<Stream>& handles_;
  Slot slot_;
  bool calls_in_callbacks_;
  mutable std::mutex mutex_;
  std::mutex order_mutex_;
  std::vector<std::shared_ptr<Stream>> streams_; // the first is the default
  std::shared_ptr<Event> gate_; // what new streams wait for; null: nothing
  std::atomic<bool> had_blocking_{false};
  std::atomic<Status> fault_{cudaSuccess}; // of the host's part in the work
  mutable std::atomic<bool> told_{false}; // that the device is lost
};

} // namespace accelerator::runtime

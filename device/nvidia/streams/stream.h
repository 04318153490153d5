// Streams of the driver, and the host's work in them.
#pragma once

#include <cuda.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "device/abi/device_api.h"
#include "device/nvidia/devices/backlog.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/streams/host_block.h"
#include "device/nvidia/streams/in_flight.h"
#include "device/nvidia/streams/mark.h"

namespace accelerator::nvidia {

/// Made on a device at fault it has nothing of the driver's, and takes
/// callbacks only.
///
/// The driver is given so much work at a time, and none that waits for a
/// program's callback: it would make its caller wait, or hold up other streams.
/// Such work stays in a queue here, which threads of this library hand on.
class Stream : public Backlog, public std::enable_shared_from_this<Stream> {
 public:
  /// @throws Error
  Stream(Device& device, int priority);
  /// Its work is still done.
  ~Stream() override;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const {
    return device_;
  }
  /// @throws Error: the device's fault.
  CUstream native() const {
    device_.require_health();
    return native_;
  }
  /// Held while work is put in.
  std::mutex& mutex() {
    return mutex_;
  }

  /// Whether the driver takes work at once; with the mutex and a current
  /// context.
  bool takes_work() {
    return !is_behind() && in_flight_.has_room();
  }
  /// Gives the driver a piece of work, after takes_work().
  /// @param work calls the driver once, with the stream.
  /// @throws Error
  template <typename Work>
  void put_now(const Work& work, unsigned pieces = 1) {
    in_flight_.mark(native_);
    work(native());
    in_flight_.add(pieces);
  }
  /// Puts a piece of work into the queue; with the mutex.
  /// @param work as above; what it throws puts the device at fault.
  /// @param after is given to the driver first; may be null.
  /// @param gives is given with it; may be null.
  void put_later(
      std::function<void(CUstream)> work,
      std::shared_ptr<Mark> after = nullptr,
      std::shared_ptr<Mark> gives = nullptr);
  /// One or the other, with the mutex and a current context.
  /// @param work calls the driver once, with the stream, and owns what it uses.
  /// @throws Error
  template <typename Work>
  void put(const Work& work) {
    if (takes_work()) {
      put_now(work);
    } else {
      put_later(work);
    }
  }

  /// Puts in a program's callback, also on a device at fault. A context is not
  /// needed.
  /// @throws Error
  void add_callback(accel_callback callback, void* data);
  /// Puts in a short piece of the library's own work on the host, which waits
  /// for nothing and calls nothing of the driver. With the mutex and a current
  /// context.
  /// @throws Error
  void add_host_work(std::function<void()> function);
  /// Pinned memory for copies of this stream, used in its order; with the
  /// mutex, and a current context.
  const std::shared_ptr<HostBlock>& block();

  /// Somebody else has given the driver work for the stream; nobody knows how
  /// much.
  void note_submitted();

  /// Whether the driver has all of its work, and callbacks are done.
  bool is_handed_on();
  /// Until that is so of all that was put in before the call.
  /// @throws Error: the device's fault.
  void wait_until_handed_on() override;

 private:
  struct Queued {
    std::function<void()> work;
    std::shared_ptr<Mark> after, gives;
    unsigned pieces; // for the driver
  };

  struct Call;

  bool is_behind() const {
    return is_held_ || !queue_.empty();
  }
  void queue(Queued work);
  void hand_on(std::unique_lock<std::mutex>& lock);
  void wait_for_room(std::unique_lock<std::mutex>& lock);
  void put_callback(accel_callback callback, void* data);
  static void CUDA_CB reach(CUstream, CUresult, void* call);
  void end_callback();

  Device& device_;
  CUstream native_ = nullptr;
  std::mutex mutex_;
  InFlight in_flight_;
  // Handed on by one thread, or by a callback's when that is done.
  std::deque<Queued> queue_;
  bool is_held_ = false; // by a callback that the driver has and is not done
  std::uint64_t handed_on_ = 0; // pieces of the queue
  std::uint64_t callbacks_ = 0; // put in
  std::uint64_t callbacks_done_ = 0;
  std::condition_variable progress_;
  std::shared_ptr<HostBlock> block_;
};

} // namespace accelerator::nvidia

struct accel_stream_object {
  std::shared_ptr<accelerator::nvidia::Stream> stream;
};

namespace accelerator::nvidia {

/// The stream of a handle, whose device the calling function is about.
Stream& stream_of(accel_stream stream);

} // namespace accelerator::nvidia

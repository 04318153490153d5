// The seam for profilers: one observer, and what tells it of calls and waits.
// Nobody pays for it while there is none: a relaxed load is all.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/core/tracing/records.h"

namespace accelerator::runtime::tracing {

/// Who watches. Lives as long as the process, because work that was asked for
/// under its eyes may end after it was taken away. Called by any thread, also
/// several at once; must not throw and must not use the device.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The time, in units and from a beginning of the observer's own.
  virtual std::uint64_t now() noexcept = 0;
  /// By the thread that makes the call, when it begins; for observers that want
  /// to know it then.
  /// @param record without its result and end; its note may be written.
  virtual void begin(CallRecord& record) noexcept {
    static_cast<void>(record);
  }
  /// By the thread that made the call, when it returns.
  virtual void call(const CallRecord& record) noexcept = 0;
  /// By the thread that did the work, before the work counts as done.
  virtual void work(const WorkRecord& record) noexcept = 0;
  virtual void wait(const WaitRecord& record) noexcept = 0;
  /// By the thread that records it; where times_events(), by the one that does
  /// the stream's work, before the event counts as reached.
  virtual void event(const EventRecord& record) noexcept = 0;
  /// Whether events are told of when their streams reach them.
  virtual bool times_events() const noexcept {
    return false;
  }
};

/// The observer, or null. Only read it; set_observer() changes it.
extern std::atomic<Observer*> the_observer;

/// Watches from now on; null: nobody does. A forked child begins without.
void set_observer(Observer* observer) noexcept;

/// A call of the program, for as long as it lasts. One that another makes on
/// its behalf is part of that.
class Call {
 public:
  Call(Interface interface, const char* function) noexcept {
    if (Observer* observer = the_observer.load(std::memory_order_relaxed)) {
      begin(observer, interface, function);
    }
  }
  ~Call() {
    if (observer_ != nullptr) {
      end();
    }
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void set_result(int result) {
    record_.result = result;
  }

 private:
  void begin(
      Observer* observer,
      Interface interface,
      const char* function) noexcept;
  void end() noexcept;

  Observer* observer_ = nullptr;
  CallRecord record_;
};

/// Where work comes from that the calling thread gives to a stream. Without the
/// observer that saw its call begin it is nobody's.
Origin origin_of_work(std::uint64_t stream) noexcept;

/// A wait of the calling thread, for as long as it lasts.
class Wait {
 public:
  /// @param stream, @param event: 0 when it is for none.
  Wait(
      WaitRecord::Kind kind,
      int device,
      std::uint64_t stream,
      std::uint64_t event = 0) noexcept;
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  Observer* observer_ = nullptr;
  WaitRecord record_;
};

/// Tells of an event that the calling thread records.
void event_recorded(
    int device,
    std::uint64_t stream,
    std::uint64_t event) noexcept;

/// An event that the calling thread records, to be told of when the stream
/// reaches it.
class EventToTell {
 public:
  EventToTell(int device, std::uint64_t stream, std::uint64_t event) noexcept;
  /// Whether the observer wants it so; otherwise it is told of at once.
  explicit operator bool() const {
    return observer_ != nullptr;
  }
  /// The stream has reached it.
  void tell() noexcept;

 private:
  Observer* observer_ = nullptr;
  EventRecord record_;
};

} // namespace accelerator::runtime::tracing

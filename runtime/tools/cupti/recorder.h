// Makes CUPTI's records of what the machine tells.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>

#include "runtime/core/tracing/tracing.h"
#include "runtime/tools/cupti/callback_set.h"
#include "runtime/tools/cupti/record_buffers.h"

namespace accelerator::cupti {

class Recorder final : public runtime::tracing::Observer {
 public:
  /// Whether there are records of this kind.
  static bool supports(CUpti_ActivityKind kind);

  /// Makes records of a kind from now on, or no longer. While there are none to
  /// make, the machine has no observer.
  /// @param kind for which supports() holds. One of calls stands for all the
  /// functions of its interface.
  void enable(CUpti_ActivityKind kind, bool enabled);
  /// The same for the calls of one function.
  void enable_call(
      runtime::tracing::Interface interface,
      CUpti_CallbackId callback,
      bool enabled);
  /// Whether records of events have the time when their streams reach them.
  void set_event_times(bool wanted) {
    event_times_ = wanted;
  }
  /// Makes no records any longer and calls no subscriber.
  void disable_all();
  /// Watches the machine if there is a subscriber, and as far as records need.
  void watch_for_subscriber(bool wanted);
  /// In a forked child: is as it was at first.
  void forget_parent();

  RecordBuffers& buffers() {
    return buffers_;
  }

  /// The clock of all records; null: nanoseconds of the system's.
  void set_clock(CUpti_TimestampCallbackFunc clock) {
    clock_ = clock;
  }
  /// Whether records name threads by the kernel's numbers, or by pthread's.
  void set_system_thread_ids(bool system) {
    system_thread_ids_ = system;
  }
  bool system_thread_ids() const {
    return system_thread_ids_;
  }

  std::uint64_t now() noexcept override;
  void begin(runtime::tracing::CallRecord& record) noexcept override;
  void call(const runtime::tracing::CallRecord& record) noexcept override;
  void work(const runtime::tracing::WorkRecord& record) noexcept override;
  void wait(const runtime::tracing::WaitRecord& record) noexcept override;
  void event(const runtime::tracing::EventRecord& record) noexcept override;
  bool times_events() const noexcept override {
    return event_times_ && enabled(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  }

 private:
  bool enabled(CUpti_ActivityKind kind) const {
    return (kinds_.load(std::memory_order_relaxed) >> kind & 1) != 0;
  }
  CallbackSet& calls_of(runtime::tracing::Interface interface) {
    return calls_[static_cast<std::size_t>(interface)];
  }
  void watch(); // with enable_mutex_ held
  const char* lasting(const std::string& name);
  void write_call(const runtime::tracing::CallRecord& record);
  void write_kernel(
      const runtime::tracing::WorkRecord& record,
      const runtime::tracing::KernelPart& part);
  void write_copy(
      const runtime::tracing::WorkRecord& record,
      const runtime::tracing::CopyPart& part);
  void write_peer_copy(
      const runtime::tracing::WorkRecord& record,
      const runtime::tracing::CopyPart& part);
  void write_fill(
      const runtime::tracing::WorkRecord& record,
      const runtime::tracing::FillPart& part);
  void write_external_ids(std::uint32_t correlation);

  RecordBuffers buffers_;
  std::mutex enable_mutex_;
  std::atomic<std::uint64_t> kinds_{0}; // a bit each, but none of calls
  std::array<CallbackSet, 2> calls_; // of which there are records
  bool subscriber_ = false;
  std::atomic<CUpti_TimestampCallbackFunc> clock_{nullptr};
  std::atomic<bool> system_thread_ids_{false};
  std::atomic<bool> event_times_{false};
  std::mutex names_mutex_;
  std::unordered_set<std::string> names_; // records point to them for good
};

/// The recorder of this process, which lives as long.
Recorder& recorder();

/// What the calling thread's calls belong to, by the numbers of somebody else.
void push_external_id(CUpti_ExternalCorrelationKind kind, std::uint64_t id);
/// @returns whether there was one.
bool pop_external_id(CUpti_ExternalCorrelationKind kind, std::uint64_t* id);

/// The number of a device's context.
inline std::uint32_t context_id(int device) {
  return static_cast<std::uint32_t>(device) + 1;
}

} // namespace accelerator::cupti

// The one who is called when the program's calls begin and return.
#pragma once

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "runtime/core/tracing/records.h"
#include "runtime/tools/cupti/callback_set.h"

namespace accelerator::cupti {

/// The subscriber of this process, of which there is one at a time at most, as
/// in CUPTI. Thread-safe; it is called without a lock.
class Subscriber {
 public:
  /// Becomes the subscriber, who wants to hear of nothing yet.
  /// @returns null when there is one.
  CUpti_SubscriberHandle join(CUpti_CallbackFunc callback, void* user);
  /// Takes the subscriber away. It is called no more when this returns; calls
  /// that other threads are in are waited for.
  /// @returns false when the handle is not the present subscriber's.
  bool leave(CUpti_SubscriberHandle handle);
  /// The same for whoever is the subscriber.
  void leave();
  /// Whether the handle is the present subscriber's.
  bool is(CUpti_SubscriberHandle handle) const;
  /// In a forked child: there is none.
  void forget_parent();

  /// What the subscriber wants to hear of.
  CallbackSet& wanted(runtime::tracing::Interface interface) {
    return wanted_[static_cast<std::size_t>(interface)];
  }
  /// Which resources (CUpti_CallbackIdResource) it wants to hear of.
  CallbackSet& wanted_resources() {
    return wanted_resources_;
  }
  /// Whether it wants to hear of any function.
  bool wants_any() const {
    return wanted_[0].any() || wanted_[1].any();
  }

  /// Calls the subscriber if it wants to hear of the function. What the
  /// subscriber calls in its turn it does not hear of.
  /// @param record its note keeps what the subscriber leaves from the begin to
  /// the return.
  void tell(
      CUpti_ApiCallbackSite site,
      runtime::tracing::CallRecord& record) noexcept;

 private:
  struct Who {
    CUpti_CallbackFunc callback = nullptr;
    void* user = nullptr;
    std::uintptr_t number = 0; // counts up; the handle
  };
  Who who() const {
    const std::lock_guard lock(mutex_);
    return who_;
  }
  static CUpti_SubscriberHandle handle_of(const Who& who) {
    return reinterpret_cast<CUpti_SubscriberHandle>(who.number);
  }
  void forget(); // with mutex_ held

  mutable std::mutex mutex_;
  Who who_;
  std::uintptr_t last_number_ = 0;
  std::array<CallbackSet, 2> wanted_;
  CallbackSet wanted_resources_;
  std::atomic<int> calls_{0}; // of the subscriber, under way
};

/// The instance, which lives as long as the process.
Subscriber& subscriber();

} // namespace accelerator::cupti

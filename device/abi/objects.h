// Streams, events and memory of a device's library that are given back by
// themselves.
#pragma once

#include <utility>

#include "device/abi/library.h"

namespace accelerator {

/// Throws StatusError, with the text of the calling thread, for what is neither
/// ACCEL_OK nor ACCEL_NOT_READY.
inline accel_status check(const accel_api& api, accel_status status) {
  if (status != ACCEL_OK && status != ACCEL_NOT_READY)
    throw StatusError(status, api.last_error());
  return status;
}

/// A stream; its work is still done when it goes.
class Stream {
 public:
  /// @throws StatusError
  Stream(const accel_api& api, int32_t device, int32_t priority = 0)
      : api_(&api), device_(device) {
    check(api, api.stream_create(device, priority, &stream_));
  }
  Stream(Stream&& other) noexcept
      : api_(other.api_),
        device_(other.device_),
        stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(device_, other.device_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_)
      api_->stream_destroy(stream_);
  }

  operator accel_stream() const {
    return stream_;
  }
  int32_t device() const {
    return device_;
  }

 private:
  const accel_api* api_;
  int32_t device_;
  accel_stream stream_ = nullptr;
};

/// An event; who waits for it still does when it goes.
class Event {
 public:
  /// @throws StatusError
  Event(const accel_api& api, int32_t device, bool timing = false)
      : api_(&api) {
    check(api, api.event_create(device, timing, &event_));
  }
  Event(Event&& other) noexcept
      : api_(other.api_), event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_)
      api_->event_destroy(event_);
  }

  operator accel_event() const {
    return event_;
  }

 private:
  const accel_api* api_;
  accel_event event_ = nullptr;
};

/// Memory of a device; freed at once when it goes.
class Memory {
 public:
  /// @throws StatusError
  Memory(
      const accel_api& api,
      int32_t device,
      uint64_t bytes,
      uint64_t alignment = 0)
      : api_(&api), device_(device), bytes_(bytes) {
    check(api, api.memory_allocate(device, bytes, alignment, &address_));
  }
  Memory(Memory&& other) noexcept
      : api_(other.api_),
        device_(other.device_),
        bytes_(other.bytes_),
        address_(std::exchange(other.address_, nullptr)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(device_, other.device_);
    std::swap(bytes_, other.bytes_);
    std::swap(address_, other.address_);
    return *this;
  }
  ~Memory() {
    if (address_)
      api_->memory_free(device_, address_);
  }

  char* get() const {
    return static_cast<char*>(address_);
  }
  uint64_t bytes() const {
    return bytes_;
  }
  int32_t device() const {
    return device_;
  }
  /// Lets go of it: somebody else frees it.
  void* release() {
    return std::exchange(address_, nullptr);
  }

 private:
  const accel_api* api_;
  int32_t device_;
  uint64_t bytes_;
  void* address_ = nullptr;
};

} // namespace accelerator

// Streams: a c10::Stream of the stand-in, and the current one of a thread.
#pragma once

#include <c10/core/Stream.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <functional>
#include <ostream>

#include "c10/stand/StandException.h"
#include "stand_runtime_api.h"

namespace c10::stand {

class C10_API StandStream {
 public:
  /// @throws c10::Error for a stream of another device type.
  explicit StandStream(Stream stream) : stream_(stream) {
    TORCH_CHECK(
        stream_.device_type() == DeviceType::PrivateUse1,
        "Expected a stream of the stand-in, but found one of ",
        stream_.device());
  }

  bool operator==(const StandStream& other) const noexcept {
    return unwrap() == other.unwrap();
  }
  bool operator!=(const StandStream& other) const noexcept {
    return unwrap() != other.unwrap();
  }

  operator standStream_t() const {
    return stream();
  }
  operator Stream() const {
    return unwrap();
  }

  DeviceType device_type() const {
    return DeviceType::PrivateUse1;
  }
  DeviceIndex device_index() const {
    return stream_.device_index();
  }
  Device device() const {
    return stream_.device();
  }
  StreamId id() const {
    return stream_.id();
  }
  bool query() const;
  void synchronize() const;
  int priority() const;
  /// The runtime's handle; never null.
  standStream_t stream() const;
  Stream unwrap() const {
    return stream_;
  }

 private:
  Stream stream_;
};

/// The next of a few streams that all share.
C10_API StandStream
getStreamFromPool(bool high_priority = false, DeviceIndex device = -1);
/// A stream that was made elsewhere.
C10_API StandStream
getStreamFromExternal(standStream_t stream, DeviceIndex device);
C10_API StandStream getDefaultStandStream(DeviceIndex device = -1);
C10_API StandStream getCurrentStandStream(DeviceIndex device = -1);
/// Of the calling thread, for the stream's device.
C10_API void setCurrentStandStream(StandStream stream);

inline std::ostream& operator<<(std::ostream& out, const StandStream& stream) {
  return out << stream.unwrap();
}

} // namespace c10::stand

template <>
struct std::hash<c10::stand::StandStream> {
  size_t operator()(const c10::stand::StandStream& stream) const noexcept {
    return std::hash<c10::Stream>{}(stream.unwrap());
  }
};

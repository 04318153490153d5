// An event: the last place in a stream that it marked.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cudasim/backend/machine/stream.h"

namespace cudasim::backend {

/// A place in a stream's work.
struct Point {
  using Clock = std::chrono::steady_clock;

  /// Whether the work in front of it is done.
  bool reached() const {
    return stream == nullptr || stream->done(count);
  }
  void wait() const {
    if (stream != nullptr) {
      stream->wait(count);
    }
  }

  std::shared_ptr<Stream> stream; // null: in front of all work
  std::uint64_t count = 0; // of the stream's work that is in front of it
  /// When it was reached, meaningful once it is; null without a time.
  std::shared_ptr<const Clock::time_point> when;
};

class Event {
 public:
  /// @param timed whether its points have times.
  explicit Event(bool timed) : timed_(timed) {}

  /// Marks what the stream has been given so far.
  void record(Stream& stream);
  /// The last mark.
  Point point() const;
  /// Lets the stream wait for the last mark, the one at the time of the call.
  void make_wait(Stream& stream) const;

 private:
  bool timed_;
  mutable std::mutex mutex_;
  Point point_;
};

} // namespace cudasim::backend

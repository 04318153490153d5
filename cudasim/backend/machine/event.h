// An event: the last place in a stream that it marked.
#pragma once

#include <memory>
#include <mutex>

#include "cudasim/backend/machine/point.h"

namespace cudasim::backend {

class Stream;

class Event {
 public:
  /// Marks what the stream has been given so far.
  void record(Stream& stream);
  /// The last mark; null when there is none.
  std::shared_ptr<Point> point() const;
  /// Lets the stream wait for the last mark, the one at the time of the call.
  void make_wait(Stream& stream) const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Point> point_;
};

} // namespace cudasim::backend

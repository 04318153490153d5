#include "cudasim/backend/machine/event.h"

#include <utility>

namespace cudasim::backend {

void Event::record(Stream& stream) {
  Point point;
  point.stream = stream.shared_from_this();
  if (timed_) {
    auto when = std::make_shared<Point::Clock::time_point>();
    point.when = when;
    stream.put_host([when = std::move(when)] {
      *when = Point::Clock::now();
      return ACCEL_OK;
    });
  }
  point.count = stream.mark();
  const std::lock_guard lock(mutex_);
  std::swap(point_, point);
}

Point Event::point() const {
  const std::lock_guard lock(mutex_);
  return point_;
}

void Event::make_wait(Stream& stream) const {
  Point last = point();
  if (last.reached()) {
    return;
  }
  stream.put_host([last = std::move(last)] {
    last.wait();
    return ACCEL_OK;
  });
}

} // namespace cudasim::backend

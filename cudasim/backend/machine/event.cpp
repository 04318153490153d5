#include "cudasim/backend/machine/event.h"

#include <utility>

#include "cudasim/backend/machine/stream.h"

namespace cudasim::backend {

void Event::record(Stream& stream) {
  auto point = std::make_shared<Point>();
  {
    const std::lock_guard lock(mutex_);
    point_ = point;
  }
  stream.enqueue(
      [] { return ACCEL_OK; },
      true,
      [point = std::move(point)] { point->reach(); });
}

std::shared_ptr<Point> Event::point() const {
  const std::lock_guard lock(mutex_);
  return point_;
}

void Event::make_wait(Stream& stream) const {
  auto last = point();
  if (last == nullptr || last->reached()) {
    return;
  }
  stream.enqueue(
      [last = std::move(last)] {
        last->wait();
        return ACCEL_OK;
      },
      true);
}

} // namespace cudasim::backend

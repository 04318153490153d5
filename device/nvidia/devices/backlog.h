// Work of a stream that the driver does not have yet.
#pragma once

namespace accelerator::nvidia {

class Backlog {
 public:
  virtual ~Backlog() = default;
  /// Until the driver has all that was put in before the call, and callbacks
  /// are done.
  /// @throws Error: the device's fault.
  virtual void wait_until_handed_on() = 0;
};

} // namespace accelerator::nvidia

// The floating-point environment of a host thread while it works for a device.
#pragma once

#include <cfenv>

namespace cudasim::engine {

/// Rounds to nearest and keeps denormal numbers, whatever the program has set
/// for the thread (torch.set_flush_denormal, fesetround) or it was born with;
/// the end of the scope gives the thread its own environment back. A device has
/// no part in the host's.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() {
    std::fesetenv(&before_);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  std::fenv_t before_;
};

} // namespace cudasim::engine

// What the host does as work of streams: on threads of this library, so that
// none of the driver's is held by a program's callback.
#pragma once

#include <functional>

namespace accelerator::nvidia {

/// Runs a function on some thread of this library, beside all others.
void run_beside(std::function<void()> function);

/// Runs a piece of the host's work, unless the library has been ended.
void run_unless_ended(const std::function<void()>& function);

/// Nothing is run any more; waits for what runs, seconds at most.
void end_host_work();

} // namespace accelerator::nvidia

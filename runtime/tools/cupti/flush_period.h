// Flushing by the clock.
#pragma once

#include <cstdint>

namespace accelerator::cupti {

/// Gives back buffers with records every so many milliseconds, on a thread of
/// its own; 0: no longer.
void set_flush_period(std::uint32_t milliseconds);

} // namespace accelerator::cupti

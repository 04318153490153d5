// Processes on this machine, told apart also when their numbers are used again.
#pragma once

#include <cstdint>

namespace accelerator::host {

/// A process: its number and when it began; 0 when the host does not say.
using ProcessId = std::uint64_t;

/// The calling process.
ProcessId this_process();

/// Whether a number is a thread's that is not its process's first: /proc takes
/// these for the process too.
bool is_other_thread(std::int32_t number);

/// What getpid() gives in a process: its number in the innermost PID namespace,
/// which containers have of their own; 0 when the host does not say.
std::int32_t own_number(std::int32_t process);

/// Whether a process has certainly ended.
bool has_ended(ProcessId process);

} // namespace accelerator::host

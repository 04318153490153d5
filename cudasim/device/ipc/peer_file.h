// A file that another process on the same machine has open. A handle says
// process and file descriptor; the other one opens that file through /proc,
// which the kernel allows to the same user.
#pragma once

#include <cstdint>

namespace cudasim::device {

/// Opens it here too, for reading and writing.
/// @throws Failure: cudaErrorMapBufferObjectFailed when the process is gone.
int open_file_of(std::int32_t process, std::int32_t file);

} // namespace cudasim::device

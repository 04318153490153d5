#include "cudasim/device/ipc/peer_file.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>

#include "cudasim/device/status/status.h"

namespace cudasim::device {

int open_file_of(std::int32_t process, std::int32_t file) {
  const std::string path =
      "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  const int opened = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) {
    throw Failure(
        cudaErrorMapBufferObjectFailed,
        "cannot open " + path +
            " of the process that made an IPC handle: " + std::strerror(errno));
  }
  return opened;
}

} // namespace cudasim::device

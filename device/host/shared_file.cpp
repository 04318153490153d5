#include "device/host/shared_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/host/host_error.h"
#include "device/host/process.h"

namespace accelerator::host {
namespace {

std::string path_of(const std::string& process, int file) {
  return "/proc/" + process + "/fd/" + std::to_string(file);
}

// What the kernel calls the file that a path in /proc/…/fd stands for; empty
// when there is none.
std::string target_of(const std::string& path) {
  char target[256];
  const ssize_t length = readlink(path.c_str(), target, sizeof(target));
  return length < 0 ? ""
                    : std::string(target, static_cast<std::size_t>(length));
}

bool is_named(const std::string& target, const std::string& name) {
  const std::string begin = "/memfd:" + name;
  return target.compare(0, begin.size(), begin) == 0;
}

// The entries of a folder that are numbers; none where it cannot be read.
std::vector<std::int32_t> numbers_in(const std::string& folder) {
  std::vector<std::int32_t> numbers;
  DIR* const opened = opendir(folder.c_str());
  if (opened == nullptr) {
    return numbers;
  }
  while (const dirent* entry = readdir(opened)) {
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') {
      numbers.push_back(std::atoi(entry->d_name));
    }
  }
  closedir(opened);
  return numbers;
}

} // namespace

int create_shared_file(const std::string& name, std::uint64_t bytes) {
  const int file = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) {
    return -1;
  }
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    close(file);
    return -1;
  }
  return file;
}

bool is_shared_file(int file, const std::string& name, std::uint64_t* bytes) {
  // Only files in memory have seals.
  const int seals = fcntl(file, F_GET_SEALS);
  struct stat status{};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(file, &status) != 0 ||
      !is_named(target_of(path_of("self", file)), name)) {
    return false;
  }
  *bytes = static_cast<std::uint64_t>(status.st_size);
  return true;
}

int open_shared_file(
    std::int32_t process,
    std::int32_t file,
    const std::string& name,
    std::uint64_t* bytes) {
  if (process <= 0 || file < 0) {
    throw HostError(HostError::Kind::kInvalid, "no process has such a file");
  }
  const std::string path = path_of(std::to_string(process), file);
  // Looked at before it is opened: to open a device or a pipe has effects.
  const std::string target = target_of(path);
  int opened = -1;
  if (!target.empty()) {
    if (!is_named(target, name) || is_other_thread(process)) {
      throw HostError(
          HostError::Kind::kInvalid, path + " is another kind of file");
    }
    opened = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  }
  if (opened < 0) {
    throw HostError(
        HostError::Kind::kEnded,
        "cannot open " + path +
            " of the process that made an IPC handle: " + std::strerror(errno));
  }
  if (!is_shared_file(opened, name, bytes)) {
    close(opened);
    throw HostError(
        HostError::Kind::kInvalid, path + " is another kind of file");
  }
  return opened;
}

std::vector<FoundFile> find_shared_files(const std::string& name) {
  std::vector<FoundFile> found;
  for (const std::int32_t process : numbers_in("/proc")) {
    for (const std::int32_t file :
         numbers_in("/proc/" + std::to_string(process) + "/fd")) {
      if (is_named(target_of(path_of(std::to_string(process), file)), name)) {
        found.push_back({process, file});
      }
    }
  }
  return found;
}

std::uint64_t random_key() {
  std::uint64_t key = 0;
  while (key == 0) {
    if (getrandom(&key, sizeof(key), 0) != sizeof(key)) {
      std::random_device device;
      key = static_cast<std::uint64_t>(device()) << 32 | device();
    }
  }
  return key;
}

} // namespace accelerator::host

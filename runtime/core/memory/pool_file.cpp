#include "runtime/core/memory/pool_file.h"

#include <map>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/status/status.h"

namespace accelerator::runtime {
namespace {

constexpr std::uint64_t kPoolFile = 0x6c6f6f702d636370; // "pcc-pool"

struct PoolFile {
  std::uint64_t magic;
  std::int64_t physical;
};

std::mutex pool_imports_mutex;

std::map<std::uint64_t, int>& pool_imports() {
  static auto* users = new std::map<std::uint64_t, int>;
  return *users;
}

} // namespace

int write_pool_file(int physical) {
  const PoolFile content{kPoolFile, physical};
  const int file = memfd_create("torch_cuda-pool", MFD_CLOEXEC);
  require(file >= 0, cudaErrorOperatingSystem);
  if (pwrite(file, &content, sizeof(content), 0) != sizeof(content)) {
    close(file);
    throw Failure(cudaErrorOperatingSystem);
  }
  return file;
}

int read_pool_file(int file) {
  PoolFile content{};
  require(pread(file, &content, sizeof(content), 0) == sizeof(content));
  require(content.magic == kPoolFile);
  return static_cast<int>(content.physical);
}

void enter_pool_import(std::uint64_t begin) {
  const std::lock_guard lock(pool_imports_mutex);
  ++pool_imports()[begin];
}

bool leave_pool_import(std::uint64_t begin) {
  const std::lock_guard lock(pool_imports_mutex);
  const auto found = pool_imports().find(begin);
  if (found == pool_imports().end()) {
    return false;
  }
  if (--found->second == 0) {
    pool_imports().erase(found);
  }
  return true;
}

} // namespace accelerator::runtime

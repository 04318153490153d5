#include "cudasim/device/memory/ipc_memory.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/device/ipc/export_table.h"
#include "cudasim/device/ipc/shared_file.h"
#include "cudasim/device/status/status.h"

namespace cudasim::device {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMemoryMagic = 0x4d534443;

// The 64 bytes of cudaIpcMemHandle_t, less the zeros behind.
struct MemoryHandle {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
  std::uint32_t zero;
  Export memory;
};
static_assert(sizeof(MemoryHandle) <= sizeof(cudaIpcMemHandle_t));

// Memory of other processes, by address.
struct Import {
  cudaIpcMemHandle_t handle;
  void* mapping;
  std::uint64_t mapped;
  int users;
};
std::mutex imports_mutex;
std::map<std::uint64_t, Import>& imports() {
  static auto* map = new std::map<std::uint64_t, Import>;
  return *map;
}

cudaIpcMemHandle_t handle_of(const MemoryHandle& parts) {
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, &parts, sizeof(parts));
  return handle;
}

bool same(const cudaIpcMemHandle_t& a, const cudaIpcMemHandle_t& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

// Closes a file at the end of a scope.
class OpenFile {
 public:
  explicit OpenFile(int file) : file_(file) {}
  ~OpenFile() {
    close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const {
    return file_;
  }

 private:
  int file_;
};

} // namespace

cudaIpcMemHandle_t export_memory(const Memory& memory, const void* begin) {
  const auto address = reinterpret_cast<std::uint64_t>(begin);
  const auto piece = memory.addresses().find(address);
  require(piece && piece->begin == address && piece->space == Space::kDevice);
  if (memory.exports() == nullptr) {
    throw Failure(
        cudaErrorNotSupported, "IPC handles need memfd_create on the host");
  }
  return handle_of(
      {kMemoryMagic,
       getpid(),
       memory.file(),
       0,
       memory.exports()->enter(address - memory.base(), piece->size())});
}

void* import_memory(
    AddressMap& addresses,
    int device,
    const cudaIpcMemHandle_t& handle) {
  MemoryHandle parts;
  std::memcpy(&parts, &handle, sizeof(parts));
  require(same(
      handle,
      handle_of({kMemoryMagic, parts.process, parts.file, 0, parts.memory})));
  require(parts.process != getpid(), cudaErrorDeviceUninitialized);
  const std::lock_guard lock(imports_mutex);
  for (auto& [address, import] : imports()) {
    if (same(import.handle, handle)) {
      ++import.users;
      return reinterpret_cast<void*>(address);
    }
  }
  std::uint64_t bytes = 0;
  const OpenFile file(
      open_shared_file(parts.process, parts.file, kMemoryFileName, &bytes));
  if (!ExportTable::has(file.get(), bytes, parts.memory)) {
    throw Failure(
        cudaErrorInvalidValue,
        "an IPC handle names memory that its process does not share, or has "
        "freed");
  }
  const std::uint64_t first = parts.memory.offset / kPage * kPage;
  const std::uint64_t lead = parts.memory.offset - first;
  const std::uint64_t mapped = lead + parts.memory.size;
  void* mapping = mmap(
      nullptr,
      mapped,
      PROT_READ | PROT_WRITE,
      MAP_SHARED,
      file.get(),
      static_cast<off_t>(first));
  require(mapping != MAP_FAILED, cudaErrorMapBufferObjectFailed);
  Allocation allocation;
  allocation.begin = reinterpret_cast<std::uint64_t>(mapping) + lead;
  allocation.end = allocation.begin + parts.memory.size;
  allocation.space = Space::kImported;
  allocation.device = device;
  const std::uint64_t address = allocation.begin;
  addresses.insert(std::move(allocation));
  imports()[address] = {handle, mapping, mapped, 1};
  return reinterpret_cast<void*>(address);
}

void close_memory(AddressMap& addresses, void* memory) {
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const std::lock_guard lock(imports_mutex);
  const auto found = imports().find(address);
  require(found != imports().end());
  if (--found->second.users > 0) {
    return;
  }
  addresses.erase(address);
  munmap(found->second.mapping, found->second.mapped);
  imports().erase(found);
}

} // namespace cudasim::device

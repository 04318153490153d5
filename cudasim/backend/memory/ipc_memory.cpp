#include "cudasim/backend/memory/ipc_memory.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/backend/memory/export_table.h"
#include "cudasim/backend/status/error.h"
#include "device/host/shared_file.h"

namespace cudasim::backend {
namespace {

constexpr std::uint32_t kMemoryMagic = 0x4d534443;

// The bytes of a handle, less the zeros behind.
struct MemoryHandle {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
  std::uint32_t zero;
  Export memory;
};
static_assert(sizeof(MemoryHandle) <= sizeof(accel_ipc_handle));

// Memory of other processes, by address.
struct Import {
  void* mapping;
  std::uint64_t mapped;
};
std::mutex imports_mutex;
std::map<std::uint64_t, Import>& imports() {
  static auto* map = new std::map<std::uint64_t, Import>;
  return *map;
}

accel_ipc_handle handle_of(const MemoryHandle& parts) {
  accel_ipc_handle handle{};
  std::memcpy(&handle, &parts, sizeof(parts));
  return handle;
}

bool same(const accel_ipc_handle& a, const accel_ipc_handle& b) {
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

accel_ipc_handle export_memory(const Memory& memory, const void* begin) {
  const auto address = reinterpret_cast<std::uint64_t>(begin);
  const auto piece = memory.addresses().find(address);
  require(piece && piece->begin == address, "no allocation begins there");
  require(
      memory.exports() != nullptr,
      ACCEL_NOT_SUPPORTED,
      "IPC handles need memfd_create on the host");
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
    const accel_ipc_handle& handle,
    std::uint64_t* bytes) {
  MemoryHandle parts;
  std::memcpy(&parts, &handle, sizeof(parts));
  require(
      same(
          handle,
          handle_of(
              {kMemoryMagic, parts.process, parts.file, 0, parts.memory})),
      "the handle is none that a process gave");
  std::uint64_t in_file = 0;
  const OpenFile file(accelerator::host::open_shared_file(
      parts.process, parts.file, kMemoryFileName, &in_file));
  if (!ExportTable::has(file.get(), in_file, parts.memory)) {
    throw Error(
        ACCEL_INVALID_ARGUMENT,
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
  require(
      mapping != MAP_FAILED,
      ACCEL_OUT_OF_MEMORY,
      "the host cannot map the memory of the other process");
  Allocation allocation;
  allocation.begin = reinterpret_cast<std::uint64_t>(mapping) + lead;
  allocation.end = allocation.begin + parts.memory.size;
  allocation.device = device;
  const std::uint64_t address = allocation.begin;
  addresses.insert(allocation);
  const std::lock_guard lock(imports_mutex);
  imports()[address] = {mapping, mapped};
  *bytes = parts.memory.size;
  return reinterpret_cast<void*>(address);
}

void close_memory(AddressMap& addresses, void* memory) {
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const std::lock_guard lock(imports_mutex);
  const auto found = imports().find(address);
  require(found != imports().end(), "no memory of another process is there");
  addresses.erase(address);
  munmap(found->second.mapping, found->second.mapped);
  imports().erase(found);
}

} // namespace cudasim::backend

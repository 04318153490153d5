#include "cudasim/device/memory/ipc_memory.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "cudasim/device/ipc/peer_file.h"
#include "cudasim/device/status/status.h"

namespace cudasim::device {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint32_t kMemoryMagic = 0x4d534443;

// The 64 bytes of cudaIpcMemHandle_t.
struct MemoryHandle {
  std::uint32_t magic;
  std::int32_t process;
  std::int32_t file;
  std::int32_t device; // on the machine
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t id; // of the allocation: addresses are used again
};
static_assert(sizeof(MemoryHandle) <= sizeof(cudaIpcMemHandle_t));

// Memory of other processes, by address.
struct Import {
  std::tuple<std::int32_t, std::int32_t, std::uint64_t, std::uint64_t> key;
  void* mapping;
  std::uint64_t mapped;
  int users;
};
std::mutex imports_mutex;
std::map<std::uint64_t, Import>& imports() {
  static auto* map = new std::map<std::uint64_t, Import>;
  return *map;
}

} // namespace

cudaIpcMemHandle_t export_memory(
    const Memory& memory,
    int physical,
    const void* begin) {
  const auto address = reinterpret_cast<std::uint64_t>(begin);
  const auto piece = memory.addresses().find(address);
  require(piece && piece->begin == address && piece->space == Space::kDevice);
  if (memory.file() < 0) {
    throw Failure(
        cudaErrorNotSupported, "IPC handles need memfd_create on the host");
  }
  const MemoryHandle parts{
      kMemoryMagic,
      getpid(),
      memory.file(),
      physical,
      address - memory.base(),
      piece->size(),
      piece->id};
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, &parts, sizeof(parts));
  return handle;
}

void* import_memory(
    AddressMap& addresses,
    int device,
    const cudaIpcMemHandle_t& handle) {
  MemoryHandle parts;
  std::memcpy(&parts, &handle, sizeof(parts));
  require(parts.magic == kMemoryMagic);
  require(parts.process != getpid(), cudaErrorDeviceUninitialized);
  const std::lock_guard lock(imports_mutex);
  const std::tuple key{parts.process, parts.file, parts.offset, parts.id};
  for (auto& [address, import] : imports()) {
    if (import.key == key) {
      ++import.users;
      return reinterpret_cast<void*>(address);
    }
  }
  const int file = open_file_of(parts.process, parts.file);
  const std::uint64_t first = parts.offset / kPage * kPage;
  const std::uint64_t lead = parts.offset - first;
  const std::uint64_t mapped = lead + parts.size;
  void* mapping = mmap(
      nullptr,
      mapped,
      PROT_READ | PROT_WRITE,
      MAP_SHARED,
      file,
      static_cast<off_t>(first));
  close(file);
  require(mapping != MAP_FAILED, cudaErrorMapBufferObjectFailed);
  Allocation allocation;
  allocation.begin = reinterpret_cast<std::uint64_t>(mapping) + lead;
  allocation.end = allocation.begin + parts.size;
  allocation.space = Space::kImported;
  allocation.device = device;
  const std::uint64_t address = allocation.begin;
  addresses.insert(std::move(allocation));
  imports()[address] = {key, mapping, mapped, 1};
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

#include "runtime/core/memory/ipc_memory.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "device/host/process.h"
#include "runtime/core/backends/api_status.h"

namespace accelerator::runtime {
namespace {

// The 64 bytes of cudaIpcMemHandle_t.
struct MemoryHandle {
  std::uint32_t sum; // of the others: what is made up or damaged is refused
  std::int32_t physical; // the device, on the machine
  std::uint64_t process;
  accel_ipc_handle memory;
};
static_assert(sizeof(MemoryHandle) == sizeof(cudaIpcMemHandle_t));

// Memory of other processes, by address.
struct Import {
  cudaIpcMemHandle_t handle;
  const accel_api* api;
  int users;
};
std::mutex imports_mutex;
std::map<std::uint64_t, Import>& imports() {
  static auto* map = new std::map<std::uint64_t, Import>;
  return *map;
}

// FNV-1a over all but the sum itself.
std::uint32_t sum_of(const MemoryHandle& parts) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&parts);
  std::uint32_t sum = 0x811c9dc5;
  for (std::size_t i = sizeof(parts.sum); i < sizeof(parts); ++i) {
    sum = (sum ^ bytes[i]) * 0x01000193;
  }
  return sum;
}

cudaIpcMemHandle_t handle_of(const MemoryHandle& parts) {
  cudaIpcMemHandle_t handle{};
  std::memcpy(&handle, &parts, sizeof(parts));
  return handle;
}

bool same(const cudaIpcMemHandle_t& a, const cudaIpcMemHandle_t& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

} // namespace

cudaIpcMemHandle_t export_memory(
    const Memory& memory,
    int physical,
    const void* begin) {
  const auto address = reinterpret_cast<std::uint64_t>(begin);
  const auto piece = memory.addresses().find(address);
  require(piece && piece->begin == address && piece->space == Space::kDevice);
  const accel_api& api = *memory.slot().api;
  require(api.ipc_export != nullptr, cudaErrorNotSupported);
  MemoryHandle parts{};
  parts.physical = physical;
  parts.process = accelerator::host::this_process();
  check(api, api.ipc_export(reinterpret_cast<void*>(address), &parts.memory));
  parts.sum = sum_of(parts);
  return handle_of(parts);
}

void* import_memory(
    AddressMap& addresses,
    int device,
    const cudaIpcMemHandle_t& handle) {
  MemoryHandle parts;
  std::memcpy(&parts, &handle, sizeof(parts));
  require(parts.sum == sum_of(parts));
  require(
      parts.process != accelerator::host::this_process(),
      cudaErrorDeviceUninitialized);
  // It is the library's that made it, whatever device wants it.
  require(
      parts.physical >= 0 &&
      static_cast<std::size_t>(parts.physical) < all_devices().size());
  const Slot& slot = all_devices()[static_cast<std::size_t>(parts.physical)];
  const accel_api& api = *slot.api;
  require(api.ipc_import != nullptr, cudaErrorNotSupported);
  const std::lock_guard lock(imports_mutex);
  for (auto& [address, import] : imports()) {
    if (same(import.handle, handle)) {
      ++import.users;
      return reinterpret_cast<void*>(address);
    }
  }
  void* memory = nullptr;
  std::uint64_t bytes = 0;
  check(api, api.ipc_import(slot.index, &parts.memory, &memory, &bytes));
  Allocation allocation;
  allocation.begin = reinterpret_cast<std::uint64_t>(memory);
  allocation.end = allocation.begin + bytes;
  allocation.space = Space::kImported;
  allocation.device = device;
  allocation.library = &api;
  try {
    addresses.insert(allocation);
  } catch (const Failure&) {
    api.ipc_close(memory);
    throw;
  }
  imports()[allocation.begin] = {handle, &api, 1};
  return memory;
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
  const accel_api& api = *found->second.api;
  imports().erase(found);
  check(api, api.ipc_close(memory));
}

} // namespace accelerator::runtime

// Of the ABI: memory used by other devices and by other processes.
#include <map>
#include <mutex>

#include "device/nvidia/api/api.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/devices/ipc_exports.h"
#include "device/nvidia/devices/peers.h"
#include "device/nvidia/driver/error.h"

namespace accelerator::nvidia {
namespace {

// Memory of other processes: whose device has it, and what the driver gave.
struct Import {
  Device* device;
  CUdeviceptr base;
  int times; // the driver counts, too
};
struct Imports {
  std::mutex mutex;
  std::map<void*, Import> all;
};
Imports& imports() {
  static auto* all = new Imports;
  return *all;
}

// The device whose memory_allocate gave an address.
Device& owner_of(void* address, CUdeviceptr* base) {
  for (int number = 0; number < device_number(); ++number) {
    Device& device = device_of(number);
    *base = device.find(address);
    if (*base != 0) {
      return device;
    }
  }
  concern(-1);
  throw Error(
      ACCEL_INVALID_ARGUMENT,
      "no memory that memory_allocate gave begins there");
}

accel_status peer_possible(
    std::int32_t from,
    std::int32_t to,
    std::int32_t* possible) {
  return call("peer_possible", [&] {
    Device& other = device_of(to);
    *possible = can_use_peer(device_of(from), other) ? 1 : 0;
  });
}

accel_status peer_enable(
    std::int32_t from,
    std::int32_t to,
    std::int32_t enabled) {
  return call("peer_enable", [&] {
    Device& other = device_of(to);
    enable_peer(device_of(from), other, enabled != 0);
  });
}

accel_status memory_share(
    void* address,
    std::int32_t device,
    std::int32_t enabled) {
  return call("memory_share", [&] {
    CUdeviceptr base = 0;
    Device& owner = owner_of(address, &base);
    share_memory(address, owner, device_of(device), enabled != 0);
  });
}

accel_status ipc_export(void* address, accel_ipc_handle* handle) {
  return call("ipc_export", [&] {
    Export memory{};
    CUdeviceptr base = 0;
    Device& owner = owner_of(address, &base);
    const Current current(owner);
    ACCEL_DRIVER(cuIpcGetMemHandle, &memory.native, base);
    memory.offset = reinterpret_cast<CUdeviceptr>(address) - base;
    memory.bytes = owner.size_of(address);
    *handle = add_export(address, memory);
  });
}

accel_status ipc_import(
    std::int32_t device,
    const accel_ipc_handle* handle,
    void** address,
    std::uint64_t* bytes) {
  return call("ipc_import", [&] {
    Device& chosen = device_of(device);
    const Export memory = read_export(*handle);
    const Current current(chosen);
    CUdeviceptr base = 0;
    ACCEL_DRIVER(
        cuIpcOpenMemHandle,
        &base,
        memory.native,
        CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    auto* begin = reinterpret_cast<void*>(base + memory.offset);
    Imports& known = imports();
    const std::lock_guard lock(known.mutex);
    Import& import = known.all[begin];
    import = {&chosen, base, import.times + 1};
    *address = begin;
    *bytes = memory.bytes;
  });
}

accel_status ipc_close(void* address) {
  return call_to_free("ipc_close", [&] {
    Imports& known = imports();
    const std::lock_guard lock(known.mutex);
    const auto found = known.all.find(address);
    require(
        found != known.all.end(),
        ACCEL_INVALID_ARGUMENT,
        "no memory of another process is there");
    const Import import = found->second;
    if (--found->second.times == 0) {
      known.all.erase(found);
    }
    concern(import.device->number());
    const Current current(*import.device);
    ACCEL_DRIVER(cuIpcCloseMemHandle, import.base);
  });
}

} // namespace

void add_sharing(accel_api* api) {
  api->peer_possible = peer_possible;
  api->peer_enable = peer_enable;
  api->memory_share = memory_share;
  api->ipc_export = ipc_export;
  api->ipc_import = ipc_import;
  api->ipc_close = ipc_close;
}

} // namespace accelerator::nvidia

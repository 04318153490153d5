// Of the ABI: memory used by other devices and by other processes.
#include "cudasim/backend/api/api.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/memory/ipc_memory.h"
#include "cudasim/backend/status/error.h"

namespace cudasim::backend {
namespace {

accel_status peer_possible(
    std::int32_t from,
    std::int32_t to,
    std::int32_t* possible) {
  return call("peer_possible", [&] {
    machine().require_device(from);
    machine().require_device(to);
    require(possible != nullptr, "possible is null");
    *possible = from != to ? 1 : 0;
  });
}

accel_status peer_enable(
    std::int32_t from,
    std::int32_t to,
    std::int32_t enabled) {
  return call("peer_enable", [&] {
    machine().require_device(from);
    machine().require_device(to);
    machine().addresses().set_peer(from, to, enabled != 0);
  });
}

accel_status memory_share(
    void* address,
    std::int32_t device,
    std::int32_t enabled) {
  return call("memory_share", [&] {
    machine().require_device(device);
    require(
        machine().addresses().set_reader(
            address_of(address), device, enabled != 0),
        "no memory begins there");
  });
}

accel_status ipc_export(void* address, accel_ipc_handle* handle) {
  return call("ipc_export", [&] {
    require(handle != nullptr, "handle is null");
    const auto piece = machine().addresses().find(address_of(address));
    require(
        piece && piece->device != ACCEL_HOST,
        "the address is not in device memory");
    *handle = export_memory(machine().device(piece->device).memory(), address);
  });
}

accel_status ipc_import(
    std::int32_t device,
    const accel_ipc_handle* handle,
    void** address,
    std::uint64_t* bytes) {
  return call("ipc_import", [&] {
    machine().require_device(device);
    require(
        handle != nullptr && address != nullptr && bytes != nullptr,
        "a pointer is null");
    *address = import_memory(machine().addresses(), device, *handle, bytes);
  });
}

accel_status ipc_close(void* address) {
  return call(
      "ipc_close", [&] { close_memory(machine().addresses(), address); });
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

} // namespace cudasim::backend

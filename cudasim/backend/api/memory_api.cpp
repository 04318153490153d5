// Of the ABI: memory of devices and of the host.
#include "cudasim/backend/api/api.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/memory/host_memory.h"
#include "cudasim/backend/status/error.h"
#include "device/host/environment.h"

namespace cudasim::backend {
namespace {

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

accel_status memory_allocate(
    std::int32_t device,
    std::uint64_t bytes,
    std::uint64_t alignment,
    void** address) {
  return call("memory_allocate", [&] {
    require(address != nullptr, "address is null");
    require_argument(bytes > 0, "bytes", bytes, "1 or more");
    require_argument(
        (alignment & (alignment - 1)) == 0,
        "alignment",
        alignment,
        "a power of two");
    Device& chosen = machine().device(device);
    chosen.require_health();
    *address = pointer(chosen.memory().allocate(bytes, alignment));
  });
}

accel_status memory_free(std::int32_t device, void* address) {
  return call("memory_free", [&] {
    const auto begin = reinterpret_cast<std::uint64_t>(address);
    if (!machine().device(device).memory().release(begin)) {
      throw Error(
          ACCEL_INVALID_ARGUMENT,
          "device " + std::to_string(device) +
              " has no memory that memory_allocate gave and that begins at " +
              std::to_string(begin));
    }
  });
}

accel_status memory_info(
    std::int32_t device,
    std::uint64_t* free_bytes,
    std::uint64_t* total_bytes) {
  return call("memory_info", [&] {
    require(
        free_bytes != nullptr && total_bytes != nullptr,
        "a place for the answer is null");
    const Memory& memory = machine().device(device).memory();
    *total_bytes = memory.capacity();
    *free_bytes = memory.capacity() - memory.used();
  });
}

accel_status host_allocate(std::uint64_t bytes, void** address) {
  return call("host_allocate", [&] {
    require(address != nullptr, "address is null");
    require(bytes > 0, "the size is 0");
    *address = allocate_host(machine().addresses(), bytes);
  });
}

accel_status host_free(void* address) {
  return call(
      "host_free", [&] { release_host(machine().addresses(), address); });
}

accel_status host_register(void* address, std::uint64_t bytes) {
  return call("host_register", [&] {
    register_host(machine().addresses(), address, bytes);
  });
}

accel_status host_unregister(void* address) {
  return call("host_unregister", [&] {
    unregister_host(machine().addresses(), address);
  });
}

accel_status managed_allocate(
    std::int32_t device,
    std::uint64_t bytes,
    void** address) {
  return call("managed_allocate", [&] {
    machine().require_device(device);
    require(address != nullptr, "address is null");
    require(bytes > 0, "the size is 0");
    *address = allocate_host(machine().addresses(), bytes);
  });
}

accel_status managed_free(void* address) {
  return call(
      "managed_free", [&] { release_host(machine().addresses(), address); });
}

accel_status memory_read(std::int32_t device, const accel_read* read) {
  return call("memory_read", [&] {
    machine().require_device(device);
    require(read != nullptr, "read is null");
    require(read->function != nullptr, "the function's name is null");
    require_argument(read->width > 0, "width", read->width, "1 or more");
    require_argument(read->height > 0, "height", read->height, "1 or more");
    require_argument(read->depth > 0, "depth", read->depth, "1 or more");
    if (WrittenCheck* const check = machine().written_check()) {
      check->read(*read);
    }
  });
}

} // namespace

void add_memory(accel_api* api) {
  api->memory_allocate = memory_allocate;
  api->memory_free = memory_free;
  api->memory_info = memory_info;
  api->host_allocate = host_allocate;
  api->host_free = host_free;
  api->host_register = host_register;
  api->host_unregister = host_unregister;
  api->managed_allocate = managed_allocate;
  api->managed_free = managed_free;
  // Without the check there is nothing to look for.
  if (accelerator::host::read_switch("CUDASIM_CHECK", false)) {
    api->memory_read = memory_read;
  }
}

} // namespace cudasim::backend

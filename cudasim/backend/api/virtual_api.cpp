// Of the ABI: addresses and memory apart from each other.
#include <memory>

#include <fcntl.h>

#include "cudasim/backend/api/api.h"
#include "cudasim/backend/machine/machine.h"
#include "cudasim/backend/memory/virtual_memory.h"
#include "cudasim/backend/status/error.h"

struct accel_physical_object {
  std::shared_ptr<cudasim::backend::PhysicalMemory> memory;
};

namespace cudasim::backend {
namespace {

const std::shared_ptr<PhysicalMemory>& memory_of(accel_physical physical) {
  require(physical != nullptr, "physical is null");
  return physical->memory;
}

accel_status virtual_granularity(std::int32_t device, std::uint64_t* bytes) {
  return call("virtual_granularity", [&] {
    machine().require_device(device);
    require(bytes != nullptr, "bytes is null");
    *bytes = kVirtualGranularity;
  });
}

accel_status virtual_reserve(
    std::uint64_t bytes,
    std::uint64_t alignment,
    void* wish,
    void** address) {
  return call("virtual_reserve", [&] {
    require(address != nullptr, "address is null");
    *address = reinterpret_cast<void*>(
        reserve_addresses(bytes, alignment, address_of(wish)));
  });
}

accel_status virtual_release(void* address, std::uint64_t bytes) {
  return call(
      "virtual_release", [&] { free_addresses(address_of(address), bytes); });
}

accel_status physical_create(
    std::int32_t device,
    std::uint64_t bytes,
    accel_physical* physical) {
  return call("physical_create", [&] {
    require(physical != nullptr, "physical is null");
    *physical = new accel_physical_object{std::make_shared<PhysicalMemory>(
        machine().device(device).memory(), bytes)};
  });
}

accel_status physical_destroy(accel_physical physical) {
  return call("physical_destroy", [&] {
    memory_of(physical);
    delete physical;
  });
}

accel_status physical_export(accel_physical physical, std::int32_t* file) {
  return call("physical_export", [&] {
    require(file != nullptr, "file is null");
    const int copy = fcntl(memory_of(physical)->file(), F_DUPFD_CLOEXEC, 0);
    require(copy >= 0, ACCEL_UNKNOWN, "the host has no descriptor to give");
    *file = copy;
  });
}

accel_status physical_import(
    std::int32_t device,
    std::int32_t file,
    accel_physical* physical,
    std::uint64_t* bytes) {
  return call("physical_import", [&] {
    require(physical != nullptr && bytes != nullptr, "a pointer is null");
    auto memory = std::make_shared<PhysicalMemory>(
        machine().device(device).memory(), file);
    *bytes = memory->size();
    *physical = new accel_physical_object{std::move(memory)};
  });
}

accel_status virtual_map(
    void* address,
    std::uint64_t bytes,
    std::uint64_t offset,
    accel_physical physical) {
  return call("virtual_map", [&] {
    map_memory(address_of(address), bytes, offset, memory_of(physical));
  });
}

accel_status virtual_unmap(void* address, std::uint64_t bytes) {
  return call(
      "virtual_unmap", [&] { unmap_memory(address_of(address), bytes); });
}

accel_status virtual_access(
    void* address,
    std::uint64_t bytes,
    std::int32_t device,
    std::int32_t enabled) {
  return call("virtual_access", [&] {
    machine().require_device(device);
    set_access(address_of(address), bytes, device, enabled != 0);
  });
}

} // namespace

void add_virtual_memory(accel_api* api) {
  api->virtual_granularity = virtual_granularity;
  api->virtual_reserve = virtual_reserve;
  api->virtual_release = virtual_release;
  api->physical_create = physical_create;
  api->physical_destroy = physical_destroy;
  api->physical_export = physical_export;
  api->physical_import = physical_import;
  api->virtual_map = virtual_map;
  api->virtual_unmap = virtual_unmap;
  api->virtual_access = virtual_access;
}

} // namespace cudasim::backend

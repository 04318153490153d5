// Of the ABI: addresses and memory apart from each other.
#include "device/nvidia/api/api.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/driver/error.h"

struct accel_physical_object {
  accelerator::nvidia::Device& device;
  CUmemGenericAllocationHandle native;
};

namespace accelerator::nvidia {
namespace {

CUmemAllocationProp properties_on(const Device& device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device.handle();
  return properties;
}

std::uint64_t granularity_of(const Device& device) {
  const CUmemAllocationProp properties = properties_on(device);
  std::size_t bytes = 0;
  ACCEL_DRIVER(
      cuMemGetAllocationGranularity,
      &bytes,
      &properties,
      CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  return bytes;
}

// The driver does not say how large imported memory is. It maps all of it and
// refuses any other size, within some microseconds (driver 580).
std::uint64_t measure(Device& device, CUmemGenericAllocationHandle memory) {
  const std::uint64_t unit = granularity_of(device);
  const std::uint64_t most = (device.total_memory() / unit + 1) * unit;
  CUdeviceptr place = 0;
  ACCEL_DRIVER(cuMemAddressReserve, &place, most, 0, 0, 0);
  std::uint64_t bytes = unit;
  while (bytes <= most &&
         driver().cuMemMap(place, bytes, 0, memory, 0) != CUDA_SUCCESS) {
    bytes += unit;
  }
  if (bytes <= most) {
    driver().cuMemUnmap(place, bytes);
  }
  driver().cuMemAddressFree(place, most);
  require(
      bytes <= most,
      ACCEL_INVALID_ARGUMENT,
      "the file names memory that cannot be mapped");
  return bytes;
}

accel_status virtual_granularity(std::int32_t device, std::uint64_t* bytes) {
  return call("virtual_granularity", [&] {
    *bytes = granularity_of(device_of(device));
  });
}

accel_status virtual_reserve(
    std::uint64_t bytes,
    std::uint64_t alignment,
    void* wish,
    void** address) {
  return call("virtual_reserve", [&] {
    const Current current(any_device());
    CUdeviceptr begin = 0;
    ACCEL_DRIVER(
        cuMemAddressReserve, &begin, bytes, alignment, address_of(wish), 0);
    *address = reinterpret_cast<void*>(begin);
  });
}

accel_status virtual_release(void* address, std::uint64_t bytes) {
  return call_to_free("virtual_release", [&] {
    const Current current(any_device());
    ACCEL_DRIVER(cuMemAddressFree, address_of(address), bytes);
  });
}

accel_status physical_create(
    std::int32_t device,
    std::uint64_t bytes,
    accel_physical* physical) {
  return call("physical_create", [&] {
    Device& chosen = device_of(device);
    const Current current(chosen);
    const CUmemAllocationProp properties = properties_on(chosen);
    CUmemGenericAllocationHandle native = 0;
    ACCEL_DRIVER(cuMemCreate, &native, bytes, &properties, 0);
    *physical = new accel_physical_object{chosen, native};
  });
}

accel_status physical_destroy(accel_physical physical) {
  return call_to_free("physical_destroy", [&] {
    const accel_physical_object going = *physical;
    delete physical;
    concern(going.device.number());
    const Current current(going.device);
    ACCEL_DRIVER(cuMemRelease, going.native);
  });
}

accel_status physical_export(accel_physical physical, std::int32_t* file) {
  return call("physical_export", [&] {
    concern(physical->device.number());
    const Current current(physical->device);
    int descriptor = -1;
    ACCEL_DRIVER(
        cuMemExportToShareableHandle,
        &descriptor,
        physical->native,
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        0);
    *file = descriptor;
  });
}

accel_status physical_import(
    std::int32_t device,
    std::int32_t file,
    accel_physical* physical,
    std::uint64_t* bytes) {
  return call("physical_import", [&] {
    Device& chosen = device_of(device);
    const Current current(chosen);
    CUmemGenericAllocationHandle native = 0;
    ACCEL_DRIVER(
        cuMemImportFromShareableHandle,
        &native,
        reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    try {
      *bytes = measure(chosen, native);
    } catch (...) {
      driver().cuMemRelease(native);
      throw;
    }
    *physical = new accel_physical_object{chosen, native};
  });
}

accel_status virtual_map(
    void* address,
    std::uint64_t bytes,
    std::uint64_t offset,
    accel_physical physical) {
  return call("virtual_map", [&] {
    concern(physical->device.number());
    const Current current(physical->device);
    ACCEL_DRIVER(
        cuMemMap, address_of(address), bytes, offset, physical->native, 0);
  });
}

accel_status virtual_unmap(void* address, std::uint64_t bytes) {
  return call_to_free("virtual_unmap", [&] {
    const Current current(any_device());
    ACCEL_DRIVER(cuMemUnmap, address_of(address), bytes);
  });
}

accel_status virtual_access(
    void* address,
    std::uint64_t bytes,
    std::int32_t device,
    std::int32_t enabled) {
  return call("virtual_access", [&] {
    Device& chosen = device_of(device);
    const Current current(chosen);
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = chosen.handle();
    access.flags = enabled != 0 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    ACCEL_DRIVER(cuMemSetAccess, address_of(address), bytes, &access, 1);
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

} // namespace accelerator::nvidia

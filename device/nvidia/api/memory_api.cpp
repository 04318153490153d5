// Of the ABI: memory of devices, of the host and of both.
#include "device/nvidia/api/api.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/devices/ipc_exports.h"
#include "device/nvidia/devices/peers.h"
#include "device/nvidia/driver/error.h"
#include "device/nvidia/streams/stream.h"

namespace accelerator::nvidia {
namespace {

accel_status memory_allocate(
    std::int32_t device,
    std::uint64_t bytes,
    std::uint64_t alignment,
    void** address) {
  return call("memory_allocate", [&] {
    Device& chosen = device_of(device);
    require_argument(bytes > 0, "bytes", bytes, "1 or more");
    require_argument(
        (alignment & (alignment - 1)) == 0,
        "alignment",
        alignment,
        "a power of two");
    *address = chosen.allocate(bytes, alignment);
  });
}

accel_status memory_free(std::int32_t device, void* address) {
  return call_to_free("memory_free", [&] {
    Device& chosen = device_of(device);
    if (chosen.find(address) != 0) {
      withdraw_export(address);
      forget_sharing(address);
    }
    chosen.release(address);
  });
}

accel_status memory_info(
    std::int32_t device,
    std::uint64_t* free_bytes,
    std::uint64_t* total_bytes) {
  return call("memory_info", [&] {
    Device& asked = device_of(device);
    const Current current(asked);
    std::size_t free = 0;
    std::size_t total = 0;
    ACCEL_DRIVER(cuMemGetInfo, &free, &total);
    *free_bytes = free + asked.late().bytes();
    *total_bytes = total;
  });
}

accel_status host_allocate(std::uint64_t bytes, void** address) {
  return call("host_allocate", [&] {
    require_argument(bytes > 0, "bytes", bytes, "1 or more");
    const Current current(any_device());
    ACCEL_DRIVER(
        cuMemHostAlloc,
        address,
        bytes,
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  });
}

accel_status host_free(void* address) {
  return call_to_free("host_free", [&] {
    Device& device = any_device();
    device.late().run([&device, address] {
      const Current current(device);
      ACCEL_DRIVER(cuMemFreeHost, address);
    });
  });
}

accel_status host_register(void* address, std::uint64_t bytes) {
  return call("host_register", [&] {
    const Current current(any_device());
    ACCEL_DRIVER(
        cuMemHostRegister,
        address,
        bytes,
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  });
}

accel_status host_unregister(void* address) {
  return call_to_free("host_unregister", [&] {
    const Current current(any_device());
    ACCEL_DRIVER(cuMemHostUnregister, address);
  });
}

accel_status managed_allocate(
    std::int32_t device,
    std::uint64_t bytes,
    void** address) {
  return call("managed_allocate", [&] {
    const Current current(device_of(device));
    require_argument(bytes > 0, "bytes", bytes, "1 or more");
    CUdeviceptr memory = 0;
    ACCEL_DRIVER(cuMemAllocManaged, &memory, bytes, CU_MEM_ATTACH_GLOBAL);
    *address = reinterpret_cast<void*>(memory);
  });
}

accel_status managed_free(void* address) {
  return call_to_free("managed_free", [&] {
    Device& device = any_device();
    device.late().run([&device, address] {
      const Current current(device);
      ACCEL_DRIVER(cuMemFree, address_of(address));
    });
  });
}

accel_status memory_allocate_async(
    accel_stream stream,
    std::uint64_t bytes,
    void** address) {
  return call("memory_allocate_async", [&] {
    Stream& where = stream_of(stream);
    require_argument(bytes > 0, "bytes", bytes, "1 or more");
    where.device().require_health();
    const Current current(where.device());
    const std::lock_guard lock(where.mutex());
    CUdeviceptr memory = 0;
    const auto allocate = [&](CUstream native) {
      ACCEL_DRIVER(cuMemAllocAsync, &memory, bytes, native);
    };
    if (where.takes_work()) {
      where.put_now(allocate);
    } else {
      // The address is needed now: another stream allocates, for which this one
      // waits.
      CUstream other = where.device().probe();
      const auto mark = std::make_shared<Mark>(where.device(), false, true);
      allocate(other);
      ACCEL_DRIVER(cuEventRecord, mark->native(), other);
      where.put_later([mark](CUstream native) {
        ACCEL_DRIVER(cuStreamWaitEvent, native, mark->native(), 0);
      });
    }
    *address = reinterpret_cast<void*>(memory);
  });
}

accel_status memory_free_async(accel_stream stream, void* address) {
  return call_to_free("memory_free_async", [&] {
    Stream& where = stream_of(stream);
    where.device().require_health();
    const Current current(where.device());
    const std::lock_guard lock(where.mutex());
    where.put([memory = address_of(address)](CUstream native) {
      ACCEL_DRIVER(cuMemFreeAsync, memory, native);
    });
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
  api->memory_allocate_async = memory_allocate_async;
  api->memory_free_async = memory_free_async;
}

} // namespace accelerator::nvidia

// Of the ABI: the library, devices and their faults.
#include <algorithm>
#include <cstring>

#include "device/nvidia/api/api.h"
#include "device/nvidia/devices/device.h"
#include "device/nvidia/devices/host_work.h"
#include "device/nvidia/driver/driver.h"
#include "device/nvidia/driver/error.h"
#include "device/nvidia/driver/options.h"
#include "device/nvidia/streams/in_flight.h"

namespace accelerator::nvidia {
namespace {

constexpr std::uint64_t kCapabilities = ACCEL_CAP_CALLS_IN_CALLBACKS |
    ACCEL_CAP_TIMING | ACCEL_CAP_PINNED | ACCEL_CAP_MANAGED |
    ACCEL_CAP_STREAM_ORDERED | ACCEL_CAP_PEER | ACCEL_CAP_IPC |
    ACCEL_CAP_VIRTUAL | ACCEL_CAP_SUBMIT | ACCEL_CAP_CODE;

const char* get_last_error() {
  return last_error().c_str();
}

accel_status initialize(const char* text) {
  return call("initialize", [&] {
    const Options options = parse_options(text);
    open_driver(options.library);
    ACCEL_DRIVER(cuInit, 0);
    find_devices(options.count);
    set_most_in_flight(static_cast<unsigned>(options.in_flight));
  });
}

accel_status finalize() {
  return call("finalize", [] { end_host_work(); });
}

accel_status device_count(std::int32_t* count) {
  return call("device_count", [&] { *count = device_number(); });
}

accel_properties describe(const Device& device) {
  accel_properties all{};
  const CUdevice handle = device.handle();
  ACCEL_DRIVER(cuDeviceGetName, all.name, sizeof(all.name), handle);
  CUuuid uuid{};
  ACCEL_DRIVER(cuDeviceGetUuid, &uuid, handle);
  std::memcpy(all.uuid, uuid.bytes, sizeof(all.uuid));
  all.capabilities = kCapabilities;
  all.code_formats = ACCEL_CODE_PTX;
  all.total_memory = device.total_memory();
  const auto ask = [&](CUdevice_attribute which) {
    return device.attribute(which);
  };
  all.major = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  all.minor = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  all.multiprocessors = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  all.threads_per_multiprocessor =
      ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  all.threads_per_block = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  all.warp_size = ask(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  all.registers_per_block = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  all.registers_per_multiprocessor =
      ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  const auto bytes = [&](CUdevice_attribute which) {
    return static_cast<std::uint64_t>(ask(which));
  };
  all.shared_per_block = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  all.shared_per_block_optin =
      bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  all.shared_per_multiprocessor =
      bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  all.clock_khz = ask(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  all.memory_clock_khz = ask(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  all.memory_bus_bits = ask(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  all.l2_bytes = ask(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  all.persisting_l2_bytes =
      ask(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
  all.access_window_bytes =
      ask(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
  all.pci_domain = ask(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
  all.pci_bus = ask(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  all.pci_device = ask(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
  return all;
}

accel_status device_properties(
    std::int32_t device,
    accel_properties* properties) {
  return call("device_properties", [&] {
    accel_properties all = describe(device_of(device));
    all.struct_size = properties->struct_size;
    std::memcpy(
        properties, &all, std::min(properties->struct_size, sizeof(all)));
  });
}

accel_status device_synchronize(std::int32_t device) {
  return call("device_synchronize", [&] { device_of(device).synchronize(); });
}

accel_status device_status(std::int32_t device) {
  return call("device_status", [&] {
    Device& asked = device_of(device);
    asked.fault();
    asked.require_health();
  });
}

accel_status device_reset(std::int32_t device) {
  return call("device_reset", [&] {
    Device& chosen = device_of(device);
    // Its context could be made again, but streams, events and modules could
    // not stay.
    require(
        chosen.fault() == ACCEL_OK,
        ACCEL_DEVICE_LOST,
        "it is at fault, which the driver ends with the process");
    chosen.synchronize();
    chosen.release_all();
  });
}

} // namespace

void add_devices(accel_api* api) {
  api->last_error = get_last_error;
  api->initialize = initialize;
  api->finalize = finalize;
  api->device_count = device_count;
  api->device_properties = device_properties;
  api->device_synchronize = device_synchronize;
  api->device_status = device_status;
  api->device_reset = device_reset;
}

} // namespace accelerator::nvidia

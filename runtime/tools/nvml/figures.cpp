// What a device is: its name, memory, generation and place. Source: NVML API
// reference, device queries.
#include <nvml.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/core/backends/backends.h"
#include "runtime/tools/nvml/query.h"

using namespace accelerator::runtime;
using namespace accelerator::nvml;

namespace {

// Of CUDA 12.8's header.
constexpr nvmlDeviceArchitecture_t kBlackwell = 10;

/// Cores for 32-bit floating point of a multiprocessor (CUDA programming guide,
/// throughput of arithmetic instructions); 0 where it does not say.
int cores_of_one(const Properties& p) {
  switch (p.major) {
    case 7:
      return 64;
    case 8:
      return p.minor == 0 ? 64 : 128;
    case 9:
    case 10:
    case 11:
    case 12:
      return 128;
    default:
      return 0;
  }
}

/// What all versions of nvmlPciInfo_t begin with: the id as older programs read
/// it, and where the device is.
void write_place(const Properties& p, nvmlPciInfo_t* info) {
  info->domain = static_cast<unsigned>(p.pciDomainID);
  info->bus = static_cast<unsigned>(p.pciBusID);
  info->device = static_cast<unsigned>(p.pciDeviceID);
  std::snprintf(
      info->busIdLegacy,
      sizeof(info->busIdLegacy),
      "%04X:%02X:%02X.0",
      info->domain,
      info->bus,
      info->device);
}

} // namespace

Properties accelerator::nvml::properties_of(unsigned number) {
  const Slot& slot = all_devices()[number];
  accel_properties figures{};
  figures.struct_size = sizeof figures;
  require(slot.api->device_properties(slot.index, &figures) == ACCEL_OK);
  return make_properties(figures, static_cast<int>(number));
}

std::string accelerator::nvml::uuid_of(const Properties& properties) {
  return uuid_text(
      reinterpret_cast<const unsigned char(&)[16]>(properties.uuid.bytes));
}

nvmlReturn_t accelerator::nvml::write(
    const std::string& text,
    char* place,
    unsigned length) {
  if (text.size() >= length) {
    return NVML_ERROR_INSUFFICIENT_SIZE;
  }
  std::memcpy(place, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

#undef nvmlDeviceGetPciInfo

extern "C" {

nvmlReturn_t nvmlDeviceGetName(
    nvmlDevice_t device,
    char* name,
    unsigned length) {
  return ask(device, name, [&](unsigned number) {
    return write(properties_of(number).name, name, length);
  });
}

nvmlReturn_t nvmlDeviceGetUUID(
    nvmlDevice_t device,
    char* uuid,
    unsigned length) {
  return ask(device, uuid, [&](unsigned number) {
    return write(uuid_of(properties_of(number)), uuid, length);
  });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(
    nvmlDevice_t device,
    int* major,
    int* minor) {
  return ask(device, minor != nullptr ? major : nullptr, [&](unsigned number) {
    const Properties p = properties_of(number);
    *major = p.major;
    *minor = p.minor;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(
    nvmlDevice_t device,
    nvmlMemory_t* memory) {
  return ask(device, memory, [&](unsigned number) {
    const Slot& slot = all_devices()[number];
    std::uint64_t available = 0;
    std::uint64_t total = 0;
    if (slot.api->memory_info(slot.index, &available, &total) != ACCEL_OK) {
      return NVML_ERROR_UNKNOWN;
    }
    // A device knows what this process has of it, or what all have.
    std::uint64_t used = 0;
    for (const Usage& usage : usages_of(number)) {
      used += usage.bytes;
    }
    memory->total = total;
    memory->used = std::min(std::max(used, total - available), total);
    memory->free = total - memory->used;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(
    nvmlDevice_t device,
    nvmlMemory_v2_t* memory) {
  if (in_use() && memory != nullptr && memory->version != nvmlMemory_v2) {
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  }
  nvmlMemory_t plain{};
  const nvmlReturn_t result =
      nvmlDeviceGetMemoryInfo(device, memory != nullptr ? &plain : nullptr);
  if (result == NVML_SUCCESS) {
    memory->total = plain.total;
    memory->free = plain.free;
    memory->used = plain.used;
    memory->reserved = 0;
  }
  return result;
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned* bits) {
  return ask(device, bits, [&](unsigned number) {
    return tell(properties_of(number).memoryBusWidth, bits);
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return ask(device, info, [&](unsigned number) {
    *info = {};
    write_place(properties_of(number), info);
    std::snprintf(
        info->busId,
        sizeof(info->busId),
        "%08X:%02X:%02X.0",
        info->domain,
        info->bus,
        info->device);
    return NVML_SUCCESS;
  });
}

// Before version 3 there were four reserved numbers in place of the longer id.
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return ask(device, info, [&](unsigned number) {
    std::memset(
        static_cast<void*>(info),
        0,
        offsetof(nvmlPciInfo_t, busId) + 4 * sizeof(unsigned));
    write_place(properties_of(number), info);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return nvmlDeviceGetPciInfo_v2(device, info);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(
    nvmlDevice_t device,
    nvmlPciInfoExt_t* info) {
  if (in_use() && info != nullptr && info->version != nvmlPciInfoExt_v1) {
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  }
  nvmlPciInfo_t plain{};
  const nvmlReturn_t result =
      nvmlDeviceGetPciInfo_v3(device, info != nullptr ? &plain : nullptr);
  if (result == NVML_SUCCESS) {
    *info = {};
    info->version = nvmlPciInfoExt_v1;
    info->domain = plain.domain;
    info->bus = plain.bus;
    info->device = plain.device;
    std::memcpy(info->busId, plain.busId, sizeof(info->busId));
  }
  return result;
}

nvmlReturn_t nvmlDeviceGetArchitecture(
    nvmlDevice_t device,
    nvmlDeviceArchitecture_t* architecture) {
  return ask(device, architecture, [&](unsigned number) {
    const Properties p = properties_of(number);
    switch (p.major) {
      case 7:
        *architecture =
            p.minor >= 5 ? NVML_DEVICE_ARCH_TURING : NVML_DEVICE_ARCH_VOLTA;
        break;
      case 8:
        *architecture =
            p.minor == 9 ? NVML_DEVICE_ARCH_ADA : NVML_DEVICE_ARCH_AMPERE;
        break;
      case 9:
        *architecture = NVML_DEVICE_ARCH_HOPPER;
        break;
      case 10:
      case 11:
      case 12:
        *architecture = kBlackwell;
        break;
      default:
        *architecture = NVML_DEVICE_ARCH_UNKNOWN;
    }
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned* cores) {
  return ask(device, cores, [&](unsigned number) {
    const Properties p = properties_of(number);
    return tell(p.multiProcessorCount * cores_of_one(p), cores);
  });
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* brand) {
  return ask(device, brand, [&](unsigned) {
    *brand = NVML_BRAND_UNKNOWN;
    return NVML_SUCCESS;
  });
}

/// No two devices share a board.
nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned* board) {
  return ask(device, board, [&](unsigned number) {
    const Properties p = properties_of(number);
    *board = static_cast<unsigned>(
        p.pciDomainID << 16 | p.pciBusID << 8 | p.pciDeviceID);
    return NVML_SUCCESS;
  });
}

} // extern "C"

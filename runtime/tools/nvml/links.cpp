// How a device is connected: to the host, to other devices, to processors.
// Source: NVML API reference, device queries.
#include <nvml.h>

#include <climits>
#include <cstdint>
#include <cstring>

#include <sched.h>

#include "runtime/core/backends/backends.h"
#include "runtime/tools/nvml/query.h"

using namespace accelerator::runtime;
using namespace accelerator::nvml;

namespace {

constexpr unsigned kWordBits = sizeof(unsigned long) * CHAR_BIT;

nvmlReturn_t tell_generation(nvmlDevice_t device, unsigned* generation) {
  return ask(device, generation, [&](unsigned number) {
    return tell(properties_of(number).pcieGeneration, generation);
  });
}

nvmlReturn_t tell_lanes(nvmlDevice_t device, unsigned* lanes) {
  return ask(device, lanes, [&](unsigned number) {
    return tell(properties_of(number).pcieLanes, lanes);
  });
}

/// Calls `body` with the numbers of two devices.
template <typename Body>
nvmlReturn_t ask_both(
    nvmlDevice_t one,
    nvmlDevice_t other,
    const void* place,
    Body&& body) {
  return ask(one, place, [&](unsigned first) {
    return ask(
        other, place, [&](unsigned second) { return body(first, second); });
  });
}

/// Whether kernels of a device can use the memory of another.
bool can_use(unsigned from, unsigned to) {
  const Slot& user = all_devices()[from];
  const Slot& owner = all_devices()[to];
  std::int32_t possible = 0;
  return user.api == owner.api && user.api->peer_possible != nullptr &&
      user.api->peer_possible(user.index, owner.index, &possible) == ACCEL_OK &&
      possible != 0;
}

} // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(
    nvmlDevice_t device,
    unsigned* generation) {
  return tell_generation(device, generation);
}

nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(
    nvmlDevice_t device,
    unsigned* generation) {
  return tell_generation(device, generation);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(
    nvmlDevice_t device,
    unsigned* generation) {
  return tell_generation(device, generation);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(
    nvmlDevice_t device,
    unsigned* lanes) {
  return tell_lanes(device, lanes);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(
    nvmlDevice_t device,
    unsigned* lanes) {
  return tell_lanes(device, lanes);
}

/// Values of NVML_PCIE_LINK_MAX_SPEED_ are generations.
nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(
    nvmlDevice_t device,
    unsigned* speed) {
  return tell_generation(device, speed);
}

/// Of a lane, in Mbit/s: 2500 and 5000, then twice as much each generation.
nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned* speed) {
  return ask(device, speed, [&](unsigned number) {
    const int generation = properties_of(number).pcieGeneration;
    if (generation <= 0) {
      return NVML_ERROR_NOT_SUPPORTED;
    }
    *speed = generation < 3 ? 2500u * static_cast<unsigned>(generation)
                            : 1000u << generation;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t* type) {
  return ask(device, type, [&](unsigned number) {
    *type = properties_of(number).pcieGeneration > 0 ? NVML_BUS_TYPE_PCIE
                                                     : NVML_BUS_TYPE_UNKNOWN;
    return NVML_SUCCESS;
  });
}

/// Devices meet in the memory of the host.
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(
    nvmlDevice_t one,
    nvmlDevice_t other,
    nvmlGpuTopologyLevel_t* level) {
  return ask_both(one, other, level, [&](unsigned first, unsigned second) {
    *level = first == second ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_SYSTEM;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetP2PStatus(
    nvmlDevice_t one,
    nvmlDevice_t other,
    nvmlGpuP2PCapsIndex_t which,
    nvmlGpuP2PStatus_t* status) {
  return ask_both(one, other, status, [&](unsigned first, unsigned second) {
    if (first == second || which >= NVML_P2P_CAPS_INDEX_UNKNOWN) {
      return NVML_ERROR_INVALID_ARGUMENT;
    }
    const bool has = (which == NVML_P2P_CAPS_INDEX_READ ||
                      which == NVML_P2P_CAPS_INDEX_WRITE) &&
        can_use(first, second);
    *status = has ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceOnSameBoard(
    nvmlDevice_t one,
    nvmlDevice_t other,
    int* same) {
  return ask_both(one, other, same, [&](unsigned first, unsigned second) {
    *same = first == second ? 1 : 0;
    return NVML_SUCCESS;
  });
}

/// Of all processors that this process may run on, none is nearer to a device.
nvmlReturn_t nvmlDeviceGetCpuAffinity(
    nvmlDevice_t device,
    unsigned words,
    unsigned long* set) {
  return ask(device, words > 0 ? set : nullptr, [&](unsigned) {
    cpu_set_t may{};
    if (sched_getaffinity(0, sizeof may, &may) != 0) {
      return NVML_ERROR_UNKNOWN;
    }
    std::memset(set, 0, words * sizeof *set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && cpu < words * kWordBits;
         ++cpu) {
      if (CPU_ISSET(cpu, &may)) {
        set[cpu / kWordBits] |= 1ul << cpu % kWordBits;
      }
    }
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(
    nvmlDevice_t device,
    unsigned words,
    unsigned long* set,
    nvmlAffinityScope_t) {
  return nvmlDeviceGetCpuAffinity(device, words, set);
}

} // extern "C"

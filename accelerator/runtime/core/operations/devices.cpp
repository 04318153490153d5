#include "accelerator/runtime/core/operations/devices.h"

#include <cstdio>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/machine/machine.h"
#include "accelerator/runtime/core/machine/properties.h"
#include "accelerator/runtime/core/status/guarded.h"
#include "accelerator/runtime/core/tracing/tracing.h"

namespace accelerator::runtime::operations {

void device_get_attribute(int* value, cudaDeviceAttr attribute, int device) {
  require(value != nullptr);
  const auto& properties = machine().device(device).properties();
  require(attribute_value(properties, attribute, value));
}

void device_get_pci_bus_id(char* id, int length, int device) {
  const auto& p = machine().device(device).properties();
  require(id != nullptr && length > 0);
  std::snprintf(
      id,
      static_cast<std::size_t>(length),
      "%04x:%02x:%02x.0",
      static_cast<unsigned>(p.pciDomainID),
      static_cast<unsigned>(p.pciBusID),
      static_cast<unsigned>(p.pciDeviceID));
}

void device_can_access_peer(int* can, int device, int peer) {
  machine().device(device);
  machine().device(peer);
  store(can, machine().addresses().can_be_peers(device, peer) ? 1 : 0);
}

void device_enable_peer_access(int peer, unsigned flags) {
  require(flags == 0);
  Device& device = current_device();
  machine().device(peer);
  require(peer != device.ordinal(), cudaErrorInvalidDevice);
  AddressMap& addresses = machine().addresses();
  require(
      addresses.can_be_peers(device.ordinal(), peer),
      cudaErrorPeerAccessUnsupported);
  require(
      !addresses.peer(device.ordinal(), peer),
      cudaErrorPeerAccessAlreadyEnabled);
  addresses.set_peer(device.ordinal(), peer, true);
}

void device_disable_peer_access(int peer) {
  Device& device = current_device();
  machine().device(peer);
  AddressMap& addresses = machine().addresses();
  require(
      peer != device.ordinal() && addresses.peer(device.ordinal(), peer),
      cudaErrorPeerAccessNotEnabled);
  addresses.set_peer(device.ordinal(), peer, false);
}

void device_synchronize() {
  Device& device = current_device();
  require_device_not_capturing(device);
  {
    const tracing::Wait traced(
        tracing::WaitRecord::Kind::kDevice, device.ordinal(), 0);
    device.synchronize();
  }
  device.require_health();
}

void device_set_limit(cudaLimit limit, size_t value) {
  current_device().set_limit(limit, value);
}

void device_get_limit(size_t* value, cudaLimit limit) {
  store(value, current_device().limit(limit));
}

void device_get_cache_config(cudaFuncCache* configuration) {
  current_device();
  store(configuration, cudaFuncCachePreferNone);
}

void device_set_cache_config(cudaFuncCache) {
  current_device();
}

void device_get_stream_priority_range(int* least, int* greatest) {
  selected_device();
  if (least != nullptr) {
    *least = kLeastPriority;
  }
  if (greatest != nullptr) {
    *greatest = kGreatestPriority;
  }
}

} // namespace accelerator::runtime::operations

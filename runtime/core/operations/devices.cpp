#include "runtime/core/operations/devices.h"

#include <cstdio>

#include "runtime/core/graphs/capture.h"
#include "runtime/core/machine/machine.h"
#include "runtime/core/machine/properties.h"
#include "runtime/core/modules/launching.h"
#include "runtime/core/operations/copies.h"
#include "runtime/core/status/guarded.h"
#include "runtime/core/tracing/tracing.h"

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

void device_get_by_pci_bus_id(int* device, const char* id) {
  require(device != nullptr && id != nullptr);
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  if (std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    domain = 0;
    require(std::sscanf(id, "%x:%x", &bus, &slot) == 2);
  }
  for (int ordinal = 0; ordinal < machine().device_count(); ++ordinal) {
    const auto& p = machine().device(ordinal).properties();
    if (static_cast<unsigned>(p.pciDomainID) == domain &&
        static_cast<unsigned>(p.pciBusID) == bus &&
        static_cast<unsigned>(p.pciDeviceID) == slot) {
      *device = ordinal;
      return;
    }
  }
  throw Failure(cudaErrorInvalidDevice);
}

void device_can_access_peer(int* can, int device, int peer) {
  machine().device(device);
  machine().device(peer);
  store(can, machine().addresses().can_be_peers(device, peer) ? 1 : 0);
}

void device_get_p2p_attribute(
    int* value,
    cudaDeviceP2PAttr attribute,
    int source,
    int destination) {
  machine().device(source);
  machine().device(destination);
  require(value != nullptr);
  require(source != destination, cudaErrorInvalidDevice);
  switch (static_cast<int>(attribute)) {
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
      *value = machine().addresses().can_be_peers(source, destination) ? 1 : 0;
      return;
    case cudaDevP2PAttrPerformanceRank:
    case cudaDevP2PAttrCudaArrayAccessSupported:
    case 5: // of CUDA 13: native atomics are there in part only
      *value = 0;
      return;
    default:
      throw Failure(cudaErrorInvalidValue);
  }
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
  device_synchronize_one(current_device());
}

void device_synchronize_one(Device& device) {
  require_device_not_capturing(device);
  {
    const tracing::Wait traced(
        tracing::WaitRecord::Kind::kDevice, device.ordinal(), 0);
    device.synchronize();
  }
  device.require_health();
}

void device_set_limit(cudaLimit limit, size_t value) {
  Device& device = current_device();
  device.set_limit(limit, value);
  // Kernels that launch kernels have it, too.
  const std::uint64_t word = value;
  for (void* const address : limit_addresses(device.ordinal(), limit)) {
    mem_copy(address, &word, sizeof(word), cudaMemcpyHostToDevice);
  }
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

void device_get_shared_mem_config(cudaSharedMemConfig* configuration) {
  current_device();
  store(configuration, cudaSharedMemBankSizeFourByte);
}

void device_set_shared_mem_config(cudaSharedMemConfig) {
  current_device();
}

void device_flush_gpu_direct_rdma_writes(
    cudaFlushGPUDirectRDMAWritesTarget,
    cudaFlushGPUDirectRDMAWritesScope) {
  current_device();
}

void device_get_stream_priority_range(int* least, int* greatest) {
  current_device();
  if (least != nullptr) {
    *least = kLeastPriority;
  }
  if (greatest != nullptr) {
    *greatest = kGreatestPriority;
  }
}

} // namespace accelerator::runtime::operations

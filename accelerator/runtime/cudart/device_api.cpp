// Devices: how many, which one, their figures, limits and peers.
// Source: CUDA runtime API, device management and peer device memory access.
#include <cstdio>
#include <cstring>

#include "accelerator/runtime/core/graphs/capture.h"
#include "accelerator/runtime/core/machine/properties.h"
#include "accelerator/runtime/cudart/call.h"

using namespace accelerator::runtime;
using accelerator::cudart::call;
using accelerator::cudart::store;

namespace {

constexpr int kVersion = 12040; // of runtime and driver
// Like a device of compute capability 8.0: 0 is the lowest priority.
constexpr int kGreatestPriority = -5;

void set_flags(Device& device, unsigned flags) {
  require((flags & ~static_cast<unsigned>(cudaDeviceMask)) == 0);
  device.flags = flags;
}

} // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call([&] { store(version, kVersion); });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call([&] { store(version, kVersion); });
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&] {
    store(count, 0);
    *count = machine().device_count();
    require(*count > 0, cudaErrorNoDevice);
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&] {
    Device& chosen = machine().device(device);
    thread_state().device = device;
    thread_state().bound = true;
    chosen.activate();
  });
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  return call([&] {
    Device& chosen = machine().device(device);
    require((flags & ~cudaInitDeviceFlagsAreValid) == 0);
    if ((flags & cudaInitDeviceFlagsAreValid) != 0) {
      set_flags(chosen, device_flags);
    }
    chosen.activate();
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call([&] {
    selected_device(); // there has to be one
    store(device, thread_state().device);
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call([&] {
    require(devices != nullptr || count == 0);
    for (int i = 0; i < count; ++i) {
      machine().device(devices[i]);
    }
    if (count > 0) {
      thread_state().device = devices[0];
    }
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return call([&] {
    require(wanted != nullptr);
    selected_device();
    store(device, 0); // all devices of the machine are alike
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call(
      [&] { store(properties, machine().device(device).properties()); });
}

cudaError_t cudaDeviceGetAttribute(
    int* value,
    cudaDeviceAttr attribute,
    int device) {
  return call([&] {
    require(value != nullptr);
    const auto& properties = machine().device(device).properties();
    require(attribute_value(properties, attribute, value));
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([] {
    Device& device = current_device();
    require_device_not_capturing(device);
    {
      const tracing::Wait traced(
          tracing::WaitRecord::Kind::kDevice, device.ordinal(), 0);
      device.synchronize();
    }
    device.require_health();
  });
}

cudaError_t cudaDeviceReset() {
  return call([] {
    require_no_unsafe_capture();
    Device& device = selected_device();
    abandon_captures(device);
    device.reset();
    thread_state().bound = false;
    thread_state().last_error = cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call([&] { set_flags(selected_device(), flags); });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call(
      [&] { store(flags, selected_device().flags | cudaDeviceMapHost); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&] { current_device().set_limit(limit, value); });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&] { store(value, current_device().limit(limit)); });
}

// Devices say nothing of their caches: a preference is valid and changes
// nothing.
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* configuration) {
  return call([&] {
    current_device();
    store(configuration, cudaFuncCachePreferNone);
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return call([] { current_device(); });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* configuration) {
  return call([&] {
    current_device();
    store(configuration, cudaSharedMemBankSizeFourByte);
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return call([] { current_device(); });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([] { current_device(); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    selected_device();
    if (least != nullptr) {
      *least = 0;
    }
    if (greatest != nullptr) {
      *greatest = kGreatestPriority;
    }
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return call([&] {
    const auto& p = machine().device(device).properties();
    require(id != nullptr && length > 0);
    std::snprintf(
        id,
        static_cast<std::size_t>(length),
        "%04x:%02x:%02x.0",
        static_cast<unsigned>(p.pciDomainID),
        static_cast<unsigned>(p.pciBusID),
        static_cast<unsigned>(p.pciDeviceID));
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call([&] {
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
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&] {
    machine().device(device);
    machine().device(peer);
    store(can, machine().addresses().can_be_peers(device, peer) ? 1 : 0);
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&] {
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
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&] {
    Device& device = current_device();
    machine().device(peer);
    AddressMap& addresses = machine().addresses();
    require(
        peer != device.ordinal() && addresses.peer(device.ordinal(), peer),
        cudaErrorPeerAccessNotEnabled);
    addresses.set_peer(device.ordinal(), peer, false);
  });
}

cudaError_t cudaDeviceGetP2PAttribute(
    int* value,
    cudaDeviceP2PAttr attribute,
    int source,
    int destination) {
  return call([&] {
    machine().device(source);
    machine().device(destination);
    require(value != nullptr);
    require(source != destination, cudaErrorInvalidDevice);
    switch (attribute) {
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
        *value = 1;
        return;
      case cudaDevP2PAttrPerformanceRank:
      case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 0;
        return;
    }
    throw Failure(cudaErrorInvalidValue);
  });
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(
    cudaFlushGPUDirectRDMAWritesTarget,
    cudaFlushGPUDirectRDMAWritesScope) {
  return call([] { current_device(); });
}

cudaError_t cudaProfilerStart() {
  return call([] { current_device(); });
}

cudaError_t cudaProfilerStop() {
  return call([] { current_device(); });
}

// Names from before CUDA 4, which the header still declares.
cudaError_t cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}

cudaError_t cudaThreadExit() {
  return cudaDeviceReset();
}

cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}

cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}

cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* configuration) {
  return cudaDeviceGetCacheConfig(configuration);
}

cudaError_t cudaThreadSetCacheConfig(cudaFuncCache configuration) {
  return cudaDeviceSetCacheConfig(configuration);
}

} // extern "C"

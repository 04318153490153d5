// Devices: how many, which one, their figures, limits and peers.
// Source: CUDA runtime API, device management and peer device memory access.
#include <cstdio>

#include "runtime/api/cudart/call.h"
#include "runtime/api/cudart/device_properties.h"
#include "runtime/core/graphs/capture.h"
#include "runtime/core/machine/driver_version.h"
#include "runtime/core/operations/devices.h"

using namespace accelerator::runtime;
using namespace accelerator::runtime::operations;
using accelerator::cudart::call;
using accelerator::cudart::perform;

namespace {

void set_flags(Device& device, unsigned flags) {
  require((flags & ~static_cast<unsigned>(cudaDeviceMask)) == 0);
  device.flags = flags;
}

} // namespace

API_FUNCTION(3, cudaDeviceGetAttribute, device_get_attribute)
API_FUNCTION(3, cudaDeviceGetPCIBusId, device_get_pci_bus_id)
API_FUNCTION(2, cudaDeviceGetByPCIBusId, device_get_by_pci_bus_id)
API_FUNCTION(3, cudaDeviceCanAccessPeer, device_can_access_peer)
API_FUNCTION(4, cudaDeviceGetP2PAttribute, device_get_p2p_attribute)
API_FUNCTION(2, cudaDeviceEnablePeerAccess, device_enable_peer_access)
API_FUNCTION(1, cudaDeviceDisablePeerAccess, device_disable_peer_access)
API_FUNCTION(2, cudaDeviceSetLimit, device_set_limit)
API_FUNCTION(2, cudaDeviceGetLimit, device_get_limit)
API_FUNCTION(1, cudaDeviceGetCacheConfig, device_get_cache_config)
API_FUNCTION(1, cudaDeviceSetCacheConfig, device_set_cache_config)
API_FUNCTION(1, cudaDeviceGetSharedMemConfig, device_get_shared_mem_config)
API_FUNCTION(1, cudaDeviceSetSharedMemConfig, device_set_shared_mem_config)
API_FUNCTION(
    2,
    cudaDeviceFlushGPUDirectRDMAWrites,
    device_flush_gpu_direct_rdma_writes)
API_FUNCTION(
    2,
    cudaDeviceGetStreamPriorityRange,
    device_get_stream_priority_range)

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call([&] { store(version, CUDART_VERSION); });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call([&] { store(version, kDriverVersion); });
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
    thread_state().context = nullptr;
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
      thread_state().context = nullptr;
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
  return call([&] {
    store(
        properties,
        accelerator::cudart::device_properties(
            machine().device(device).properties()));
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call(device_synchronize);
}

cudaError_t cudaDeviceReset() {
  return call([] {
    require_no_unsafe_capture();
    Device& device = selected_device();
    abandon_captures(device);
    device.reset();
    thread_state().bound = false;
    thread_state().context = nullptr;
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

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([] { current_device(); });
}

cudaError_t cudaProfilerStart() {
  return call([] { current_device(); });
}

cudaError_t cudaProfilerStop() {
  return call([] { current_device(); });
}

#if CUDART_VERSION < 13000
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
#endif

} // extern "C"

// Devices: figures, limits and peers. Each function is what the ones of that
// name in CUDA's runtime and driver do; it throws a Failure with the status
// that they answer.
#pragma once

#include <driver_types.h>

#include <cstddef>

namespace accelerator::runtime {

class Device;

} // namespace accelerator::runtime

namespace accelerator::runtime::operations {

/// Of compute capability 8.0: the lower number is the greater priority.
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

void device_get_attribute(int* value, cudaDeviceAttr attribute, int device);
void device_get_pci_bus_id(char* id, int length, int device);
void device_get_by_pci_bus_id(int* device, const char* id);
void device_can_access_peer(int* can, int device, int peer);
void device_get_p2p_attribute(
    int* value,
    cudaDeviceP2PAttr attribute,
    int source,
    int destination);
void device_enable_peer_access(int peer, unsigned flags);
void device_disable_peer_access(int peer);
void device_synchronize();
void device_synchronize_one(Device& device);
void device_set_limit(cudaLimit limit, size_t value);
void device_get_limit(size_t* value, cudaLimit limit);
// There is no choice of caches: a preference is valid and changes nothing.
void device_get_cache_config(cudaFuncCache* configuration);
void device_set_cache_config(cudaFuncCache configuration);
void device_get_shared_mem_config(cudaSharedMemConfig* configuration);
void device_set_shared_mem_config(cudaSharedMemConfig configuration);
void device_flush_gpu_direct_rdma_writes(
    cudaFlushGPUDirectRDMAWritesTarget target,
    cudaFlushGPUDirectRDMAWritesScope scope);
void device_get_stream_priority_range(int* least, int* greatest);

} // namespace accelerator::runtime::operations

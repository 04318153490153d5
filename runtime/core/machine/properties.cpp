#include "runtime/core/machine/properties.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "runtime/core/arrays/texture_limits.h"

namespace accelerator::runtime {
namespace {

// Of the places of devices that are on no bus; the machine's begin with 0.
constexpr int kOwnDomain = 0xacc;

// Of CUDA 13.5, the latest that is served.
constexpr int kLastAttribute = 159;

// What a device has when it does not say.
int figure(std::int32_t value, int otherwise) {
  return value > 0 ? value : otherwise;
}

std::size_t bytes(std::uint64_t value, std::size_t otherwise) {
  return value > 0 ? value : otherwise;
}

struct Limit {
  int attribute;
  std::size_t value;
};

constexpr Limit kTextureAttributes[] = {
    {cudaDevAttrMaxTexture1DWidth, kTextureLimits.line.width},
    {cudaDevAttrMaxTexture2DWidth, kTextureLimits.plane.width},
    {cudaDevAttrMaxTexture2DHeight, kTextureLimits.plane.height},
    {cudaDevAttrMaxTexture3DWidth, kTextureLimits.box.width},
    {cudaDevAttrMaxTexture3DHeight, kTextureLimits.box.height},
    {cudaDevAttrMaxTexture3DDepth, kTextureLimits.box.depth},
    {cudaDevAttrMaxTexture1DLayeredWidth, kTextureLimits.layered_line.width},
    {cudaDevAttrMaxTexture1DLayeredLayers, kTextureLimits.layered_line.depth},
    {cudaDevAttrMaxTexture2DLayeredWidth, kTextureLimits.layered_plane.width},
    {cudaDevAttrMaxTexture2DLayeredHeight, kTextureLimits.layered_plane.height},
    {cudaDevAttrMaxTexture2DLayeredLayers, kTextureLimits.layered_plane.depth},
    {cudaDevAttrMaxTextureCubemapWidth, kTextureLimits.cubemap.width},
    {cudaDevAttrMaxTextureCubemapLayeredWidth,
     kTextureLimits.layered_cubemap.width},
    {cudaDevAttrMaxTextureCubemapLayeredLayers,
     kTextureLimits.layered_cubemap.depth},
    {cudaDevAttrMaxTexture2DGatherWidth, kGatherPlane.width},
    {cudaDevAttrMaxTexture2DGatherHeight, kGatherPlane.height},
    {cudaDevAttrMaxTexture3DWidthAlt, kAlternateBox.width},
    {cudaDevAttrMaxTexture3DHeightAlt, kAlternateBox.height},
    {cudaDevAttrMaxTexture3DDepthAlt, kAlternateBox.depth},
    {cudaDevAttrMaxTexture1DLinearWidth, kLinearTexture},
    {cudaDevAttrMaxTexture2DLinearWidth, kPitchedTexture.width},
    {cudaDevAttrMaxTexture2DLinearHeight, kPitchedTexture.height},
    {cudaDevAttrMaxTexture2DLinearPitch, kPitchedTexturePitch},
    {cudaDevAttrMaxTexture2DMipmappedWidth, kMipmappedPlane.width},
    {cudaDevAttrMaxTexture2DMipmappedHeight, kMipmappedPlane.height},
    {cudaDevAttrMaxTexture1DMipmappedWidth, kMipmappedLine.width},
    {cudaDevAttrMaxSurface1DWidth, kSurfaceLimits.line.width},
    {cudaDevAttrMaxSurface2DWidth, kSurfaceLimits.plane.width},
    {cudaDevAttrMaxSurface2DHeight, kSurfaceLimits.plane.height},
    {cudaDevAttrMaxSurface3DWidth, kSurfaceLimits.box.width},
    {cudaDevAttrMaxSurface3DHeight, kSurfaceLimits.box.height},
    {cudaDevAttrMaxSurface3DDepth, kSurfaceLimits.box.depth},
    {cudaDevAttrMaxSurface1DLayeredWidth, kSurfaceLimits.layered_line.width},
    {cudaDevAttrMaxSurface1DLayeredLayers, kSurfaceLimits.layered_line.depth},
    {cudaDevAttrMaxSurface2DLayeredWidth, kSurfaceLimits.layered_plane.width},
    {cudaDevAttrMaxSurface2DLayeredHeight, kSurfaceLimits.layered_plane.height},
    {cudaDevAttrMaxSurface2DLayeredLayers, kSurfaceLimits.layered_plane.depth},
    {cudaDevAttrMaxSurfaceCubemapWidth, kSurfaceLimits.cubemap.width},
    {cudaDevAttrMaxSurfaceCubemapLayeredWidth,
     kSurfaceLimits.layered_cubemap.width},
    {cudaDevAttrMaxSurfaceCubemapLayeredLayers,
     kSurfaceLimits.layered_cubemap.depth}};

} // namespace

std::string uuid_text(const unsigned char (&uuid)[16]) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", uuid[i]);
    text += digits;
  }
  return text;
}

Properties make_properties(const accel_properties& figures, int number) {
  const auto has = [&](accel_capability capability) {
    return (figures.capabilities & capability) != 0 ? 1 : 0;
  };
  Properties p{}; // what is not set is not there
  static_assert(sizeof(p.name) == sizeof(figures.name));
  std::memcpy(p.name, figures.name, sizeof(p.name));
  p.name[sizeof(p.name) - 1] = '\0';
  std::memcpy(p.uuid.bytes, figures.uuid, sizeof(p.uuid.bytes));
  p.totalGlobalMem = figures.total_memory;
  p.sharedMemPerBlock = bytes(figures.shared_per_block, 48 << 10);
  p.regsPerBlock = figure(figures.registers_per_block, 65536);
  p.warpSize = figure(figures.warp_size, 32);
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = figure(figures.threads_per_block, 1024);
  p.maxThreadsDim[0] = p.maxThreadsPerBlock;
  p.maxThreadsDim[1] = p.maxThreadsPerBlock;
  p.maxThreadsDim[2] = std::min(p.maxThreadsPerBlock, 64);
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = 65535;
  p.maxGridSize[2] = 65535;
  p.clockRate = figures.clock_khz;
  p.totalConstMem = 64 << 10;
  p.major = figure(figures.major, 8);
  p.minor = figures.minor;
  p.textureAlignment = kTextureAlignment;
  p.texturePitchAlignment = kTexturePitchAlignment;
  p.surfaceAlignment = kTextureAlignment;
  p.deviceOverlap = 1;
  p.multiProcessorCount = figure(figures.multiprocessors, 1);
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  const bool on_bus =
      (figures.pci_domain | figures.pci_bus | figures.pci_device) != 0;
  p.pciDomainID = on_bus ? figures.pci_domain : kOwnDomain;
  p.pciBusID = on_bus ? figures.pci_bus : number + 1;
  p.pciDeviceID = figures.pci_device;
  p.pcieGeneration = figures.pcie_generation;
  p.pcieLanes = figures.pcie_lanes;
  p.asyncEngineCount = 3;
  p.unifiedAddressing = 1;
  p.memoryClockRate = figures.memory_clock_khz;
  p.memoryBusWidth = figures.memory_bus_bits;
  p.l2CacheSize = figures.l2_bytes;
  p.persistingL2CacheMaxSize = figures.persisting_l2_bytes;
  p.accessPolicyMaxWindowSize = figures.access_window_bytes;
  p.maxThreadsPerMultiProcessor =
      figure(figures.threads_per_multiprocessor, 2048);
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor =
      bytes(figures.shared_per_multiprocessor, 164 << 10);
  p.regsPerMultiprocessor = figure(figures.registers_per_multiprocessor, 65536);
  p.managedMemory = 1;
  p.multiGpuBoardGroupID = p.pciBusID - 1;
  p.hostNativeAtomicSupported = has(ACCEL_CAP_HOST_VISIBLE);
  p.singleToDoublePrecisionPerfRatio = 2;
  p.concurrentManagedAccess = has(ACCEL_CAP_MANAGED);
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = has(ACCEL_CAP_CODE);
  p.sharedMemPerBlockOptin =
      bytes(figures.shared_per_block_optin, p.sharedMemPerBlock);
  p.directManagedMemAccessFromHost = has(ACCEL_CAP_HOST_VISIBLE);
  // CUDA programming guide, technical specifications.
  // CUDA programming guide, technical specifications per compute capability.
  p.maxBlocksPerMultiProcessor =
      (p.major == 7 && p.minor == 5) || (p.major == 8 && p.minor == 6) ? 16
      : p.major == 12 || (p.major == 8 && p.minor == 9)                ? 24
                                                                       : 32;
  p.reservedSharedMemPerBlock = p.major >= 8 ? 1 << 10 : 0;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.memoryPoolSupportedHandleTypes =
      has(ACCEL_CAP_IPC) != 0 ? cudaMemHandleTypePosixFileDescriptor : 0;
  p.ipcEventSupported = has(ACCEL_CAP_IPC);
  return p;
}

bool attribute_value(const Properties& p, int attribute, int* value) {
  const auto set = [&](std::size_t figure) {
    *value = static_cast<int>(figure);
    return true;
  };
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return set(p.maxThreadsPerBlock);
    case cudaDevAttrMaxBlockDimX:
      return set(p.maxThreadsDim[0]);
    case cudaDevAttrMaxBlockDimY:
      return set(p.maxThreadsDim[1]);
    case cudaDevAttrMaxBlockDimZ:
      return set(p.maxThreadsDim[2]);
    case cudaDevAttrMaxGridDimX:
      return set(p.maxGridSize[0]);
    case cudaDevAttrMaxGridDimY:
      return set(p.maxGridSize[1]);
    case cudaDevAttrMaxGridDimZ:
      return set(p.maxGridSize[2]);
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return set(p.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory:
      return set(p.totalConstMem);
    case cudaDevAttrWarpSize:
      return set(p.warpSize);
    case cudaDevAttrMaxPitch:
      return set(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock:
      return set(p.regsPerBlock);
    case cudaDevAttrClockRate:
      return set(p.clockRate);
    case cudaDevAttrTextureAlignment:
      return set(p.textureAlignment);
    case cudaDevAttrGpuOverlap:
      return set(p.deviceOverlap);
    case cudaDevAttrMultiProcessorCount:
      return set(p.multiProcessorCount);
    case cudaDevAttrCanMapHostMemory:
      return set(p.canMapHostMemory);
    case cudaDevAttrSurfaceAlignment:
      return set(p.surfaceAlignment);
    case cudaDevAttrConcurrentKernels:
      return set(p.concurrentKernels);
    case cudaDevAttrPciBusId:
      return set(p.pciBusID);
    case cudaDevAttrPciDeviceId:
      return set(p.pciDeviceID);
    case cudaDevAttrPciDomainId:
      return set(p.pciDomainID);
    case cudaDevAttrMemoryClockRate:
      return set(p.memoryClockRate);
    case cudaDevAttrGlobalMemoryBusWidth:
      return set(p.memoryBusWidth);
    case cudaDevAttrL2CacheSize:
      return set(p.l2CacheSize);
    case cudaDevAttrMaxPersistingL2CacheSize:
      return set(p.persistingL2CacheMaxSize);
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return set(p.accessPolicyMaxWindowSize);
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return set(p.maxThreadsPerMultiProcessor);
    case cudaDevAttrAsyncEngineCount:
      return set(p.asyncEngineCount);
    case cudaDevAttrUnifiedAddressing:
      return set(p.unifiedAddressing);
    case cudaDevAttrTexturePitchAlignment:
      return set(p.texturePitchAlignment);
    case cudaDevAttrComputeCapabilityMajor:
      return set(p.major);
    case cudaDevAttrComputeCapabilityMinor:
      return set(p.minor);
    case cudaDevAttrStreamPrioritiesSupported:
      return set(p.streamPrioritiesSupported);
    case cudaDevAttrGlobalL1CacheSupported:
      return set(p.globalL1CacheSupported);
    case cudaDevAttrLocalL1CacheSupported:
      return set(p.localL1CacheSupported);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return set(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return set(p.regsPerMultiprocessor);
    case cudaDevAttrManagedMemory:
      return set(p.managedMemory);
    case cudaDevAttrMultiGpuBoardGroupID:
      return set(p.multiGpuBoardGroupID);
    case cudaDevAttrHostNativeAtomicSupported:
      return set(p.hostNativeAtomicSupported);
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return set(p.singleToDoublePrecisionPerfRatio);
    case cudaDevAttrConcurrentManagedAccess:
      return set(p.concurrentManagedAccess);
    case cudaDevAttrComputePreemptionSupported:
      return set(p.computePreemptionSupported);
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      return set(p.canUseHostPointerForRegisteredMem);
    case cudaDevAttrCooperativeLaunch:
      return set(p.cooperativeLaunch);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return set(p.sharedMemPerBlockOptin);
    case cudaDevAttrHostRegisterSupported:
      return set(p.hostRegisterSupported);
    case cudaDevAttrDirectManagedMemAccessFromHost:
      return set(p.directManagedMemAccessFromHost);
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return set(p.maxBlocksPerMultiProcessor);
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return set(p.reservedSharedMemPerBlock);
    case cudaDevAttrMemoryPoolsSupported:
      return set(p.memoryPoolsSupported);
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
      return set(p.memoryPoolSupportedHandleTypes);
    case cudaDevAttrIpcEventSupport:
      return set(p.ipcEventSupported);
    case 102: // CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    case 103: // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
    case cudaDevAttrMemSyncDomainCount:
      return set(1);
    case cudaDevAttrNumaConfig:
      return set(0);
    case cudaDevAttrNumaId:
    case cudaDevAttrHostNumaId:
      return set(static_cast<std::size_t>(-1));
    default:
      for (const Limit& limit : kTextureAttributes) {
        if (limit.attribute == attribute) {
          return set(limit.value);
        }
      }
      // Clusters and the other numbers that exist: none.
      return attribute >= 1 && attribute <= kLastAttribute ? set(0) : false;
  }
}

} // namespace accelerator::runtime

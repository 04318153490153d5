#include "cudasim/device/machine/profiles.h"

#include <cstdio>
#include <cstring>

namespace cudasim::device {
namespace {

// Shared memory, L2 and memory bus follow compute capabilities 8.0 and 9.0
// (CUDA programming guide, technical specifications). The number of
// multiprocessors does not: kernels size their grids by it, and a host with a
// few cores gains nothing from a hundred of them.
constexpr Profile kProfiles[] = {
    {"sm_80",
     "cudasim sm_80",
     8,
     0,
     16,
     1'410'000,
     1'215'000,
     5120,
     40 << 20,
     164 << 10,
     163 << 10},
    {"sm_90",
     "cudasim sm_90",
     9,
     0,
     16,
     1'785'000,
     2'619'000,
     5120,
     50 << 20,
     228 << 10,
     227 << 10},
};

// A fixed beginning and the ordinal: the same in every process, as IPC needs.
cudaUUID_t device_uuid(int ordinal) {
  cudaUUID_t uuid{};
  const char beginning[] = "cudasim-device-";
  static_assert(sizeof(beginning) == 16);
  std::memcpy(uuid.bytes, beginning, 15);
  uuid.bytes[15] = static_cast<char>(ordinal);
  return uuid;
}

} // namespace

const Profile* find_profile(const std::string& name) {
  for (const Profile& profile : kProfiles) {
    if (name == profile.name) {
      return &profile;
    }
  }
  return nullptr;
}

std::string profile_names() {
  std::string names;
  for (const Profile& profile : kProfiles) {
    names += names.empty() ? "" : " or ";
    names += profile.name;
  }
  return names;
}

std::string device_uuid_text(int ordinal) {
  const cudaUUID_t uuid = device_uuid(ordinal);
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    char digits[3];
    std::snprintf(
        digits,
        sizeof(digits),
        "%02x",
        static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
  }
  return text;
}

cudaDeviceProp make_properties(
    const Profile& profile,
    int ordinal,
    std::uint64_t memory) {
  cudaDeviceProp p{}; // what is not set is not there: textures, surfaces
  std::snprintf(p.name, sizeof(p.name), "%s", profile.device_name);
  p.uuid = device_uuid(ordinal);
  p.totalGlobalMem = memory;
  p.sharedMemPerBlock = 48 << 10;
  p.regsPerBlock = 65536;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = 1024;
  p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = 65535;
  p.maxGridSize[2] = 65535;
  p.clockRate = profile.clock_khz;
  p.totalConstMem = 64 << 10;
  p.major = profile.major;
  p.minor = profile.minor;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
  p.deviceOverlap = 1;
  p.multiProcessorCount = profile.multiprocessors;
  p.canMapHostMemory = 1;
  p.computeMode = cudaComputeModeDefault;
  p.concurrentKernels = 1;
  p.pciBusID = ordinal + 1;
  p.asyncEngineCount = 3;
  p.unifiedAddressing = 1;
  p.memoryClockRate = profile.memory_clock_khz;
  p.memoryBusWidth = profile.memory_bus_bits;
  p.l2CacheSize = profile.l2_bytes;
  p.maxThreadsPerMultiProcessor = 2048;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = profile.shared_per_multiprocessor;
  p.regsPerMultiprocessor = 65536;
  p.managedMemory = 1;
  p.multiGpuBoardGroupID = ordinal;
  p.hostNativeAtomicSupported = 1;
  p.singleToDoublePrecisionPerfRatio = 2;
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = profile.shared_per_block_optin;
  p.directManagedMemAccessFromHost = 1;
  p.maxBlocksPerMultiProcessor = 32;
  p.reservedSharedMemPerBlock = 1 << 10;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.ipcEventSupported = 1;
  return p;
}

bool attribute_value(const cudaDeviceProp& p, int attribute, int* value) {
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
    case cudaDevAttrKernelExecTimeout:
      return set(p.kernelExecTimeoutEnabled);
    case cudaDevAttrIntegrated:
      return set(p.integrated);
    case cudaDevAttrCanMapHostMemory:
      return set(p.canMapHostMemory);
    case cudaDevAttrComputeMode:
      return set(p.computeMode);
    case cudaDevAttrSurfaceAlignment:
      return set(p.surfaceAlignment);
    case cudaDevAttrConcurrentKernels:
      return set(p.concurrentKernels);
    case cudaDevAttrEccEnabled:
      return set(p.ECCEnabled);
    case cudaDevAttrPciBusId:
      return set(p.pciBusID);
    case cudaDevAttrPciDeviceId:
      return set(p.pciDeviceID);
    case cudaDevAttrPciDomainId:
      return set(p.pciDomainID);
    case cudaDevAttrTccDriver:
      return set(p.tccDriver);
    case cudaDevAttrMemoryClockRate:
      return set(p.memoryClockRate);
    case cudaDevAttrGlobalMemoryBusWidth:
      return set(p.memoryBusWidth);
    case cudaDevAttrL2CacheSize:
      return set(p.l2CacheSize);
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
      // Textures, surfaces, clusters and the other numbers that exist: none.
      return attribute >= 1 && attribute <= 134 ? set(0) : false;
  }
}

} // namespace cudasim::device

#include "runtime/api/cudart/device_properties.h"

#include <algorithm>
#include <iterator>

namespace accelerator::cudart {

cudaDeviceProp device_properties(const runtime::Properties& p) {
  cudaDeviceProp result{};
  std::copy(std::begin(p.name), std::end(p.name), result.name);
  result.uuid = p.uuid;
  result.totalGlobalMem = p.totalGlobalMem;
  result.sharedMemPerBlock = p.sharedMemPerBlock;
  result.regsPerBlock = p.regsPerBlock;
  result.warpSize = p.warpSize;
  result.memPitch = p.memPitch;
  result.maxThreadsPerBlock = p.maxThreadsPerBlock;
  std::copy(
      std::begin(p.maxThreadsDim),
      std::end(p.maxThreadsDim),
      result.maxThreadsDim);
  std::copy(
      std::begin(p.maxGridSize), std::end(p.maxGridSize), result.maxGridSize);
  result.totalConstMem = p.totalConstMem;
  result.major = p.major;
  result.minor = p.minor;
  result.textureAlignment = p.textureAlignment;
  result.texturePitchAlignment = p.texturePitchAlignment;
  result.multiProcessorCount = p.multiProcessorCount;
  result.canMapHostMemory = p.canMapHostMemory;
  result.surfaceAlignment = p.surfaceAlignment;
  result.concurrentKernels = p.concurrentKernels;
  result.pciBusID = p.pciBusID;
  result.pciDeviceID = p.pciDeviceID;
  result.pciDomainID = p.pciDomainID;
  result.asyncEngineCount = p.asyncEngineCount;
  result.unifiedAddressing = p.unifiedAddressing;
  result.memoryBusWidth = p.memoryBusWidth;
  result.l2CacheSize = p.l2CacheSize;
  result.persistingL2CacheMaxSize = p.persistingL2CacheMaxSize;
  result.maxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  result.streamPrioritiesSupported = p.streamPrioritiesSupported;
  result.globalL1CacheSupported = p.globalL1CacheSupported;
  result.localL1CacheSupported = p.localL1CacheSupported;
  result.sharedMemPerMultiprocessor = p.sharedMemPerMultiprocessor;
  result.regsPerMultiprocessor = p.regsPerMultiprocessor;
  result.managedMemory = p.managedMemory;
  result.multiGpuBoardGroupID = p.multiGpuBoardGroupID;
  result.hostNativeAtomicSupported = p.hostNativeAtomicSupported;
  result.concurrentManagedAccess = p.concurrentManagedAccess;
  result.computePreemptionSupported = p.computePreemptionSupported;
  result.canUseHostPointerForRegisteredMem =
      p.canUseHostPointerForRegisteredMem;
  result.cooperativeLaunch = p.cooperativeLaunch;
  result.sharedMemPerBlockOptin = p.sharedMemPerBlockOptin;
  result.directManagedMemAccessFromHost = p.directManagedMemAccessFromHost;
  result.maxBlocksPerMultiProcessor = p.maxBlocksPerMultiProcessor;
  result.accessPolicyMaxWindowSize = p.accessPolicyMaxWindowSize;
  result.reservedSharedMemPerBlock = p.reservedSharedMemPerBlock;
  result.hostRegisterSupported = p.hostRegisterSupported;
  result.memoryPoolsSupported = p.memoryPoolsSupported;
  result.memoryPoolSupportedHandleTypes = p.memoryPoolSupportedHandleTypes;
  result.ipcEventSupported = p.ipcEventSupported;
#if CUDART_VERSION < 13000 // which asks for them as attributes alone
  result.clockRate = p.clockRate;
  result.deviceOverlap = p.deviceOverlap;
  result.memoryClockRate = p.memoryClockRate;
  result.singleToDoublePrecisionPerfRatio = p.singleToDoublePrecisionPerfRatio;
  result.computeMode = cudaComputeModeDefault;
#endif
  return result;
}

} // namespace accelerator::cudart

// The figures of a device that programs ask for.
#pragma once

#include <driver_types.h>

#include <cstddef>
#include <string>

#include "device/abi/device_api.h"

namespace accelerator::runtime {

/// What is known of a device: the members of cudaDeviceProp that say something
/// here, under its names. CUDA's own structure differs between major versions,
/// of which this library serves several, so it is made beside the functions of
/// each (runtime/api/cudart/device_properties.h).
struct Properties {
  char name[256];
  cudaUUID_t uuid;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate; // kHz
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int canMapHostMemory;
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate; // kHz
  int memoryBusWidth; // bits
  int pcieGeneration; // of the link to the host
  int pcieLanes;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int memoryPoolsSupported;
  unsigned memoryPoolSupportedHandleTypes;
  int ipcEventSupported;
};

/// The properties of a device. Where a device has no such figure they say what
/// lets programs run.
/// @param number of the device on the machine, which is its place on a bus of
/// their own for devices that are on none.
Properties make_properties(const accel_properties& figures, int number);

/// One figure of a device; false when this attribute is not known.
/// @param attribute a cudaDeviceAttr or CUdevice_attribute (same numbers).
bool attribute_value(const Properties& properties, int attribute, int* value);

/// "GPU-" and the uuid of a device.
std::string uuid_text(const unsigned char (&uuid)[16]);

} // namespace accelerator::runtime

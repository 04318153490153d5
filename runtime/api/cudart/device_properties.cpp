#include "runtime/api/cudart/device_properties.h"

#include <algorithm>
#include <iterator>

#include "runtime/core/arrays/texture_limits.h"

namespace accelerator::cudart {
namespace {

using runtime::ArrayLimits;

// The figures of one kind of array, of which it has as many as there are
// places.
template <std::size_t kCount>
void set_sizes(int (&places)[kCount], const ArrayLimits& limits) {
  // Arrays of one dimension with layers have no height.
  const std::size_t last =
      kCount == 2 && limits.height == 0 ? limits.depth : limits.height;
  const std::size_t sizes[] = {limits.width, last, limits.depth};
  for (std::size_t i = 0; i < kCount; ++i) {
    places[i] = static_cast<int>(sizes[i]);
  }
}

void set_texture_sizes(cudaDeviceProp& p) {
  const runtime::UseLimits& texture = runtime::kTextureLimits;
  p.maxTexture1D = static_cast<int>(texture.line.width);
  p.maxTexture1DMipmap = static_cast<int>(runtime::kMipmappedLine.width);
  set_sizes(p.maxTexture2D, texture.plane);
  set_sizes(p.maxTexture2DMipmap, runtime::kMipmappedPlane);
  set_sizes(p.maxTexture2DLinear, runtime::kPitchedTexture);
  p.maxTexture2DLinear[2] = static_cast<int>(runtime::kPitchedTexturePitch);
  set_sizes(p.maxTexture2DGather, runtime::kGatherPlane);
  set_sizes(p.maxTexture3D, texture.box);
  set_sizes(p.maxTexture3DAlt, runtime::kAlternateBox);
  p.maxTextureCubemap = static_cast<int>(texture.cubemap.width);
  set_sizes(p.maxTexture1DLayered, texture.layered_line);
  set_sizes(p.maxTexture2DLayered, texture.layered_plane);
  p.maxTextureCubemapLayered[0] =
      static_cast<int>(texture.layered_cubemap.width);
  p.maxTextureCubemapLayered[1] =
      static_cast<int>(texture.layered_cubemap.depth);
  const runtime::UseLimits& surface = runtime::kSurfaceLimits;
  p.maxSurface1D = static_cast<int>(surface.line.width);
  set_sizes(p.maxSurface2D, surface.plane);
  set_sizes(p.maxSurface3D, surface.box);
  set_sizes(p.maxSurface1DLayered, surface.layered_line);
  set_sizes(p.maxSurface2DLayered, surface.layered_plane);
  p.maxSurfaceCubemap = static_cast<int>(surface.cubemap.width);
  p.maxSurfaceCubemapLayered[0] =
      static_cast<int>(surface.layered_cubemap.width);
  p.maxSurfaceCubemapLayered[1] =
      static_cast<int>(surface.layered_cubemap.depth);
}

} // namespace

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
  set_texture_sizes(result);
#if CUDART_VERSION < 13000 // which asks for them as attributes alone
  result.clockRate = p.clockRate;
  result.maxTexture1DLinear = static_cast<int>(runtime::kLinearTexture);
  result.deviceOverlap = p.deviceOverlap;
  result.memoryClockRate = p.memoryClockRate;
  result.singleToDoublePrecisionPerfRatio = p.singleToDoublePrecisionPerfRatio;
  result.computeMode = cudaComputeModeDefault;
#endif
  return result;
}

} // namespace accelerator::cudart

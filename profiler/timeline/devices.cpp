#include "profiler/timeline/devices.h"

#include <cuda_occupancy.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <sstream>
#include <vector>

namespace torch_cuda::profiler {
namespace {

const std::vector<cudaDeviceProp>& devices() {
  static const auto* all = [] {
    auto* found = new std::vector<cudaDeviceProp>();
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
      cudaGetLastError(); // nobody else is to see it
      return found;
    }
    for (int i = 0; i < count; ++i) {
      cudaDeviceProp properties{};
      if (cudaGetDeviceProperties(&properties, i) == cudaSuccess) {
        found->push_back(properties);
      }
    }
    return found;
  }();
  return *all;
}

// The part of a multiprocessor's threads that a kernel keeps busy, in percent.
int occupancy(
    const CUpti_ActivityKernel9& kernel,
    const cudaDeviceProp& device,
    float blocks_per_multiprocessor,
    int threads) {
  cudaOccFuncAttributes attributes{};
  attributes.maxThreadsPerBlock = INT_MAX;
  attributes.numRegs = kernel.registersPerThread;
  attributes.sharedSizeBytes =
      static_cast<std::size_t>(kernel.staticSharedMemory);
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_DEFAULT;
  const cudaOccDeviceProp properties(device);
  const cudaOccDeviceState state{};
  cudaOccResult result{};
  if (cudaOccMaxActiveBlocksPerMultiprocessor(
          &result,
          &properties,
          &attributes,
          &state,
          threads,
          static_cast<std::size_t>(kernel.dynamicSharedMemory)) !=
      CUDA_OCC_SUCCESS) {
    return -1;
  }
  const float blocks = std::min(
      blocks_per_multiprocessor,
      static_cast<float>(result.activeBlocksPerMultiprocessor));
  return static_cast<int>(std::lround(
      100 * blocks * static_cast<float>(threads) /
      static_cast<float>(device.maxThreadsPerMultiProcessor)));
}

} // namespace

std::string device_properties_json() {
  std::ostringstream out;
  for (std::size_t i = 0; i < devices().size(); ++i) {
    const cudaDeviceProp& p = devices()[i];
    out << (i == 0 ? "" : ",") << "\n    {\"id\": " << i << ", \"name\": \""
        << p.name << "\", \"totalGlobalMem\": " << p.totalGlobalMem
        << ", \"computeMajor\": " << p.major
        << ", \"computeMinor\": " << p.minor
        << ", \"maxThreadsPerBlock\": " << p.maxThreadsPerBlock
        << ", \"maxThreadsPerMultiprocessor\": "
        << p.maxThreadsPerMultiProcessor
        << ", \"regsPerBlock\": " << p.regsPerBlock
        << ", \"warpSize\": " << p.warpSize
        << ", \"sharedMemPerBlock\": " << p.sharedMemPerBlock
        << ", \"numSms\": " << p.multiProcessorCount
        << ", \"regsPerMultiprocessor\": " << p.regsPerMultiprocessor
        << ", \"sharedMemPerBlockOptin\": " << p.sharedMemPerBlockOptin
        << ", \"sharedMemPerMultiprocessor\": " << p.sharedMemPerMultiprocessor
        << "}";
  }
  return out.str();
}

std::optional<Load> load_of(const CUpti_ActivityKernel9& kernel) {
  if (kernel.deviceId >= devices().size()) {
    return std::nullopt;
  }
  const cudaDeviceProp& device = devices()[kernel.deviceId];
  const auto blocks = static_cast<float>(kernel.gridX) *
      static_cast<float>(kernel.gridY) * static_cast<float>(kernel.gridZ);
  const int threads = kernel.blockX * kernel.blockY * kernel.blockZ;
  Load load;
  load.blocks = blocks / static_cast<float>(device.multiProcessorCount);
  load.warps = load.blocks * static_cast<float>(threads) /
      static_cast<float>(device.warpSize);
  load.occupancy_percent = occupancy(kernel, device, load.blocks, threads);
  return load;
}

} // namespace torch_cuda::profiler

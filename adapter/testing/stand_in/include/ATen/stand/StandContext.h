// What an extension asks about the current device and stream.
#pragma once

#include "ATen/stand/Exceptions.h"
#include "c10/stand/StandCachingAllocator.h"
#include "c10/stand/StandFunctions.h"
#include "c10/stand/StandMacros.h"
#include "c10/stand/StandStream.h"
#include "stand_runtime.h"

namespace at::stand {

using c10::stand::getCurrentStandStream;
using c10::stand::getDefaultStandStream;
using c10::stand::getStreamFromPool;
using c10::stand::setCurrentStandStream;
using c10::stand::StandStream;

inline int64_t getNumGPUs() {
  return c10::stand::device_count();
}
inline bool is_available() {
  return c10::stand::device_count() > 0;
}
/// Of the current device; kept to the end of the process.
C10_API standDeviceProp* getCurrentDeviceProperties();
C10_API standDeviceProp* getDeviceProperties(c10::DeviceIndex device);
inline int warp_size() {
  return getCurrentDeviceProperties()->warpSize;
}

} // namespace at::stand

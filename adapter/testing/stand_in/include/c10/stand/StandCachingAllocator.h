// Memory of devices: freed blocks are kept for the stream that they were for.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include <cstdint>

#include "c10/stand/StandStream.h"

namespace c10::stand::StandCachingAllocator {

/// A figure, its highest value, and what was added and taken off.
struct Stat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t freed = 0;

  void add(int64_t amount) {
    current += amount;
    peak = current > peak ? current : peak;
    (amount > 0 ? allocated : freed) += amount > 0 ? amount : -amount;
  }
};

struct DeviceStats {
  Stat allocation; // tensors' blocks
  Stat segment; // the device's allocations
  Stat allocated_bytes;
  Stat reserved_bytes;
  Stat requested_bytes;
  int64_t num_alloc_retries = 0;
  int64_t num_ooms = 0;
};

C10_API Allocator* get();
C10_API void* raw_alloc(size_t bytes);
C10_API void* raw_alloc_with_stream(size_t bytes, standStream_t stream);
C10_API void raw_delete(void* address);
/// Gives back to the devices what nobody uses.
C10_API void emptyCache();
/// What uses the memory on another stream is waited for before it is used
/// again.
C10_API void recordStream(const DataPtr& data, StandStream stream);
C10_API DeviceStats getDeviceStats(DeviceIndex device);
C10_API void resetAccumulatedStats(DeviceIndex device);
C10_API void resetPeakStats(DeviceIndex device);
/// The part of a device's memory that this process may have.
C10_API void setMemoryFraction(double fraction, DeviceIndex device);

} // namespace c10::stand::StandCachingAllocator

#include "cudasim/device/machine/device.h"

#include "cudasim/device/machine/profiles.h"
#include "cudasim/device/machine/settings.h"
#include "cudasim/device/memory/memory_pool.h"

namespace cudasim::device {

Device::Device(
    int ordinal,
    int physical,
    const Settings& settings,
    AddressMap& addresses,
    HandleTable<Stream>& stream_handles)
    : ordinal_(ordinal),
      physical_(physical),
      properties_(make_properties(
          *find_profile(settings.profile),
          physical,
          settings.memory)),
      addresses_(addresses),
      memory_(addresses, ordinal, settings.memory, settings.check),
      streams_(*this, stream_handles, settings.synchronous) {
  set_default_limits();
  default_pool = std::make_shared<MemoryPool>(*this, memory_, streams_);
  current_pool = default_pool;
}

Device::~Device() = default;

engine::DeviceView Device::view() const {
  engine::DeviceView view;
  view.ordinal = ordinal_;
  view.compute_capability = capability();
  view.multiprocessors =
      static_cast<std::uint32_t>(properties_.multiProcessorCount);
  view.max_shared_bytes = properties_.sharedMemPerBlockOptin;
  view.memory = &addresses_.view(ordinal_);
  return view;
}

void Device::reset() {
  synchronize();
  streams_.forget_fault();
  active_ = false;
  forget_pools_of(*this);
  addresses_.forget_peers(ordinal_);
  for (const std::uint64_t begin : addresses_.list(ordinal_, Space::kDevice)) {
    memory_.release(begin);
  }
  heap().reset();
  set_default_limits();
}

engine::DeviceHeap& Device::heap() const {
  return addresses_.view(ordinal_).heap();
}

void Device::set_default_limits() {
  for (auto& limit : limits_) {
    limit = 0;
  }
  limits_[cudaLimitStackSize] = 1024;
  limits_[cudaLimitPrintfFifoSize] = 1 << 20;
  limits_[cudaLimitDevRuntimeSyncDepth] = 2;
  limits_[cudaLimitDevRuntimePendingLaunchCount] = 2048;
  limits_[cudaLimitMaxL2FetchGranularity] = 64;
}

std::size_t Device::limit(cudaLimit which) const {
  require(which >= 0 && which < limits_.size(), cudaErrorUnsupportedLimit);
  return which == cudaLimitMallocHeapSize ? heap().limit()
                                          : limits_[which].load();
}

void Device::set_limit(cudaLimit which, std::size_t value) {
  require(which >= 0 && which < limits_.size(), cudaErrorUnsupportedLimit);
  if (which != cudaLimitMallocHeapSize) {
    limits_[which] = value;
    return;
  }
  require(value <= memory_.capacity(), cudaErrorMemoryAllocation);
  require(heap().set_limit(value)); // not after a kernel has used it
}

} // namespace cudasim::device

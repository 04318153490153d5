#include "cudasim/device/device.h"

#include <algorithm>

#include "cudasim/device/machine.h"
#include "cudasim/device/memory_pool.h"
#include "cudasim/device/profiles.h"
#include "cudasim/device/settings.h"

namespace cudasim::device {

Device::Device(
    int ordinal,
    int physical,
    const Settings& settings,
    AddressMap& addresses)
    : ordinal_(ordinal),
      physical_(physical),
      properties_(make_properties(
          *find_profile(settings.profile),
          physical,
          settings.memory)),
      addresses_(addresses),
      memory_(addresses, ordinal, settings.memory, settings.check) {
  for (auto& limit : limits_) {
    limit = 0;
  }
  limits_[cudaLimitStackSize] = 1024;
  limits_[cudaLimitPrintfFifoSize] = 1 << 20;
  limits_[cudaLimitMallocHeapSize] = 8 << 20;
  limits_[cudaLimitDevRuntimeSyncDepth] = 2;
  limits_[cudaLimitDevRuntimePendingLaunchCount] = 2048;
  limits_[cudaLimitMaxL2FetchGranularity] = 64;
  streams_.push_back(
      std::make_shared<Stream>(*this, Stream::Kind::kLegacy, 0, 0));
  default_pool = std::make_shared<MemoryPool>(*this);
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
  view.heap_bytes = limits_[cudaLimitMallocHeapSize];
  view.memory = &addresses_.view(ordinal_);
  return view;
}

Stream& Device::default_stream() {
  return *streams_.front(); // there from the beginning and never replaced
}

std::shared_ptr<Stream> Device::create_stream(unsigned flags, int priority) {
  const auto kind = (flags & cudaStreamNonBlocking) != 0
      ? Stream::Kind::kNonBlocking
      : Stream::Kind::kBlocking;
  auto stream = std::make_shared<Stream>(*this, kind, flags, priority);
  {
    const std::lock_guard lock(streams_mutex_);
    streams_.push_back(stream);
  }
  machine().streams().add(stream);
  return stream;
}

void Device::remove_stream(const Stream& stream) {
  const std::lock_guard lock(streams_mutex_);
  const auto found = std::find_if(
      streams_.begin(), streams_.end(), [&](const auto& candidate) {
        return candidate.get() == &stream;
      });
  if (found == streams_.end() || found == streams_.begin()) {
    return;
  }
  (*found)->close();
  // One with work left stays in view of the default stream until it is idle;
  // those that have become idle since go now.
  streams_.erase(
      std::remove_if(
          streams_.begin() + 1,
          streams_.end(),
          [&](const auto& candidate) {
            return candidate->idle() &&
                (candidate.get() == &stream ||
                 !machine().streams().contains(candidate.get()));
          }),
      streams_.end());
}

std::vector<std::shared_ptr<Stream>> Device::streams() const {
  const std::lock_guard lock(streams_mutex_);
  return streams_;
}

void Device::synchronize() {
  for (const auto& stream : streams()) {
    stream->synchronize();
  }
}

void Device::set_fault(Status status) {
  Status well = cudaSuccess;
  fault_.compare_exchange_strong(well, status);
}

void Device::reset() {
  synchronize();
  fault_ = cudaSuccess;
  active_ = false;
  forget_pools_of(*this);
  for (int other = 0; other < machine().device_count(); ++other) {
    addresses_.set_peer(ordinal_, other, false);
  }
  for (const std::uint64_t begin : addresses_.list(ordinal_, Space::kDevice)) {
    memory_.release(begin);
  }
}

std::size_t Device::limit(cudaLimit which) const {
  require(which >= 0 && which < limits_.size(), cudaErrorUnsupportedLimit);
  return limits_[which];
}

void Device::set_limit(cudaLimit which, std::size_t value) {
  require(which >= 0 && which < limits_.size(), cudaErrorUnsupportedLimit);
  limits_[which] = value;
}

} // namespace cudasim::device

#include "runtime/core/machine/device.h"

#include "runtime/core/arrays/array.h"
#include "runtime/core/arrays/texture.h"
#include "runtime/core/backends/api_status.h"
#include "runtime/core/machine/contexts.h"
#include "runtime/core/machine/properties.h"
#include "runtime/core/machine/usage.h"
#include "runtime/core/memory/memory_pool.h"

namespace accelerator::runtime {

namespace {

accel_properties read_figures(const Slot& slot) {
  accel_properties figures{};
  figures.struct_size = sizeof(figures);
  check(*slot.api, slot.api->device_properties(slot.index, &figures));
  return figures;
}

} // namespace

Device::Device(
    int ordinal,
    int physical,
    const Slot& slot,
    AddressMap& addresses,
    HandleTable<Stream>& stream_handles)
    : ordinal_(ordinal),
      physical_(physical),
      slot_(slot),
      figures_(read_figures(slot)),
      properties_(make_properties(figures_, physical)),
      addresses_(addresses),
      memory_(addresses, ordinal, slot),
      streams_(*this, slot, stream_handles, can(ACCEL_CAP_CALLS_IN_CALLBACKS)) {
  set_default_limits();
  default_pool = std::make_shared<MemoryPool>(*this, memory_, streams_);
  current_pool = default_pool;
}

Device::~Device() = default;

void Device::set_active(bool active) {
  active_ = active;
  show_usage(*this);
}

void Device::reset() {
  synchronize();
  streams_.forget_fault();
  set_active(false);
  forget_pools_of(*this);
  addresses_.forget_peers(ordinal_);
  forget_arrays_of(ordinal_);
  for (const std::uint64_t handle : texture_table().take_all(ordinal_)) {
    api().texture_destroy(slot_.index, handle);
  }
  for (const Space space : {Space::kDevice, Space::kArray}) {
    for (const std::uint64_t begin : addresses_.list(ordinal_, space)) {
      addresses_.erase(begin);
    }
  }
  check(api(), api().device_reset(slot_.index));
  contexts().forget_all(ordinal_);
  set_default_limits();
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
  if (which == cudaLimitMallocHeapSize && can(ACCEL_CAP_CODE)) {
    std::uint64_t bytes = 0;
    check(api(), api().heap_limit(slot_.index, &bytes));
    return bytes;
  }
  return limits_[which];
}

void Device::set_limit(cudaLimit which, std::size_t value) {
  require(which >= 0 && which < limits_.size(), cudaErrorUnsupportedLimit);
  if (which == cudaLimitMallocHeapSize && can(ACCEL_CAP_CODE)) {
    check(api(), api().set_heap_limit(slot_.index, value));
  } else {
    limits_[which] = value;
  }
}

} // namespace accelerator::runtime

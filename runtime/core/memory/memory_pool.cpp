#include "runtime/core/memory/memory_pool.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "runtime/core/memory/advice_map.h"
#include "runtime/core/memory/memory.h"
#include "runtime/core/streams/stream_set.h"

namespace accelerator::runtime {
namespace {

// Which pool memory came from. It keeps a destroyed pool while some of its
// memory is in use.
struct Origins {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::shared_ptr<MemoryPool>> pools;
};

Origins& origins() {
  static auto* all = new Origins; // outlives static destructors
  return *all;
}

} // namespace

std::shared_ptr<MemoryPool> pool_of(const void* memory) {
  Origins& all = origins();
  const std::lock_guard lock(all.mutex);
  const auto found = all.pools.find(reinterpret_cast<std::uint64_t>(memory));
  return found == all.pools.end() ? nullptr : found->second;
}

void forget_pools_of(const Device& device) {
  Origins& all = origins();
  const std::lock_guard lock(all.mutex);
  for (auto at = all.pools.begin(); at != all.pools.end();) {
    // Managed memory stays.
    if (&at->second->device() == &device && !at->second->managed()) {
      at->second->used_ = 0;
      at = all.pools.erase(at);
    } else {
      ++at;
    }
  }
}

// From the device's memory, where the pool may have so much.
std::uint64_t MemoryPool::take(std::size_t bytes) {
  std::uint64_t used = used_;
  do {
    require(
        most_ == 0 || (bytes <= most_ && used <= most_ - bytes),
        cudaErrorMemoryAllocation);
  } while (!used_.compare_exchange_weak(used, used + bytes));
  try {
    if (!managed_.has_value()) {
      return memory_.allocate(bytes);
    }
    const std::uint64_t begin = address_of(allocate_host(
        memory_.addresses(),
        bytes,
        Space::kManaged,
        memory_.device(),
        memory_.slot(),
        cudaMemAttachGlobal));
    advice_map().change(begin, begin + bytes, [&](Advice& said) {
      said.preferred = *managed_;
    });
    return begin;
  } catch (const Failure&) {
    used_ -= bytes;
    throw;
  }
}

void* MemoryPool::allocate(std::size_t bytes) {
  require(sharing_ != Sharing::kImported);
  std::uint64_t begin = 0;
  try {
    begin = take(bytes);
  } catch (const Failure&) {
    streams_.synchronize();
    begin = take(bytes);
  }
  share(begin, readers_);
  {
    const std::lock_guard lock(origins().mutex);
    origins().pools[begin] = shared_from_this();
  }
  const std::uint64_t used = used_;
  std::uint64_t high = used_high_;
  while (high < used && !used_high_.compare_exchange_weak(high, used)) {
  }
  return reinterpret_cast<void*>(begin);
}

void MemoryPool::release(void* memory) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  const auto piece = memory_.addresses().find(begin);
  require(piece.has_value());
  std::shared_ptr<MemoryPool> self; // may hold the last reference to this
  {
    const std::lock_guard lock(origins().mutex);
    const auto found = origins().pools.find(begin);
    require(found != origins().pools.end() && found->second.get() == this);
    self = std::move(found->second);
    origins().pools.erase(found);
  }
  if (managed_.has_value()) {
    advice_map().forget(piece->begin, piece->end);
    release_host(memory_.addresses(), memory, Space::kManaged);
  } else {
    require(memory_.release(begin));
  }
  used_ -= piece->size();
}

bool MemoryPool::get_property(int attribute, void* value) const {
  switch (attribute) {
    case 9: // cudaMemPoolAttrAllocationType
      *static_cast<int*>(value) =
          managed() ? kManagedAllocations : cudaMemAllocationTypePinned;
      return true;
    case 10: // cudaMemPoolAttrExportHandleTypes
      *static_cast<int*>(value) = sharing_ == Sharing::kExportable
          ? cudaMemHandleTypePosixFileDescriptor
          : cudaMemHandleTypeNone;
      return true;
    case 11: // cudaMemPoolAttrLocationId
      *static_cast<int*>(value) = managed() ? managed_->id : memory_.device();
      return true;
    case 12: // cudaMemPoolAttrLocationType
      *static_cast<int*>(value) =
          managed() ? managed_->type : cudaMemLocationTypeDevice;
      return true;
    case 13: // cudaMemPoolAttrMaxPoolSize
      *static_cast<std::uint64_t*>(value) = most_;
      return true;
    case 14: // cudaMemPoolAttrHwDecompressEnabled
      *static_cast<int*>(value) = 0;
      return true;
    default:
      return false;
  }
}

void MemoryPool::get(cudaMemPoolAttr attribute, void* value) const {
  if (get_property(attribute, value)) {
    return;
  }
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      *static_cast<int*>(value) = reuse_follow_event_;
      return;
    case cudaMemPoolReuseAllowOpportunistic:
      *static_cast<int*>(value) = reuse_opportunistic_;
      return;
    case cudaMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = reuse_internal_;
      return;
    case cudaMemPoolAttrReleaseThreshold:
      *static_cast<std::uint64_t*>(value) = release_threshold_;
      return;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      *static_cast<std::uint64_t*>(value) = used_;
      return;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      *static_cast<std::uint64_t*>(value) = used_high_;
      return;
  }
  throw Failure(cudaErrorInvalidValue);
}

void MemoryPool::set(cudaMemPoolAttr attribute, const void* value) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      reuse_follow_event_ = *static_cast<const int*>(value);
      return;
    case cudaMemPoolReuseAllowOpportunistic:
      reuse_opportunistic_ = *static_cast<const int*>(value);
      return;
    case cudaMemPoolReuseAllowInternalDependencies:
      reuse_internal_ = *static_cast<const int*>(value);
      return;
    case cudaMemPoolAttrReleaseThreshold:
      release_threshold_ = *static_cast<const std::uint64_t*>(value);
      return;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      // Only zero is allowed: it starts the measurement again.
      require(*static_cast<const std::uint64_t*>(value) == 0);
      used_high_ = used_.load();
      return;
    default:
      throw Failure(cudaErrorInvalidValue);
  }
}

void MemoryPool::set_access(int device, cudaMemAccessFlags flags) {
  if (managed()) {
    require(flags == cudaMemAccessFlagsProtReadWrite);
    return;
  }
  const std::uint64_t bit = std::uint64_t{1} << device;
  require(device != memory_.device() || flags != cudaMemAccessFlagsProtNone);
  if (flags == cudaMemAccessFlagsProtNone) {
    readers_ &= ~bit;
  } else {
    readers_ |= bit;
  }
  const std::lock_guard lock(origins().mutex);
  for (const auto& [begin, pool] : origins().pools) {
    if (pool.get() == this) {
      share(begin, readers_);
    }
  }
}

// Tells the library what has changed.
void MemoryPool::share(std::uint64_t begin, std::uint64_t readers) const {
  AddressMap& addresses = memory_.addresses();
  const std::uint64_t before = addresses.find(begin)->readers;
  for (int device = 0; (readers | before) >> device != 0; ++device) {
    const bool allowed = (readers >> device & 1) != 0;
    if (allowed != ((before >> device & 1) != 0)) {
      memory_.share(begin, device, allowed);
    }
  }
  addresses.set_readers(begin, readers);
}

cudaMemAccessFlags MemoryPool::access(int device) const {
  return managed() || device == memory_.device() ||
          (readers_ >> device & 1) != 0
      ? cudaMemAccessFlagsProtReadWrite
      : cudaMemAccessFlagsProtNone;
}

} // namespace accelerator::runtime
